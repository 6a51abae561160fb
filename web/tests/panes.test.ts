import { fireEvent, render, screen } from '@testing-library/svelte';
import { beforeEach, expect, test } from 'vitest';
import english from '../console/words/english';
import { startLanguage } from '../shared/words/text.svelte';
import ListAndOpen from './ListAndOpen.svelte';

beforeEach(() => startLanguage(english, () => Promise.resolve({ default: {} })));

/** There is no layout here: what is above the open one is shown where the window is narrow, while that is shown. */
const open = (isNarrow: boolean): void => {
  render(ListAndOpen);
  const bar = screen.getByRole('button', { name: 'List' }).parentElement;
  if (!bar) throw new Error('there is no bar');
  Object.defineProperty(bar, 'offsetParent', { get: () => (isNarrow && isOpenShown() ? document.body : null) });
};
const press = (name: string) => fireEvent.click(screen.getByRole('button', { name }));
const focused = (): string | null => document.activeElement?.getAttribute('aria-label') ?? document.activeElement?.textContent ?? null;
const isOpenShown = (): boolean | undefined => document.querySelector('.panes')?.classList.contains('reading');

test('on a narrow screen the open one takes the place of the list, and gives it back, with the focus', async () => {
  open(true);
  await press('Read');
  expect([isOpenShown(), focused()]).toEqual([true, 'Open']);
  await press('Next');
  expect([isOpenShown(), focused()]).toEqual([true, 'Open']);
  expect(screen.getByText('2 of 2')).toBeTruthy();
  await press('List');
  expect([isOpenShown(), focused()]).toEqual([false, 'Read']);
});

test('beside the list, the focus stays with it', async () => {
  open(false);
  screen.getByRole('button', { name: 'Read' }).focus();
  await press('Read');
  expect(focused()).toBe('Read');
  screen.getByLabelText<HTMLInputElement>('Open', { selector: 'input' }).focus();
  await press('Next');
  await expect.poll(focused).toBe('Read');
});
