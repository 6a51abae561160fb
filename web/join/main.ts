import '../shared/base.css';
import '../shared/loading.css';
import { session } from '../shared/api/client';
import { start } from '../shared/start';
import words from '../shared/words/join.en.json';
import recordings from '../shared/words/recordings.en.json';
import Join from './Join.svelte';

try {
  await start(Join, { ...words, ...recordings }, async () => {
    const [own, common] = await Promise.all([import('../shared/words/join.ar.json'), import('../shared/words/recordings.ar.json')]);
    return { default: { ...own.default, ...common.default } };
  }, session.resume());
} catch (error) {
  document.getElementById('broken')?.classList.add('shown');
  throw error;
}
