import { afterEach, expect, test } from 'vitest';
import { actionOf, areShortcutsOn, switchShortcuts } from '../shared/shortcuts.svelte';

const ACTIONS = { j: 'next', k: 'previous', a: 'approve', c: 'comment', x: 'change', '/': 'find', '?': 'keys' };

const press = (key: string, more: KeyboardEventInit = {}, target: Element = document.body): string | null => {
  let action: string | null = null;
  const listen = (event: Event): void => { action = actionOf(event as KeyboardEvent, ACTIONS); };
  addEventListener('keydown', listen);
  target.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, ...more }));
  removeEventListener('keydown', listen);
  return action;
};

afterEach(() => switchShortcuts(true));

test('each key has its action, and none together with Ctrl, Alt or Meta', () => {
  expect(['j', 'k', 'a', 'c', 'x', '/', '?', 'z', 'Enter'].map((key) => press(key))).toEqual(
    ['next', 'previous', 'approve', 'comment', 'change', 'find', 'keys', null, null]);
  expect([press('a', { ctrlKey: true }), press('a', { metaKey: true }), press('a', { altKey: true }), press('A', { shiftKey: true })]).toEqual([null, null, null, null]);
});

test('on an Arabic keyboard the same places act', () => {
  expect([press('ت', { code: 'KeyJ' }), press('ش', { code: 'KeyA' }), press('ظ', { code: 'Slash' }), press('؟', { code: 'Slash', shiftKey: true })]).toEqual(
    ['next', 'approve', 'find', 'keys']);
});

test('what is written into a field is no command; a box to tick is no field', () => {
  document.body.innerHTML = '<textarea></textarea><input type="search"><input type="checkbox"><button>x</button>';
  expect([...document.body.children].map((element) => press('a', {}, element))).toEqual([null, null, 'approve', 'approve']);
});

test('the switch turns all of them off, and is remembered', () => {
  switchShortcuts(false);
  expect([areShortcutsOn(), press('a'), press('?'), localStorage.getItem('colloquy.shortcuts')]).toEqual([false, null, null, 'off']);
  switchShortcuts(true);
  expect(press('a')).toBe('approve');
});
