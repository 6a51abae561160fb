// Reads that failed in passing are made again: a few times, each after twice as long as the last, or when the server says.

import { ApiError } from './error';

const FIRST_WAIT_MS = 1_000;
const MOST_TRIES = 6;
/** A server that asks for more patience than this is asked again by the reader alone. */
const LONGEST_WAIT_MS = 60_000;

let failing = $state(0);
/** Whether something that failed is being read again. */
export const isReadingAgain = (): boolean => failing > 0;

/**
 * What `read` gives, which is called again where it fails in passing. After `signal` it is not called any more. Throws what it
 * threw last.
 */
export async function readAgain<Data>(read: () => Promise<Data>, signal?: AbortSignal): Promise<Data> {
  let hasFailed = false;
  try {
    for (let tries = 1; ; tries += 1) {
      try {
        return await read();
      } catch (thrown) {
        const waitMs = waitAfter(thrown, tries);
        if (waitMs === null || signal?.aborted) throw thrown;
        if (!hasFailed) failing += 1;
        hasFailed = true;
        await passing(waitMs, signal);
        if (signal?.aborted) throw thrown;
      }
    }
  } finally {
    if (hasFailed) failing -= 1;
  }
}

/** How long to wait before the next try; null if there is to be none. */
function waitAfter(thrown: unknown, tries: number): number | null {
  if (!(thrown instanceof ApiError && thrown.passes) || tries === MOST_TRIES) return null;
  const waitMs = Math.max(FIRST_WAIT_MS * 2 ** (tries - 1), (thrown.retryAfter ?? 0) * 1_000);
  return waitMs > LONGEST_WAIT_MS ? null : waitMs;
}

const passing = (ms: number, signal?: AbortSignal): Promise<void> => new Promise((resolve) => {
  const timer = setTimeout(resolve, ms);
  signal?.addEventListener('abort', () => {
    clearTimeout(timer);
    resolve();
  }, { once: true });
});
