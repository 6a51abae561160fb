import '../shared/base.css';
import { start } from '../shared/start';
import english from '../shared/words/console.en.json';
import Review from './Review.svelte';

await start(Review, english, () => import('../shared/words/console.ar.json'));
