// The pairs of a project's requirements that wait, those that are settled, and how pairs are settled: one or many, with the way back.

import { attempt, reportFailure } from '$shared/account.svelte';
import { api, unwrap, type Schemas } from '$shared/api/client';
import type { TopicEvent } from '$shared/topics/socket';
import { dismissKey, notify } from '$shared/ui/toasts.svelte';
import { has, t } from '$shared/words/text.svelte';
import { SvelteSet } from 'svelte/reactivity';
import { LiveList } from '../live-list.svelte';
import type { Project } from '../project/project.svelte';
import { codesOf, ordered, otherOf, type Filter, type Pair } from './pairs';

/** What is made of pairs; where one of both is rejected, also which one stays. */
export type Settling =
  | { settlement: 'NOT_ONE' | 'KEPT_BOTH' | 'EDITED' }
  | { settlement: 'MERGED' | 'REJECTED_ONE'; keptIdOf: (pair: Pair) => string; comment?: string };

/** The most pairs of one call. */
const MOST_AT_ONCE = 100;
/** How many pairs a message names. */
const MOST_NAMED = 5;
const TOAST = 'conflicts.settled';

export class ConflictsState {
  /** Whether the weaker ones are listed, too. */
  withWeak = $state(false);
  /** The pair that is looked at, and where it stands: when it is settled, the next one takes its place. */
  chosen = $state.raw<{ id: string; index: number } | null>(null);
  readonly marked = new SvelteSet<string>();
  /** How many of several are done. */
  progress = $state.raw<{ done: number; total: number } | null>(null);

  readonly #open = new LiveList<Pair>(this.#listOf(() => ({ status: 'OPEN', ...(!this.withWeak && { strength: 'HIGH' }) })), { whole: true });
  readonly #settled = new LiveList<Pair>(this.#listOf(() => ({ status: 'SETTLED' })));
  /** Those whose settlement is on its way. */
  #sending = $state.raw<ReadonlySet<string>>(new Set());
  /** The pairs that were settled last. */
  #last: Promise<readonly Pair[]> | null = null;

  /** In order once all are here: while they come for the first time, none is put before those that are read. */
  readonly open: readonly Pair[] = $derived.by(() => {
    const open = this.#open.items.filter(({ id, status }) => status === 'OPEN' && !this.#sending.has(id));
    return this.#open.isLoaded ? ordered(open) : open;
  });
  readonly settled: readonly Pair[] = $derived(this.#settled.items.filter(({ status }) => status === 'SETTLED'));

  constructor(readonly project: Project) {}

  get isSending(): boolean {
    return this.#sending.size > 0;
  }

  #listOf(filter: () => { status: Schemas['PairStatus']; strength?: Schemas['PairStrength'] }) {
    return (cursor: string | undefined, limit: number) => api.GET('/api/projects/{projectId}/item-pairs', {
      params: { path: this.project.path, query: { ...filter(), limit, ...(cursor && { cursor }) } },
    });
  }

  /** The list in which the pairs of a filter are. */
  listOf(filter: Filter): LiveList<Pair> {
    return filter === 'settled' ? this.#settled : this.#open;
  }

  of(filter: Filter): readonly Pair[] {
    if (filter === 'settled') return this.settled;
    return filter === 'open' ? this.open : this.open.filter(({ kind }) => kind === filter);
  }

  /** How many there are; null until that is known. */
  countOf(filter: Filter): number | null {
    if (!this.listOf(filter).isLoaded) return null;
    return filter === 'settled' && this.#settled.isMore ? this.#settled.totalCount : this.of(filter).length;
  }

