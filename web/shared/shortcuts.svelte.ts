// Keys that act without being written into a field. They can be switched off (WCAG 2.1.4): people who speak to their
// computer, or tremble, would set them off unawares. The choice is remembered in this browser.

const STORAGE_KEY = 'colloquy.shortcuts';
let isOn = $state(stored());

function stored(): boolean {
  try {
    return localStorage.getItem(STORAGE_KEY) !== 'off';
  } catch {
    return true;
  }
}

export const areShortcutsOn = (): boolean => isOn;

export function switchShortcuts(to: boolean): void {
  isOn = to;
  try {
    localStorage.setItem(STORAGE_KEY, to ? 'on' : 'off');
  } catch {
    // Storage is off: for this page alone.
  }
}

type Pressed = Pick<KeyboardEvent, 'key' | 'code' | 'shiftKey' | 'ctrlKey' | 'metaKey' | 'altKey' | 'isComposing' | 'target'>;

/** The letter of the key. On a keyboard of another writing, what stands at the same place on a Latin one. */
function letterOf({ key, code, shiftKey }: Pressed): string {
  if (key === '؟') return '?';
  if (key.length !== 1 || key.charCodeAt(0) < 128) return key;
  if (code === 'Slash') return shiftKey ? '?' : '/';
  return /^Key[A-Z]$/.test(code) ? code.slice(3).toLowerCase() : key;
}

const isField = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || target.matches('textarea, select, input:not([type="checkbox"])'));

/** What a key asks for, of the actions of a page by their letters; null where it is written into a field, belongs to the browser, or the switch is off. */
export function actionOf<Action>(event: Pressed, actions: Readonly<Record<string, Action>>): Action | null {
  if (!isOn || event.ctrlKey || event.metaKey || event.altKey || event.isComposing || isField(event.target)) return null;
  return actions[letterOf(event)] ?? null;
}
