// A list of the interface that is loaded page by page, and again when something in it has changed.
//
// Loads may overlap: a filter changes while the answer to the former one is on its way. Each has a number, and only the newest
// one is shown; whoever waits for another waits for the newest.

import { attempt, reportFailure } from '$shared/account.svelte';
import { ApiError, unwrap } from '$shared/api/client';
import { coalesce } from './project/coalesce';

interface Page<Item> { items: Item[]; nextCursor: string | null; totalCount: number }
interface Outcome<Data> { data?: { data: Data }; error?: unknown; response: Response }
type Ask<Item> = (cursor: string | undefined, limit: number) => Promise<Outcome<Page<Item>>>;

const PAGE = 100;
/** How long a load that failed waits before it is made again: twice as long each time. */
const FIRST_RETRY_MS = 1_000;
const LAST_RETRY_MS = 30_000;

export class LiveList<Item extends { id: string }> {
  items = $state.raw<Item[]>([]);
  totalCount = $state(0);
  isLoaded = $state(false);
  /** Whether there are more than those in `items`. */
  isMore = $state(false);
  /** Whether the newest load did not come to its end. */
  hasFailed = $state(false);
  /** Whether it is made again by itself. */
  isRetrying = $state(false);

  readonly #ask: Ask<Item>;
  readonly #isWhole: boolean;
  readonly #retries: boolean;
  readonly #reload = coalesce(() => this.load());
  #cursor: string | null = null;
  /** How many were loaded, so that a reload shows no fewer. */
  #depth = PAGE;
  /** The number of the newest load, and what comes of it. */
  #number = 0;
  #newest: Promise<void> = Promise.resolve();
  /** What was put in since that load began: its answer may be older. */
  readonly #meanwhile = new Map<string, { item: Item; isNew: boolean }>();
  #retry: ReturnType<typeof setTimeout> | undefined;
  #retryMs = FIRST_RETRY_MS;
  #isCancelled = false;

  /**
   * `whole`: all pages are loaded, and not the first alone. `retries`: what fails in passing is no message, but is loaded again by
   * itself until `cancel`; the view says so.
   */
  constructor(ask: Ask<Item>, { whole = false, retries = false } = {}) {
    this.#ask = ask;
    this.#isWhole = whole;
    this.#retries = retries;
  }

  /** Loads soon; many requests in a short time are one. */
  readonly request = (): void => this.#reload.request();
  readonly cancel = (): void => {
    this.#isCancelled = true;
    clearTimeout(this.#retry);
    this.#reload.cancel();
  };

  readonly load = (): Promise<void> => {
    const number = ++this.#number;
    this.#isCancelled = false;
    clearTimeout(this.#retry);
    this.#meanwhile.clear();
    this.#newest = this.#load(number);
    return this.#newest;
  };

  async #load(number: number): Promise<void> {
    try {
      await this.#read(() => number === this.#number);
      if (number === this.#number) this.#succeed();
    } catch (thrown) {
      // That an answer nobody waits for any more did not come is no fault.
      if (number === this.#number) this.#fail(thrown);
    }
    if (number !== this.#number) await this.#newest;
  }

  #succeed(): void {
    [this.hasFailed, this.isRetrying, this.#retryMs] = [false, false, FIRST_RETRY_MS];
  }

  #fail(thrown: unknown): void {
    this.hasFailed = true;
    this.isRetrying = this.#retries && !this.#isCancelled && thrown instanceof ApiError && thrown.passes;
    if (!this.isRetrying) return reportFailure(thrown);
    const askedMs = thrown instanceof ApiError && thrown.retryAfter ? thrown.retryAfter * 1_000 : 0;
    this.#retry = setTimeout(() => void this.load(), Math.max(this.#retryMs, askedMs));
    this.#retryMs = Math.min(this.#retryMs * 2, LAST_RETRY_MS);
  }

  async #read(isNewest: () => boolean): Promise<void> {
    const found: Item[] = [];
    let page: Page<Item>;
    let cursor: string | undefined;
    do {
      page = await unwrap(this.#ask(cursor, PAGE));
      if (!isNewest()) return;
      found.push(...page.items);
      cursor = page.nextCursor ?? undefined;
      // A long list that comes for the first time is shown as it grows.
      if (!this.isLoaded) this.#show([...found], page.totalCount);
    } while (cursor && (this.#isWhole || found.length < this.#depth));
    this.#show(found, page.totalCount);
    this.#take(cursor);
    this.isLoaded = true;
  }

  /** Shows what a load has found, with what was put in meanwhile. */
  #show(found: Item[], totalCount: number): void {
    [this.items, this.totalCount] = [found, totalCount];
    for (const { item, isNew } of this.#meanwhile.values()) {
      // One that was in the list and is not found any more has left it.
      if (isNew || found.some(({ id }) => id === item.id)) this.#put(item);
    }
  }

  readonly more = (): Promise<void> => attempt(async () => {
    await this.#newest;
    const number = this.#number;
    if (!this.#cursor) return;
    const page = await unwrap(this.#ask(this.#cursor, PAGE));
    // The next page of a list that is another one by now.
    if (number !== this.#number) return;
    const known = new Set(this.items.map(({ id }) => id));
    this.items = [...this.items, ...page.items.filter(({ id }) => !known.has(id))];
    this.#depth = this.items.length;
    this.#take(page.nextCursor ?? undefined);
  });

  /** Puts the newer state of an item in its place, or a new one first. */
  put(item: Item): void {
    const isNew = this.#meanwhile.get(item.id)?.isNew ?? !this.items.some(({ id }) => id === item.id);
    this.#meanwhile.set(item.id, { item, isNew });
    this.#put(item);
  }

  #put(item: Item): void {
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