  /** Loads the pairs and follows them; returns what ends that. */
  start(): () => void {
    void this.#open.load();
    void this.#settled.load();
    const end = this.project.on(['pairs.', 'item.changed'], (event) => { if (this.#concerns(event)) this.#reload(); });
    return () => {
      end();
      this.#open.cancel();
      this.#settled.cancel();
    };
  }

  /** Items that are in no pair change, too. */
  #concerns(event: TopicEvent | null): boolean {
    if (event?.event !== 'item.changed') return true;
    const { id } = event.data as { id: string };
    return [this.#open, this.#settled].some((list) => list.items.some(({ items }) => items.some((item) => item.id === id)));
  }

  #reload(): void {
    this.#open.request();
    this.#settled.request();
  }

  /** Settles pairs, of many each for itself; those that stay as they were are named. Throws ApiError if nothing was done. */
  async settle(pairs: readonly Pair[], settling: Settling): Promise<void> {
    const before = this.#last;
    const sent = this.#send(pairs, settling);
    // Undone before it was answered, it is undone once it was; where nothing was done, what was done before can be undone still.
    this.#last = sent.catch(() => []).then((done) => (done.length > 0 ? done : (before ?? [])));
    const done = await sent;
    const [only] = done;
    if (!only) return;
    const words = done.length > 1 ? t('conflicts.did.many', { count: done.length }) : wordsOf(only, settling);
    notify(words, 'news', { key: TOAST, action: { words: t('results.undo'), act: () => void this.undo() } });
  }

  /** Takes the last settlement back. */
  readonly undo = async (): Promise<void> => {
    const last = this.#last;
    this.#last = null;
    dismissKey(TOAST);
    const pairs = await (last ?? []);
    if (pairs.length === 0) return notify(t('results.undo.nothing'));
    await this.reopen(pairs);
  };

  /** Pairs that were settled wait again. */
  readonly reopen = (pairs: readonly Pair[]): Promise<void> => attempt(async () => {
    const done = await this.#send(pairs, null);
    const [only] = done;
    if (!only) return;
    this.chosen = { id: only.id, index: 0 };
    notify(done.length > 1 ? t('conflicts.reopened.many', { count: done.length }) : t('conflicts.reopened', codesOf(only)), 'news', { key: TOAST });
  });

  /** Sends portion after portion. Gives the pairs for which it was done, as they are now. */
  async #send(pairs: readonly Pair[], settling: Settling | null): Promise<readonly Pair[]> {
    const done: Pair[] = [];
    const refused = new Map<string, Pair[]>();
    this.#sending = new Set([...this.#sending, ...pairs.map(({ id }) => id)]);
    try {
      for (let from = 0; from < pairs.length; from += MOST_AT_ONCE) {
        if (pairs.length > 1) this.progress = { done: from, total: pairs.length };
        const part = pairs.slice(from, from + MOST_AT_ONCE);
        const answer = await unwrap(api.POST('/api/projects/{projectId}/item-pairs/settlements', { params: { path: this.project.path }, body: bodyOf(part, settling) }));
        for (const [index, pair] of part.entries()) {
          const { ok = false, errorCode = null } = answer.pairs[index] ?? {};
          if (ok) done.push({ ...pair, status: settling ? 'SETTLED' : 'OPEN', settlement: settling?.settlement ?? null });
          else refused.set(errorCode ?? '', [...(refused.get(errorCode ?? '') ?? []), pair]);
        }
      }
    } catch (thrown) {
      // What was done before stays done, and can be taken back.
      if (done.length === 0) throw thrown;
      reportFailure(thrown);
    } finally {
      for (const pair of done) {
        this.#open.put(pair);
        this.#settled.put(pair);
      }
      const ended = new Set(pairs.map(({ id }) => id));
      this.#sending = new Set([...this.#sending].filter((id) => !ended.has(id)));
      for (const { id } of done) this.marked.delete(id);
      if (pairs.length > 1) this.progress = null;
      this.#reload();
    }
    for (const [code, stayed] of refused) notify(refusal(code, stayed), 'fault');
    return done;
  }
}

function bodyOf(pairs: readonly Pair[], settling: Settling | null): Schemas['SettleItemPairs'] {
  if (settling === null || !('keptIdOf' in settling)) return { pairs: pairs.map(({ id }) => ({ id })), settlement: settling?.settlement ?? null };
  const { settlement, keptIdOf, comment } = settling;
  return { pairs: pairs.map((pair) => ({ id: pair.id, keptId: keptIdOf(pair) })), settlement, ...(comment && { comment }) };
}

/** What was made of a pair. */
function wordsOf(pair: Pair, settling: Settling): string {
  if (settling.settlement === 'NOT_ONE') return t(`conflicts.did.NOT_ONE.${pair.kind}`, codesOf(pair));
  if (!('keptIdOf' in settling)) return t(`conflicts.did.${settling.settlement}`, codesOf(pair));
  const gone = otherOf(pair, settling.keptIdOf(pair));
  return t(`conflicts.did.${settling.settlement}`, { kept: otherOf(pair, gone.id).code, gone: gone.code });
}

/** Why pairs stay as they were. */
function refusal(code: string, pairs: readonly Pair[]): string {
  const named = pairs.slice(0, MOST_NAMED).map((pair) => t('conflicts.pair', codesOf(pair)));
  const values = { count: pairs.length, pairs: [...named, ...(pairs.length > MOST_NAMED ? ['…'] : [])].join(' · ') };
  const key = `conflicts.refused.${code}`;
  return has(key) ? t(key, values) : t('conflicts.refused', values);
}
