// Which items are listed, and which of them is open. The code of the open one is in the address, to be kept or passed on.

import { KINDS, kindOf, neighbour, searcher, type Item, type Kind } from './items';
import type { ReviewSession } from './session.svelte';

export class Board {
  words = $state('');
  kind = $state<Kind>('ALL');
  unanswered = $state(false);
  #chosen = $state<string | null>(null);
  /** The code in the address. */
  #asked = $state(codeInAddress());
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
  readonly current: Item | null = $derived.by(() => {
    const { items } = this.#session;
    const asked = this.#asked && items.find(({ code }) => code === this.#asked);
    return items.find(({ id }) => id === this.#chosen) ?? (asked || null) ?? this.shown[0] ?? null;
  });
  /** The place of the present item in the list, from 1 on; 0 where it is out of it. */
  readonly place = $derived(this.shown.findIndex(({ id }) => id === this.current?.id) + 1);

  choose(id: string): void {
    this.#chosen = id;
    const code = this.#session.items.find((item) => item.id === id)?.code ?? '';
    const address = new URL(location.href);
    address.hash = code.replaceAll(' · ', '/');
    history.replaceState(history.state, '', address);
  }

  /** Turns to the item whose code was put into the address. */
  readonly follow = (): void => {
    this.#chosen = null;
    this.#asked = codeInAddress();
  };

  /** Returns whether there was somewhere to go. */
  step(by: 1 | -1): boolean {
    const next = neighbour(this.#session.items, this.shown, this.current?.id ?? null, by);
    if (next) this.choose(next.id);
    return next !== null;
  }
}

/** That of a criterion follows its story's: `US-001/AC-002`. */
function codeInAddress(): string {
  try {
    return decodeURIComponent(location.hash.slice(1)).toUpperCase().replace('/', ' · ');
  } catch {
    return '';
  }
}
