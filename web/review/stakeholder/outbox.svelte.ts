// Sends answers, one after the other, and says truly how far each one is.
//
//   sending --> sent
//     | `---> waiting (the server asks for patience) --> sending
//     `-----> failed --> sending (tried again), or taken back as a draft

import { ApiError } from '$shared/api/client';
import type { Drafts, Unsent } from './drafts';
import type { Item } from './items';
import type { StakeholderFeedback, SubmitFeedback, Verdict } from './types';

export type SendState =
  | { name: 'sending' | 'sent' }
  /** `until` is in milliseconds since the epoch. */
  | { name: 'waiting'; until: number }
  | { name: 'failed'; error: ApiError };

/** How long to wait where the server asks for patience and does not say how much. */
const SOME_SECONDS = 5;

export interface Post {
  send: (feedback: SubmitFeedback, key: string) => Promise<StakeholderFeedback>;
  onSent: (feedback: StakeholderFeedback) => void;
  /** The review is over: nothing can be sent any more. */
  onOver: (error: ApiError) => void;
  wait?: (ms: number) => Promise<void>;
}

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
/** crypto.randomUUID() is not there on pages without TLS. */
const newKey = (): string => Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');

export class Outbox {
  /** By the ids of items. */
  states = $state.raw<Readonly<Record<string, SendState>>>({});
  unsent = $state.raw<ReadonlyMap<string, Unsent>>(new Map());
  /** Whether the storage of the browser took the last answer, so that it outlasts a reload. */
  isKept = $state(true);
  readonly #drafts: Drafts;
  readonly #post: Post;
  #queue: string[] = [];
  #isRunning = false;
  #isOver = false;

  constructor(drafts: Drafts, post: Post) {
    this.#drafts = drafts;
    this.#post = post;
  }

  readonly sending = $derived(Object.values(this.states).filter(({ name }) => name === 'sending' || name === 'waiting').length);
  readonly failed = $derived(Object.values(this.states).filter(({ name }) => name === 'failed').length);
  readonly waitingUntil = $derived(Object.values(this.states).reduce((latest, state) => (state.name === 'waiting' ? Math.max(latest, state.until) : latest), 0));

  /** Sends an answer. Returns false, and does nothing, while another one for the same item is not with the server. */
  submit({ id, targetType, targetId, code }: Item, comment: string, verdict: Verdict | null): boolean {
    if (this.unsent.has(id)) return false;
    this.#put(id, { targetType, targetId, code, comment: comment.trim(), verdict, key: newKey() });
    this.#drafts.write(id, { code, comment: '' });
    this.#enqueue(id);
    return true;
  }

  retry(id: string): void {
    if (this.states[id]?.name === 'failed') this.#enqueue(id);
  }

  /** What the server does not have is sent once more: after a reload, and when the connection is back. */
  resume(): void {
    this.unsent = new Map([...this.#drafts.unsent(), ...this.unsent]);
    for (const id of this.unsent.keys()) if (!this.#queue.includes(id)) this.#enqueue(id);
  }

  /** Takes an answer that was refused back, to change it. Returns its comment. */
  takeBack(id: string): string {
    const comment = this.unsent.get(id)?.comment ?? '';
    if (this.states[id]?.name !== 'failed') return '';
    this.#put(id, null);
    const { [id]: _, ...others } = this.states;
    this.states = others;
    return comment;
  }

  #enqueue(id: string): void {
    this.#set(id, { name: 'sending' });
    this.#queue.push(id);
    void this.#run();
  }

  async #run(): Promise<void> {
    if (this.#isRunning) return;
    this.#isRunning = true;
    for (let id = this.#queue[0]; id !== undefined && !this.#isOver; id = this.#queue[0]) await this.#sendOne(id);
    this.#isRunning = false;
  }

  async #sendOne(id: string): Promise<void> {
    const unsent = this.unsent.get(id);
    if (!unsent) return void this.#queue.shift();
    const { key, code: _, ...feedback } = unsent;
    this.#set(id, { name: 'sending' });
    try {
      const sent = await this.#post.send(feedback, key);
      this.#queue.shift();
      this.#put(id, null);
      this.#set(id, { name: 'sent' });
      this.#post.onSent(sent);
    } catch (thrown) {
      if (!(thrown instanceof ApiError)) throw thrown;
      await this.#refused(id, thrown);
    }
  }

  async #refused(id: string, error: ApiError): Promise<void> {
    // The same answer may still be on its way from before.
    const asksForPatience = error.status === 429 || error.code === 'RequestInProgress';
    const patience = error.retryAfter ?? (asksForPatience ? SOME_SECONDS : null);
    if (error.status === 401 || error.status === 410) {
      this.#isOver = true;
      for (const waiting of this.#queue.splice(0)) this.#set(waiting, { name: 'failed', error });
      return this.#post.onOver(error);
    }
    if (patience !== null) {
      this.#set(id, { name: 'waiting', until: Date.now() + patience * 1000 });
      return (this.#post.wait ?? wait)(patience * 1000);
    }
    // Where nothing answers, the others would only wait for the same.
    const failed = error.status === 0 ? this.#queue.splice(0) : [this.#queue.shift() ?? id];
    for (const one of failed) this.#set(one, { name: 'failed', error });
  }

  #set(id: string, state: SendState): void {
    this.states = { ...this.states, [id]: state };
  }

  #put(id: string, unsent: Unsent | null): void {
    const all = new Map(this.unsent);
    if (unsent) all.set(id, unsent);
    else all.delete(id);
    this.unsent = all;
    this.isKept = this.#drafts.writeUnsent(id, unsent);
  }
}
