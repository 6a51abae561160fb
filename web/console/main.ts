import '../shared/base.css';
import { start } from '../shared/start';
import Console from './Console.svelte';
import english from './words/english';

await start(Console, english, () => import('./words/arabic'));
