// A list of the interface that is loaded page by page, and again when something in it has changed.

import { attempt } from '$shared/account.svelte';
import { unwrap } from '$shared/api/client';
import { coalesce } from './project/coalesce';

interface Page<Item> { items: Item[]; nextCursor: string | null; totalCount: number }
interface Outcome<Data> { data?: { data: Data }; error?: unknown; response: Response }
type Ask<Item> = (cursor: string | undefined, limit: number) => Promise<Outcome<Page<Item>>>;

const PAGE = 100;

export class LiveList<Item extends { id: string }> {
  items = $state.raw<Item[]>([]);
  totalCount = $state(0);
  isLoaded = $state(false);
  /** Whether there are more than those in `items`. */
  isMore = $state(false);

  readonly #ask: Ask<Item>;
  readonly #isWhole: boolean;
  readonly #reload = coalesce(() => this.load());
  #cursor: string | null = null;
  /** How many were loaded, so that a reload shows no fewer. */
  #depth = PAGE;

  /** `whole`: all pages are loaded, and not the first alone. */
  constructor(ask: Ask<Item>, { whole = false } = {}) {
    this.#ask = ask;
    this.#isWhole = whole;
  }

  /** Loads soon; many requests in a short time are one. */
  readonly request = (): void => this.#reload.request();
  readonly cancel = (): void => this.#reload.cancel();

  readonly load = (): Promise<void> => attempt(async () => {
    const found: Item[] = [];
    let cursor: string | undefined;
    do {
      const page: Page<Item> = await unwrap(this.#ask(cursor, PAGE));
      found.push(...page.items);
      cursor = page.nextCursor ?? undefined;
      this.totalCount = page.totalCount;
      // A long list that comes for the first time is shown as it grows.
      if (!this.isLoaded) this.items = [...found];
    } while (cursor && (this.#isWhole || found.length < this.#depth));
    this.items = found;
    this.#take(cursor);
    this.isLoaded = true;
  });

  readonly more = (): Promise<void> => attempt(async () => {
    if (!this.#cursor) return;
    const page = await unwrap(this.#ask(this.#cursor, PAGE));
    const known = new Set(this.items.map(({ id }) => id));
    this.items = [...this.items, ...page.items.filter(({ id }) => !known.has(id))];
    this.#depth = this.items.length;
    this.#take(page.nextCursor ?? undefined);
  });

  /** Puts the newer state of an item in its place, or a new one first. */
  put(item: Item): void {
    const index = this.items.findIndex(({ id }) => id === item.id);
    if (index < 0) {
      this.items = [item, ...this.items];
      this.totalCount += 1;
    } else this.items = this.items.with(index, item);
  }

  #take(cursor: string | undefined): void {
    this.#cursor = cursor ?? null;
    this.isMore = cursor !== undefined;
  }
}
