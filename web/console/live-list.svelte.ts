// A list of the interface that is loaded page by page, and again when something in it has changed.
//
// Loads may overlap: a filter changes while the answer to the former one is on its way. Each has a number, and only the newest
// one is shown; whoever waits for another waits for the newest. A page that fails in passing is read again, and not what is here already.

import { attempt, reportFailure } from '$shared/account.svelte';
import { unwrap } from '$shared/api/client';
import { readAgain } from '$shared/api/retries.svelte';
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
  /** Whether the newest load did not come to its end, and is not made again by itself. */
  hasFailed = $state(false);

  readonly #ask: Ask<Item>;
  readonly #isWhole: boolean;
  readonly #reload = coalesce(() => this.load());
  #cursor: string | null = null;
  /** How many were loaded, so that a reload shows no fewer. */
  #depth = PAGE;
  /** The number of the newest load, and what comes of it. */
  #number = 0;
  #newest: Promise<void> = Promise.resolve();
  /** What was put in since that load began: its answer may be older. */
  readonly #meanwhile = new Map<string, { item: Item; isNew: boolean }>();
  /** Ends what is read again of it. */
  #reading = new AbortController();

  /** `whole`: all pages are loaded, and not the first alone. */
  constructor(ask: Ask<Item>, { whole = false } = {}) {
    this.#ask = ask;
    this.#isWhole = whole;
  }

  /** Loads soon; many requests in a short time are one. */
  readonly request = (): void => this.#reload.request();
  readonly cancel = (): void => {
    this.#reading.abort();
    this.#reload.cancel();
  };

  readonly load = (): Promise<void> => {
    const number = ++this.#number;
    this.#reading.abort();
    this.#reading = new AbortController();
    this.hasFailed = false;
    this.#meanwhile.clear();
    this.#newest = this.#load(number, this.#reading.signal);
    return this.#newest;
  };

  async #load(number: number, signal: AbortSignal): Promise<void> {
    try {
      await this.#read(signal);
    } catch (thrown) {
      // That an answer nobody waits for any more did not come is no fault.
      if (!signal.aborted) {
        this.hasFailed = true;
        reportFailure(thrown);
      }
    }
    if (number !== this.#number) await this.#newest;
  }

  async #read(signal: AbortSignal): Promise<void> {
    const found: Item[] = [];
    let page: Page<Item>;
    let cursor: string | undefined;
    do {
      page = await readAgain(() => unwrap(this.#ask(cursor, PAGE)), signal);
      if (signal.aborted) return;
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
    const [number, cursor] = [this.#number, this.#cursor];
    if (!cursor) return;
    const page = await readAgain(() => unwrap(this.#ask(cursor, PAGE)), this.#reading.signal);
    // The next page of a list that is another one by now.
    if (number !== this.#number) return;
    const known = new Set(this.items.map(({ id }) => id));
    this.items = [...this.items, ...page.items.filter(({ id }) => !known.has(id))];
    this.#depth = this.items.length;
    this.#take(page.nextCursor ?? undefined);
  });

  /** Loads what is left of it. */
  readonly rest = async (): Promise<void> => {
    let before: number;
    do {
      before = this.items.length;
      await this.more();
    } while (this.isMore && this.items.length > before);
  };

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
