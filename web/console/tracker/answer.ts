// What the way back from a tracker's own pages says in the fragment of the address: that of the project's tracker, or the console's own
// where it is not known which project was meant.

import { notify } from '$shared/ui/toasts.svelte';
import { has, t } from '$shared/words/text.svelte';

export interface TrackerAnswer { isConnected: boolean; code: string; message: string }

export function answerOf(hash: string): TrackerAnswer | null {
  const values = new URLSearchParams(hash.replace(/^#/, ''));
  const code = values.get('trackerError') ?? '';
  if (!code && values.get('trackerConnection') !== 'ACTIVE') return null;
  return { isConnected: !code, code, message: values.get('message') ?? '' };
}

/** Tells the answer of the address, which has it no more afterwards. */
export function tellAnswer(): void {
  const answer = answerOf(location.hash);
  if (!answer) return;
  history.replaceState(history.state, '', location.pathname + location.search);
  const key = `error.${answer.code}`;
  if (answer.isConnected) notify(t('tracker.connected'));
  else notify(has(key) ? t(key) : t('error.any', { message: answer.message || answer.code }), 'fault');
}
