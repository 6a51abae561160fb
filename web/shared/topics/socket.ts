// What happens, as it happens: one socket for all topics of a page, which goes on where it stood after it broke.

import { BASE } from '../base';
import { ApiError } from '../api/error';

export interface TopicEvent { event: string; offset: number; at: string; data: unknown }
export interface Listener {
  /** Everything anew. */
  snapshot(data: unknown): void;
  /** The next event, none left out. */
  event(topicEvent: TopicEvent): void;
  /** The server no longer tells this reader. */
  refused?(code: string): void;
}
interface Place { epoch: string; offset: number }
interface Follower { listener: Listener; hasSnapshot: boolean }
/** One subscription, whose events all its followers get. */
interface Followed { followers: Set<Follower>; since: Place | null }
type Frame =
  | ({ type: 'subscribed'; topic: string; recovered: boolean; snapshot: unknown } & Place)
  | ({ type: 'event'; topic: string } & TopicEvent)
  | { type: 'error'; topic?: string; code: string }
  | { type: 'pong' };

const SHORTEST_MS = 1_000;
const LONGEST_MS = 20_000;
/** A connection may break without a word: it is asked now and then. */
const ASKED_EVERY_MS = 20_000;
const ANSWER_WITHIN_MS = 10_000;
const PASSING = new Set(['ServiceUnavailable', 'TooManyRequests', 'InternalServerError']);

export interface Options {
  ticket: () => Promise<string>;
  connection?: (up: boolean) => void;
  open?: (url: string) => WebSocket;
}

export class TopicSocket {
  readonly #topics = new Map<string, Followed>();
  readonly #options: Options;
  #socket: WebSocket | null = null;
  #opening = false;
  #tries = 0;
  #retry: ReturnType<typeof setTimeout> | undefined;
  #asking: ReturnType<typeof setTimeout> | undefined;

  constructor(options: Options) {
    this.#options = options;
    addEventListener('online', this.#hurry);
  }

  /** Gives what ends it. Several listeners may follow a topic. */
  follow(topic: string, listener: Listener): () => void {
    const follower = { listener, hasSnapshot: false };
    const known = this.#topics.get(topic);
    const followed: Followed = known ?? { followers: new Set(), since: null };
    followed.followers.add(follower);
    this.#topics.set(topic, followed);
    if (this.#socket?.readyState !== WebSocket.OPEN) this.#open();
    // A known topic without a place waits for its snapshot already.
    else if (!known || known.since) this.#subscribe(topic, followed);
    return () => {
      followed.followers.delete(follower);
      if (followed.followers.size > 0 || this.#topics.get(topic) !== followed) return;
      this.#topics.delete(topic);
      this.#send({ type: 'unsubscribe', topic });
      if (this.#topics.size === 0) this.#drop();
    };
  }

  close(): void {
    removeEventListener('online', this.#hurry);
    this.#topics.clear();
    this.#drop();
  }

  async #open(): Promise<void> {
    if (this.#socket || this.#opening || this.#topics.size === 0) return;
    clearTimeout(this.#retry);
    this.#opening = true;
    let ticket: string;
    try {
      ticket = await this.#options.ticket();
    } catch (problem) {
      if (problem instanceof ApiError && !problem.passes) return this.#refuse(problem.code);
      return this.#again(problem instanceof ApiError ? problem.retryAfter : undefined);
    } finally {
      this.#opening = false;
    }
    if (this.#topics.size === 0) return;
    const { protocol, host } = location;
    const url = `${protocol === 'https:' ? 'wss:' : 'ws:'}//${host}${BASE}api/ws?ticket=${encodeURIComponent(ticket)}`;
    const socket = this.#options.open?.(url) ?? new WebSocket(url);
    this.#socket = socket;
    socket.onopen = () => this.#topics.forEach((followed, topic) => this.#subscribe(topic, followed));
    socket.onmessage = (message) => this.#socket === socket && this.#read(JSON.parse(String(message.data)) as Frame);
    socket.onclose = () => this.#socket === socket && this.#again();
    this.#expect();
  }

  #subscribe(topic: string, { followers, since }: Followed): void {
    const canResume = [...followers].every(({ hasSnapshot }) => hasSnapshot);
    this.#send({ type: 'subscribe', topic, ...(since && canResume && { since }) });
  }

  #send(frame: object): void {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(frame));
  }

  #read(frame: Frame): void {
    this.#quiet();
    if (frame.type === 'pong') return;
    if (frame.type === 'error') return this.#fault(frame);
    const followed = this.#topics.get(frame.topic);
    if (!followed) return;
    if (frame.type === 'subscribed') {
      this.#tries = 0;
      const before = followed.since;
      followed.since = { epoch: frame.epoch, offset: frame.offset };
      this.#options.connection?.(true);
      if (frame.snapshot === null) return;
      // Asked for by one that came later, it says nothing new to those that stand there.
      const isKnown = before?.epoch === frame.epoch && before.offset === frame.offset;
      for (const follower of followed.followers) {
        if (isKnown && follower.hasSnapshot) continue;
        follower.hasSnapshot = true;
        follower.listener.snapshot(frame.snapshot);
      }
    } else if (followed.since && frame.offset > followed.since.offset) {
      if (frame.offset > followed.since.offset + 1) {
        // Never a silent hole: everything anew.
        followed.since = null;
        return this.#subscribe(frame.topic, followed);
      }
      followed.since.offset = frame.offset;
      // One that is not for this reader counts, and says nothing.
      if (frame.event === 'withheld') return;
      for (const { listener, hasSnapshot } of followed.followers) if (hasSnapshot) listener.event(frame);
    }
  }

  #fault({ topic, code }: { topic?: string; code: string }): void {
    if (PASSING.has(code)) return this.#again();
    if (topic === undefined) return this.#refuse(code);
    const followed = this.#topics.get(topic);
    this.#topics.delete(topic);
    followed?.followers.forEach(({ listener }) => listener.refused?.(code));
  }

  #refuse(code: string): void {
    const followed = [...this.#topics.values()];
    this.#topics.clear();
    this.#drop();
    for (const { followers } of followed) followers.forEach(({ listener }) => listener.refused?.(code));
  }

  /** Something came: the next question can wait. */
  #quiet(): void {
    clearTimeout(this.#asking);
    this.#asking = setTimeout(() => {
      this.#send({ type: 'ping' });
      this.#expect();
    }, ASKED_EVERY_MS);
  }

  /** Something has to come soon, else the connection counts as broken. */
  #expect(): void {
    clearTimeout(this.#asking);
    this.#asking = setTimeout(() => this.#again(), ANSWER_WITHIN_MS);
  }

  #again(seconds = 0): void {
    this.#drop();
    if (this.#topics.size === 0) return;
    this.#options.connection?.(false);
    const wait = Math.min(LONGEST_MS, SHORTEST_MS * 2 ** this.#tries++);
    // Spread out, so that not everybody comes back in one moment.
    this.#retry = setTimeout(() => this.#open(), Math.max(wait * (0.5 + Math.random() / 2), seconds * 1000));
  }

  #drop(): void {
    clearTimeout(this.#retry);
    clearTimeout(this.#asking);
    const socket = this.#socket;
    this.#socket = null;
    socket?.close();
  }

  readonly #hurry = (): void => {
    this.#tries = 0;
    void this.#open();
  };
}
