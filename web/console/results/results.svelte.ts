// The results of a project: its items, loaded page by page and kept up to date, which of them are listed, and which is open.

import { attempt, reportFailure } from '$shared/account.svelte';
import { api, pages, unwrap } from '$shared/api/client';
import { readAgain } from '$shared/api/retries.svelte';
import type { Span } from '$shared/source/quotes';
import { DocumentTexts } from '$shared/source/texts';
import type { TopicEvent } from '$shared/topics/socket';
import { SvelteMap, SvelteSet } from 'svelte/reactivity';
import { coalesce } from '../project/coalesce';
import type { Project } from '../project/project.svelte';
import { workOf, type Drafts } from './drafts.svelte';
import { areSame, listed, NONE, type Filters } from './filters';
import { dayOf, isReviewed, itemOf, KINDS, statusOf, type Item, type Kind, type Requirement, type Reviewed, type UserStory } from './items';

const PAGE = 100;
/** More pages than this are not read again one by one: everything is. */
const MOST_PAGES = 8;
/** While the connection is down everything is read again now and then; a long list less often. */
const LONG = 1_000;
const LONG_LIST_EVERY_MS = 60_000;
/** Pairs change one by one while somebody settles them: the requirements are not read again after each. */
const PAIRS_CALM_MS = 2_000;

/** A row in the place of an item that has not come yet. */
export interface Blank { id: string; kind: null }

const UNKNOWN = Object.fromEntries(KINDS.map((kind) => [kind, null])) as Readonly<Record<Kind, null>>;

/** What is shown of an item before the server has answered. */
export type Expected = Partial<Pick<Requirement, 'workflowStatus' | 'deferredUntil' | 'suspect'>>;

export class Results {
  filters = $state.raw<Filters>(NONE);
  /** The id of the open item. */
  chosen = $state<string | null>(null);
  readonly marked = new SvelteSet<string>();
  isLoaded = $state(false);
  /** Whether the last load did not come to its end. */
  hasFailed = $state(false);
  /** How many of all have come, while they come for the first time. */
  arrived = $state.raw<{ count: number; total: number } | null>(null);
  /** Names of documents and recordings, by their ids. */
  readonly names = new SvelteMap<string, string>();
  readonly texts: DocumentTexts;
  readonly drafts: Drafts;
  /** Comments that are not sent yet, by item. */
  readonly comments: Map<string, string>;
  readonly today = dayOf(new Date());

  #reviewed = $state.raw<readonly Reviewed[]>([]);
  #others = $state.raw<readonly Item[]>([]);
  /** While they come for the first time: how many of a kind have not come yet; null where that is not known. */
  #missing = $state.raw<Readonly<Record<Kind, number | null>>>(UNKNOWN);
  #expected = $state.raw<ReadonlyMap<string, Expected>>(new Map());
  /** The quotes of requirements, by document. */
  #spans = $state.raw<ReadonlyMap<string, Span[]>>(new Map());
  /** With which cursor the page of an item was asked for: it stands there for good. */
  readonly #cursors = new Map<string, string | undefined>();
  readonly #changed = new Map<string, Reviewed['kind']>();
  /** What was read again since. */
  readonly #fresh = new Set<string>();
  /** How many changes of many items are under way: what they change is read again once they are over. */
  #held = 0;
  readonly #reload = coalesce(() => this.load());
  readonly #reloadRequirements = coalesce(() => attempt(() => this.#loadRequirements()), PAIRS_CALM_MS);
  readonly #refresh = coalesce(() => this.#readChanged(), 250);
  #loadedAt = 0;

  constructor(readonly project: Project) {
    this.texts = new DocumentTexts(project.id);
    ({ drafts: this.drafts, comments: this.comments } = workOf(project.id));
  }

