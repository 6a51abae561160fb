// What an upload talks to in its tests: a server that can be away, slow and unwilling, and a clock that is moved by hand.

import { digestOf } from '../../shared/recording/transport';
import type { Clock } from '../../shared/clock';

const nothing = new ArrayBuffer(0);

/** Lets everything run that waits for nothing but its turn, among the threads that digest and read files as well. */
export const settled = async (): Promise<void> => {
  for (let turn = 0; turn < 20; turn += 1) {
    await Promise.all([digestOf(nothing), digestOf(nothing), digestOf(nothing), digestOf(nothing)]);
    await new Promise((over) => setTimeout(over, 0));
  }
};

export class ManualClock implements Clock {
  #now = 0;
  #next = 0;
  readonly #timers = new Map<number, { at: number; act: () => void }>();

  setTimeout(act: () => void, ms: number): unknown {
    this.#timers.set(++this.#next, { at: this.#now + ms, act });
    return this.#next;
  }
  clearTimeout(timer: unknown): void { this.#timers.delete(timer as number); }
  random(): number { return 1; }

  async advance(ms: number): Promise<void> {
    const until = this.#now + ms;
    await settled();
    for (;;) {
      const due = [...this.#timers].filter(([, { at }]) => at <= until).sort(([, one], [, other]) => one.at - other.at)[0];
      if (!due) break;
      this.#timers.delete(due[0]);
      this.#now = due[1].at;
      due[1].act();
      await settled();
    }
    this.#now = until;
  }
}

interface Refusal { status: number; code: string; retryAfter?: number; times: number }

export class FakeServer {
  readonly chunks = new Map<number, ArrayBuffer>();
  readonly requests: Request[] = [];
  readonly puts: number[] = [];
  readonly held: (() => void)[] = [];
  stopped: { durationSeconds: number; lastChunkIndex?: number } | null = null;
  pauses: { from: string; to: string | null }[] = [];
  isAway = false;
  holds = false;
  losesAnswers = 0;
  refuses: Refusal | null = null;

  readonly fetch = async (request: Request): Promise<Response> => {
    if (this.isAway) throw new TypeError('Failed to fetch');
    this.requests.push(request);
    const index = Number(request.url.match(/chunks\/(\d+)$/)?.[1] ?? -1);
    if (index >= 0) return this.#put(request, index);
    if (request.method === 'POST') this.stopped = (await request.json()) as typeof this.stopped;
    return answer(200, this.#status());
  };

  async #put(request: Request, index: number): Promise<Response> {
    this.puts.push(index);
    const bytes = await request.arrayBuffer();
    if (this.holds) await new Promise<void>((go) => this.held.push(go));
    if (this.refuses && this.refuses.times > 0) {
      this.refuses.times -= 1;
      return refusal(this.refuses);
    }
    const digest = await digestOf(bytes);
    if (request.headers.get('Content-Digest') !== digest) return refusal({ status: 422, code: 'DigestMismatch', times: 0 });
    const known = this.chunks.get(index);
    if (known && (await digestOf(known)) !== digest) return refusal({ status: 409, code: 'Conflict', times: 0 });
    this.chunks.set(index, bytes);
    if (this.losesAnswers-- > 0) throw new TypeError('Failed to fetch');
    return answer(200, { chunkIndex: index });
  }

  #status(): object {
    const highest = Math.max(-1, ...this.chunks.keys());
    const all = Array.from({ length: highest + 1 }, (_, index) => index);
    const missingChunks = all.filter((index) => !this.chunks.has(index));
    return {
      id: 'r', status: 'ACTIVE', startedAt: '2026-01-01T00:00:00Z', pausedIntervals: this.pauses,
      chunkCount: this.chunks.size, missingChunks, nextChunkIndex: missingChunks[0] ?? highest + 1,
    };
  }
}

const answer = (status: number, data: object): Response => Response.json({ isSuccess: true, data }, { status });
const refusal = ({ status, code, retryAfter }: Refusal): Response =>
  Response.json({ isSuccess: false, data: null, errors: [{ code, message: code, field: null, reason: null }] },
    { status, headers: retryAfter === undefined ? {} : { 'Retry-After': String(retryAfter) } });
