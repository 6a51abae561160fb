import { afterEach, expect, test, vi } from 'vitest';
import { dismiss, notify, toasts } from '../shared/ui/toasts.svelte';

afterEach(() => {
  toasts.length = 0;
});

const texts = (): string[] => toasts.map(({ text }) => text);

test('the same fault is shown once, and again after it was dismissed', () => {
  notify('No connection', 'fault');
  notify('No connection', 'fault');
  notify('Not found', 'fault');
  expect(texts()).toEqual(['No connection', 'Not found']);
  dismiss(toasts[0]?.id ?? 0);
  notify('No connection', 'fault');
  expect(texts()).toEqual(['Not found', 'No connection']);
});

test('news, and faults with something to do about them, are each shown', () => {
  vi.useFakeTimers();
  const action = { words: 'Look', act: () => undefined };
  notify('Saved');
  notify('Saved');
  notify('Changed', 'fault', { action });
  notify('Changed', 'fault', { action });
  expect(texts()).toEqual(['Saved', 'Saved', 'Changed', 'Changed']);
  vi.useRealTimers();
});
