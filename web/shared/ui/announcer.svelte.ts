// Messages for those who read by ear, spoken when they have heard what is being said.

import { t } from '$shared/words/text.svelte';

/** How long what happens at once is gathered before it is spoken. */
const GATHERING_MS = 700;
/** More than this at once is given as a number. */
const SPOKEN_SINGLY = 3;

let waiting: string[] = [];
let spoken = $state.raw<string[]>([]);

export const announcements = (): string[] => spoken;

export function announce(sentence: string): void {
  waiting.push(sentence);
  if (waiting.length > 1) return;
  setTimeout(() => {
    spoken = waiting.length > SPOKEN_SINGLY ? [t('announce.many', { count: waiting.length })] : waiting;
    waiting = [];
  }, GATHERING_MS);
}
