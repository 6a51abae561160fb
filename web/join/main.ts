import '../shared/base.css';
import { start } from '../shared/start';
import english from '../shared/words/join.en.json';
import Join from './Join.svelte';

await start(Join, english, () => import('../shared/words/join.ar.json'));
