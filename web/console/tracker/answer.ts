// What the way back from a tracker's own pages says in the fragment of the address.

export interface TrackerAnswer { isConnected: boolean; code: string; message: string }

export function answerOf(hash: string): TrackerAnswer | null {
  const values = new URLSearchParams(hash.replace(/^#/, ''));
  const code = values.get('trackerError') ?? '';
  if (!code && values.get('trackerConnection') !== 'ACTIVE') return null;
  return { isConnected: !code, code, message: values.get('message') ?? '' };
}

/** The answer of the address, which has it no more afterwards. */
export function takeAnswer(): TrackerAnswer | null {
  const answer = answerOf(location.hash);
  if (answer) history.replaceState(history.state, '', location.pathname + location.search);
  return answer;
}
