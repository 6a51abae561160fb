import '../shared/base.css';
import { start } from '../shared/start';
import english from '../shared/words/console.en.json';
import Console from './Console.svelte';

await start(Console, english, () => import('../shared/words/console.ar.json'));
