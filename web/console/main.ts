import '../shared/base.css';
import { resumeSession } from '../shared/account.svelte';
import { start } from '../shared/start';
import Console from './Console.svelte';
import { takeInvitation } from './people/invitation';
import english from './words/english';

// Before anything is waited for: the token of a mailed link stays in the address for no moment.
takeInvitation();
await start(Console, english, () => import('./words/arabic'), resumeSession());
