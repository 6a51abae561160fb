// What has happened in a run so far, from its event stream.

import { addressOf, authorizedFetch } from '$shared/api/client';
import type { Run } from './timeline';

/** Calls `seen` with each state of the run, oldest first, up to the state of `run`. What is not kept any more is left out. */
export async function readEvents(run: Run, seen: (state: Run) => void): Promise<void> {
  let lastId = '0';
  // A stream ends with an attempt; the next attempt is in the next stream.
  for (;;) {
    const read = await readStream(run, lastId, seen);
    if (read.isUpToDate || read.lastId === lastId) return;
    ({ lastId } = read);
  }
}

async function readStream(run: Run, after: string, seen: (state: Run) => void): Promise<{ lastId: string; isUpToDate: boolean }> {
  const abort = new AbortController();
  const response = await authorizedFetch(new Request(addressOf(run.eventsUrl), { headers: { 'Last-Event-ID': after }, signal: abort.signal }));
  let lastId = after;
  if (!response.ok || !response.body) return { lastId, isUpToDate: true };
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return { lastId, isUpToDate: false };
      const records = (rest + value).split('\n\n');
      rest = records.pop() ?? '';
      for (const record of records) {
        const state = stateIn(record);
        if (!state) continue;
        lastId = state.id ?? lastId;
        seen(state.run);
        // Of what comes later, the socket tells.
        if (state.run.attempt === run.attempt && Date.parse(state.run.updatedAt) >= Date.parse(run.updatedAt)) return { lastId, isUpToDate: true };
      }
    }
  } finally {
    abort.abort();
  }
}

function stateIn(record: string): { id: string | undefined; run: Run } | null {
  const fields = new Map(record.split('\n').map((line) => {
    const colon = line.indexOf(':');
    return [line.slice(0, colon), line.slice(colon + 1).trim()] as const;
  }));
  const data = fields.get('data');
  return data ? { id: fields.get('id'), run: JSON.parse(data) as Run } : null;
}