  /** All items, as they are expected to be. */
  readonly items: readonly Item[] = $derived.by(() => {
    const expected = this.#expected;
    const reviewed = expected.size === 0 ? this.#reviewed : this.#reviewed.map((item) => {
      const change = expected.get(item.id);
      return change ? (itemOf({ kind: item.kind, of: { ...item.of, ...change } } as Reviewed) as Reviewed) : item;
    });
    return [...reviewed, ...this.#others];
  });
  /** While items come for the first time, they are listed where their places are known: all of a kind, by their numbers. */
  readonly #isPlaced = $derived.by(() => this.isLoaded || areSame(this.filters, { ...NONE, kind: this.filters.kind }));
  readonly shown: readonly Item[] = $derived.by(() => (this.#isPlaced ? listed(this.items, this.filters, this.today) : []));
  /** The rows of the list: the items that are shown, and blank ones in the places of those that have not come yet. */
  readonly rows: readonly (Item | Blank)[] = $derived.by(() => {
    if (this.isLoaded || !this.#isPlaced) return this.shown;
    const rows: (Item | Blank)[] = [];
    for (const kind of this.filters.kind ? [this.filters.kind] : KINDS) {
      const missing = this.#missing[kind];
      // What comes after it would be pushed down.
      if (missing === null) break;
      for (let index = 0; index < missing; index += 1) rows.push({ id: `${kind} ${index}`, kind: null });
      for (const item of this.shown) if (item.kind === kind) rows.push(item);
    }
    return rows;
  });
  readonly #byId = $derived.by(() => new Map(this.items.map((item) => [item.id, item])));
  readonly current: Item | null = $derived.by(() => (this.chosen === null ? null : (this.#byId.get(this.chosen) ?? null)));
  readonly place = $derived.by(() => this.shown.findIndex(({ id }) => id === this.chosen) + 1);
  readonly counts = $derived.by(() => {
    const counts = Object.fromEntries(KINDS.map((kind) => [kind, 0])) as Record<Kind, number>;
    for (const { kind } of this.items) counts[kind] += 1;
    return counts;
  });
  readonly waiting = $derived.by(() => this.shown.filter((item) => this.needsReview(item)).length);
  readonly markedItems: Reviewed[] = $derived.by(() =>
    [...this.marked].flatMap((id) => {
      const item = this.#byId.get(id);
      return item && isReviewed(item) ? [item] : [];
    }));

  /** Loads everything and follows it; returns what ends that. */
  start(): () => void {
    void this.load();
    void this.#loadNames();
    const end = this.project.on(['item.', 'run.', 'document.', 'recording.', 'pairs.'], (event) => this.#hear(event));
    return () => {
      end();
      this.#reload.cancel();
      this.#reloadRequirements.cancel();
      this.#refresh.cancel();
    };
  }

  /** Lists other items. One that is open and not among them any more gives way to the first of them. */
  narrow(filters: Filters): void {
    this.filters = filters;
    if (this.shown.length > 0 && this.place === 0) this.chosen = this.shown[0]?.id ?? null;
  }

  find(id: string): Item | undefined {
    return this.#byId.get(id);
  }

  /** An item by its code, as in addresses, or by its id. */
  named(name: string): Item | undefined {
    return this.#byId.get(name) ?? this.items.find(({ code }) => code === name);
  }

  readonly spansIn = (documentId: string, version: number): readonly Span[] => this.#spans.get(`${documentId}/${version}`) ?? [];
  readonly nameOf = (id: string): string => this.names.get(id) ?? '';

  /** The item that the server has now takes the place of an older one. */
  put(item: Reviewed): void {
    const at = this.#reviewed.findIndex(({ id }) => id === item.id);
    const known = this.#reviewed[at];
    if (known && known.of.version > item.of.version) return;
    this.#reviewed = known ? this.#reviewed.with(at, item) : [item, ...this.#reviewed];
  }

  putRequirement(of: Requirement): void {
    this.put(itemOf({ kind: 'REQUIREMENT', of }));
  }

  putStory(of: UserStory): void {
    this.put(itemOf({ kind: 'USER_STORY', of }));
  }

  /** Shows items as they will be; with null, as the server has them. */
  expect(ids: readonly string[], change: Expected | null): void {
    const expected = new Map(this.#expected);
    for (const id of ids) {
      if (change) expected.set(id, change);
      else expected.delete(id);
    }
    this.#expected = expected;
  }

  needsReview(item: Item): boolean {
    return isReviewed(item) && statusOf(item, this.today) === 'NEEDS_REVIEW';
  }

  /** The id of the item that comes after another in the list, or before it. */
  neighbour(id: string | null, by: 1 | -1): string | null {
    const at = this.shown.findIndex((item) => item.id === id);
    if (at >= 0) return this.shown[at + by]?.id ?? null;
    const gone = id === null ? undefined : this.find(id);
    if (!gone) return this.shown[0]?.id ?? null;
    const order = this.shown.map((item) => item.order);
    const next = order.findIndex((one) => one > gone.order);
    return (by > 0 ? this.shown[next] : this.shown[(next < 0 ? order.length : next) - 1])?.id ?? null;
  }

  /** The id of the item to review after this one: below it, else from the top. */
  nextToReview(id: string): string | null {
    const at = this.shown.findIndex((item) => item.id === id);
    const turned = [...this.shown.slice(at + 1), ...this.shown.slice(0, Math.max(0, at))];
    return turned.find((item) => item.id !== id && this.needsReview(item))?.id ?? null;
  }

  readonly load = async (): Promise<void> => {
    this.#loadedAt = Date.now();
    this.hasFailed = false;
    try {
      await this.#loadAll();
    } catch (thrown) {
      this.hasFailed = true;
      reportFailure(thrown);
    }
  };

  async #loadAll(): Promise<void> {
    const found: Record<Reviewed['kind'], readonly Reviewed[]> = { REQUIREMENT: [], USER_STORY: [] };
    // What comes for the first time is shown as it grows.
    const grow = (kind: Reviewed['kind']) => (items: readonly Reviewed[], total: number): void => {
      found[kind] = items;
      if (this.isLoaded) return;
      this.#missing = { ...this.#missing, [kind]: Math.max(0, total - items.length) };
      this.#reviewed = [...found.REQUIREMENT, ...found.USER_STORY];
      const [count, { REQUIREMENT, USER_STORY }] = [this.#reviewed.length, this.#missing];
      if (REQUIREMENT !== null && USER_STORY !== null) this.arrived = { count, total: count + REQUIREMENT + USER_STORY };
    };
    const kinds = (['REQUIREMENT', 'USER_STORY'] as const).map((kind) => this.#readAll(kind, grow(kind)));
    await Promise.all([...kinds, this.#loadOthers()]);
    this.#merge([...found.REQUIREMENT, ...found.USER_STORY]);
    this.#markQuotes();
    this.isLoaded = true;
    this.arrived = null;
  }

  /** The requirements again, such as after their pairs have changed: that gives them no other version. */
  async #loadRequirements(): Promise<void> {
    if (!this.isLoaded) return this.#reload.request();
    let found: readonly Reviewed[] = [];
    await this.#readAll('REQUIREMENT', (items) => { found = items; });
    this.#merge([...found, ...this.#reviewed.filter(({ kind }) => kind === 'USER_STORY')]);
    this.#markQuotes();
  }

  /**
   * Reads all items of a kind, which come by falling numbers; `grow` is given those that are here after each page, and how many there
   * are.
   */
  async #readAll(kind: Reviewed['kind'], grow: (items: readonly Reviewed[], total: number) => void): Promise<void> {
    const found: Reviewed[] = [];
    let cursor: string | undefined;
    for await (const { items, nextCursor, totalCount } of pages(this.#listOf(kind))) {
      for (const { id } of items) this.#cursors.set(id, cursor);
      found.push(...items);
      grow([...found], totalCount);
      cursor = nextCursor ?? undefined;
    }
  }

  /** Asks for a page of a kind. */
  #listOf(kind: Reviewed['kind']) {
    return async (cursor: string | undefined): Promise<Answer<Reviewed>> => {
      const params = { path: this.project.path, query: { limit: PAGE, ...(cursor && { cursor }) } };
      if (kind === 'REQUIREMENT') {
        return itemsOf(await api.GET('/api/projects/{projectId}/requirements', { params }), (of) => itemOf({ kind, of }));
      }
      return itemsOf(await api.GET('/api/projects/{projectId}/user-stories', { params }), (of) => itemOf({ kind, of }));
    };
  }

  /** Risks, questions, actions and decisions come with the specification; requirements and stories have lists of their own. */
  async #loadOthers(): Promise<void> {
    const query = { status: 'REJECTED', type: 'UNKNOWN', priority: 'UNKNOWN' } as const;
    const params = { path: this.project.path, query };
    const found = await readAgain(() => unwrap(api.GET('/api/projects/{projectId}/ai/results-dashboard', { params })));
    this.#others = [
      ...found.risks.map((of) => itemOf({ kind: 'RISK', of })),
      ...found.openQuestions.map((of) => itemOf({ kind: 'OPEN_QUESTION', of })),
      ...found.actionItems.map((of) => itemOf({ kind: 'ACTION_ITEM', of })),
      ...found.decisions.map((of) => itemOf({ kind: 'DECISION', of })),
    ];
    this.#missing = { ...this.#missing, RISK: 0, OPEN_QUESTION: 0, ACTION_ITEM: 0, DECISION: 0 };
  }

  readonly #loadNames = (): Promise<void> => attempt(async () => {
    const path = this.project.path;
    const documents = (cursor: string | undefined) =>
      api.GET('/api/projects/{projectId}/documents', { params: { path, query: { limit: PAGE, ...(cursor && { cursor }) } } });
    for await (const page of pages(documents)) for (const { id, fileName } of page.items) this.names.set(id, fileName);
  });

  /** What a call returns may be older than what another has told since. */
  #merge(found: readonly Reviewed[]): void {
    const known = new Map(this.#reviewed.map((item) => [item.id, item]));
    this.#reviewed = found.map((item) => {
      const other = known.get(item.id);
      return other && other.of.version > item.of.version ? other : item;
    });
  }

  #markQuotes(): void {
    const spans = new Map<string, Span[]>();
    for (const { id, kind, of } of this.#reviewed) {
      if (kind !== 'REQUIREMENT') continue;
      for (const [at, { documentId, version, startOffset, endOffset }] of of.sources.entries()) {
        if (documentId === null) continue;
        const key = `${documentId}/${version}`;
        const own = spans.get(key) ?? [];
        if (own.length === 0) spans.set(key, own);
        own.push({ id: `${id}/${at}`, start: startOffset, end: endOffset });
      }
    }
    this.#spans = spans;
  }

  #hear(event: TopicEvent | null): void {
    if (event === null) {
      const isLong = this.#reviewed.length > LONG;
      if (!isLong || this.project.isConnected || Date.now() - this.#loadedAt > LONG_LIST_EVERY_MS) this.#reload.request();
    } else if (event.event === 'item.changed') {
      const { id, targetType } = event.data as { id: string; targetType: Kind };
      if (targetType !== 'REQUIREMENT' && targetType !== 'USER_STORY') return void attempt(() => this.#loadOthers());
      this.#changed.set(id, targetType);
      this.#refresh.request();
    } else if (event.event === 'pairs.changed') this.#reloadRequirements.request();
    else if (event.event.startsWith('document.')) void this.#loadNames();
    else if (/^run\.(completed|partial)$/.test(event.event)) this.#reload.request();
  }

  /** Reads the pages again in which the changed items stand. */
  readonly #readChanged = (): Promise<void> => attempt(async () => {
    if (this.#held > 0) return;
    const changed = [...this.#changed];
    this.#changed.clear();
    if (!this.isLoaded) return this.#reload.request();
    const wanted = new Map<string, { kind: Reviewed['kind']; cursor: string | undefined }>();
    this.#fresh.clear();
    for (const [id, kind] of changed) {
      // One that is not known yet is among the newest of its kind, on its first page.
      const cursor = this.#cursors.get(id);
      wanted.set(`${kind} ${cursor ?? ''}`, { kind, cursor });
    }
    if (wanted.size > MOST_PAGES) return this.load();
    await Promise.all([...wanted.values()].map(({ kind, cursor }) => this.#readPage(kind, cursor)));
    // Items that were added since push others out of the first page.
    if (changed.some(([id]) => !this.#fresh.has(id))) this.#reload.request();
  });

  async #readPage(kind: Reviewed['kind'], cursor: string | undefined): Promise<void> {
    const { items: found } = await readAgain(() => unwrap(this.#listOf(kind)(cursor)));
    const fresh = new Map(found.map((item) => [item.id, item]));
    for (const { id } of found) this.#fresh.add(id);
    const isNew = (item: Reviewed): boolean => !this.find(item.id);
    for (const item of found) if (!this.#cursors.has(item.id)) this.#cursors.set(item.id, cursor);
    const news = found.filter(isNew);
    this.#reviewed = [...news, ...this.#reviewed.map((item) => {
      const other = fresh.get(item.id);
      return other && other.of.version >= item.of.version ? other : item;
    })];
    if (news.length > 0) this.#markQuotes();
  }

  /** Reads items anew, such as after they turned out to have changed. */
  async refresh(items: readonly Reviewed[]): Promise<void> {
    for (const { id, kind } of items) this.#changed.set(id, kind);
    await this.#readChanged();
  }

  /** Until what it returns is called, changed items are not read again: many are being changed, each of which is told. */
  hold(): () => void {
    this.#held += 1;
    return () => {
      this.#held -= 1;
      if (this.#changed.size > 0) this.#refresh.request();
    };
  }

  /** What titles the places of a source text. */
  readonly codeOf = (id: string): string | undefined => this.find(id)?.code;
}

interface Page<Of> { items: Of[]; nextCursor: string | null; totalCount: number }
interface Answer<Of> { data?: { data: Page<Of> }; error?: unknown; response: Response }

/** An answer with its items as this page has them. */
function itemsOf<Of>({ data, error, response }: Answer<Of>, made: (of: Of) => Reviewed): Answer<Reviewed> {
  return { ...(data && { data: { data: { ...data.data, items: data.data.items.map(made) } } }), error, response };
}
