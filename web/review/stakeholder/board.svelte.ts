// Which items are listed, and which of them is open.

import { KINDS, kindOf, neighbour, searcher, type Item, type Kind } from './items';
import type { ReviewSession } from './session.svelte';

export class Board {
  words = $state('');
  kind = $state<Kind>('ALL');
  unanswered = $state(false);
  chosen = $state<string | null>(null);
  readonly #session: ReviewSession;

  constructor(session: ReviewSession) {
    this.#session = session;
  }

  readonly #search = $derived.by(() => searcher(this.#session.items));
  readonly kinds = $derived.by(() => {
    const there = new Set(this.#session.items.map(kindOf));
    return KINDS.filter((kind) => kind === 'ALL' || there.has(kind));
  });
  readonly shown: Item[] = $derived.by(() => {
    const { words, kind, unanswered } = this;
    return this.#search({ words, kind, unanswered }, ({ id }) => this.#session.feedback.has(id));
  });
  /** The chosen item, also where the search does not find it any more; else the first of the list. */
  readonly current: Item | null = $derived.by(() =>
    this.#session.items.find(({ id }) => id === this.chosen) ?? this.shown[0] ?? null);
  /** The place of the present item in the list, from 1 on; 0 where it is out of it. */
  readonly place = $derived(this.shown.findIndex(({ id }) => id === this.current?.id) + 1);

  /** Returns whether there was somewhere to go. */
  step(by: 1 | -1): boolean {
    const next = neighbour(this.#session.items, this.shown, this.current?.id ?? null, by);
    if (next) this.chosen = next.id;
    return next !== null;
  }
}
