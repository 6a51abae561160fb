import { mount, type Component } from 'svelte';
import { startTheme } from './theme.svelte';
import { startLanguage, type Words } from './words/text.svelte';

/**
 * Mounts a page in the reader's language and colours, once `ready` is. `english` and `arabic` are the page's own words.
 */
export async function start(
  page: Component, english: Words, arabic: () => Promise<{ default: Words }>, ready: Promise<void> = Promise.resolve(),
): Promise<void> {
  startTheme();
  await Promise.all([startLanguage(english, arabic), ready]);
  const target = document.getElementById('app');
  if (!target) return;
  target.replaceChildren();
  mount(page, { target });
}
