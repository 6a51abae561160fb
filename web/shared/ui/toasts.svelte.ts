// Short messages about what has just happened.

interface Action { words: string; act: () => void }
export interface Toast { id: number; text: string; kind: 'news' | 'fault'; action: Action | undefined; key: string | undefined }
interface Options {
  /** What can be done about it. */
  action?: Action;
  /** Takes the place of an earlier message with the same key. */
  key?: string;
}

const SHOWN_MS = 6_000;
/** What can still be done about it is offered for longer. */
const SHOWN_WITH_ACTION_MS = 12_000;
let last = 0;
export const toasts = $state<Toast[]>([]);

export function notify(text: string, kind: Toast['kind'] = 'news', { action, key }: Options = {}): void {
  // What fails again and again, such as a poll without a connection, is said once, until it is dismissed.
  if (kind === 'fault' && !action && toasts.some((toast) => toast.kind === 'fault' && !toast.action && toast.text === text)) return;
  const id = ++last;
  if (key !== undefined) dismissKey(key);
  toasts.push({ id, text, kind, action, key });
  // A failure stays until it is dismissed.
  if (kind === 'news') setTimeout(() => dismiss(id), action ? SHOWN_WITH_ACTION_MS : SHOWN_MS);
}

export function dismiss(id: number): void {
  remove((toast) => toast.id === id);
}

export function dismissKey(key: string): void {
  remove((toast) => toast.key === key);
}

/** Takes away the messages about which something can be done: who may do it is gone. */
export function dismissActions(): void {
  for (const { id, action } of [...toasts]) if (action) dismiss(id);
}

function remove(isMeant: (toast: Toast) => boolean): void {
  const index = toasts.findIndex(isMeant);
  if (index >= 0) toasts.splice(index, 1);
}
