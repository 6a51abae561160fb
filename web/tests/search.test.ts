import { fireEvent, render, screen } from '@testing-library/svelte';
import { tick } from 'svelte';
import { afterEach, expect, test, vi } from 'vitest';
import SearchOfOne from './SearchOfOne.svelte';

const field = (): HTMLInputElement => screen.getByRole('searchbox');
const type = (value: string) => fireEvent.input(field(), { target: { value } });
const searched = (): string | null => document.querySelector('output')?.textContent ?? null;

afterEach(() => { vi.useRealTimers(); });

test('a space that is typed stays between two words, and is not searched for before the second', async () => {
  render(SearchOfOne);
  await type('portal ');
  await expect.poll(searched).toBe('portal');
  expect(field().value).toBe('portal ');
  await type(`${field().value}shall`);
  await expect.poll(searched).toBe('portal shall');
});

test('what is searched for otherwise takes the place of what is typed, also while that waits', async () => {
  vi.useFakeTimers();
  render(SearchOfOne);
  await type('portal');
  await fireEvent.click(screen.getByRole('button'));
  vi.runAllTimers();
  await tick();
  expect([field().value, searched()]).toEqual(['all', 'all']);
});
