import '../shared/base.css';
import '../shared/loading.css';
import { BASE } from '../shared/base';
import { start } from '../shared/start';
import english from '../shared/words/items.en.json';
import type { Words } from '../shared/words/text.svelte';
import { isStakeholder, takeLink } from './stakeholder/link';

const arabic = (): Promise<{ default: Words }> => import('../shared/words/items.ar.json');

async function startForStakeholder(): Promise<void> {
  const [{ default: page }, { default: words }] = await Promise.all([
    import('./stakeholder/Stakeholder.svelte'), import('../shared/words/review.en.json'),
  ]);
  await start(page, { ...english, ...words }, async () => {
    const [common, own] = await Promise.all([arabic(), import('../shared/words/review.ar.json')]);
    return { default: { ...common.default, ...own.default } };
  });
}

/** Members review in the console; links of earlier versions lead here. */
function toConsole(): void {
  const address = new URLSearchParams(location.search);
  const segments = ['projects', address.get('project') ?? '', 'results', address.get('requirement') ?? ''].filter(Boolean);
  location.replace(BASE + segments.map(encodeURIComponent).join('/'));
}

// Another link in the same tab.
addEventListener('hashchange', () => { if (takeLink()) location.reload(); });
try {
  // Before anything is waited for: the token of a mailed link stays in the address for no moment.
  await (isStakeholder() ? startForStakeholder() : toConsole());
} catch (error) {
  document.getElementById('broken')?.classList.add('shown');
  throw error;
}
