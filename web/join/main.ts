import '../shared/base.css';
import '../shared/loading.css';
import { start } from '../shared/start';
import english from '../shared/words/join.en.json';
import Join from './Join.svelte';

try {
  await start(Join, english, () => import('../shared/words/join.ar.json'));
} catch (error) {
  document.getElementById('broken')?.classList.add('shown');
  throw error;
}
