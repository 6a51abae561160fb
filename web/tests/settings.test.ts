import { fireEvent, render, screen } from '@testing-library/svelte';
import { expect, test } from 'vitest';
import Settings from '../shared/ui/Settings.svelte';
import english from '../shared/words/shared.en.json';
import { startLanguage } from '../shared/words/text.svelte';

test('a language that can not be loaded is said, and can be tried again', async () => {
  let isAway = true;
  await startLanguage({}, () => (isAway ? Promise.reject(new TypeError('Failed to fetch')) : Promise.resolve({ default: {} })));
  render(Settings);
  await fireEvent.click(screen.getByRole('button', { name: 'العربية' }));
  const alert = screen.getByRole('alert');
  await expect.poll(() => alert.textContent).toBe(english.otherLanguageUnavailable);
  expect(document.documentElement.lang).toBe('en');
  isAway = false;
  await fireEvent.click(screen.getByRole('button', { name: 'العربية' }));
  await screen.findByRole('button', { name: 'English' });
  expect([alert.textContent, document.documentElement.dir]).toEqual(['', 'rtl']);
});
