// What the home of a project shows, each part loaded again when events concern it.

import { attempt } from '$shared/account.svelte';
import { api, ApiError, pages, unwrap, type Schemas } from '$shared/api/client';
import { isAgainstApproved } from '../conflicts/pairs';
import { coalesce } from '../project/coalesce';
import type { Project } from '../project/project.svelte';
import { isUnderWay, type Run } from '../runs/timeline';
import { activityOf, type Entry, type Found } from './activity';
import { decisionsByDay, type DayCounts } from './decisions';

export type Meeting = Schemas['MeetingListItem'];
export type Status = Schemas['WorkflowStatus'];
export type StatusCounts = Record<Status, number>;

const STATUSES: readonly Status[] = ['APPROVED', 'NEEDS_REVIEW', 'REJECTED'];
/** Parts are loaded again at most so often: somebody may be approving one item a second. */
const CALM_MS = 1_500;
const NEWEST = 15;
const SHOWN = 20;
const DAYS = 14;
const MOST_FOLLOWED = 20;
/** How many approval events are read for the chart. */
const MOST_EVENTS = 1_000;
/** How many pairs are read to tell which are against what was approved; what a run has just found is among the newest. */
const MOST_PAIRS = 500;

/** Strong pairs of requirements that wait, and how many of those that were read are against an approved one. */
export interface WaitingPairs { total: number; againstApproved: number; areAllRead: boolean }
export interface Waiting { proposals: number; feedback: number; failedDocuments: number; failedExport: Schemas['TrackerExport'] | null; pairs: WaitingPairs }

export class HomeState {
  requirements = $state.raw<StatusCounts | null>(null);
  stories = $state.raw<StatusCounts | null>(null);
  waiting = $state.raw<Waiting>({ proposals: 0, feedback: 0, failedDocuments: 0, failedExport: null, pairs: { total: 0, againstApproved: 0, areAllRead: true } });
  /** Live ones first, then those to come, the next first. */
  meetings = $state.raw<readonly Meeting[]>([]);
  days = $state.raw<readonly DayCounts[]>([]);
  run = $state.raw<Run | null>(null);
  readyDocuments = $state(0);
  hasExported = $state<boolean | null>(null);
  isLoaded = $state(false);
  #found = $state.raw<Found>({ decisions: [], runs: [], documents: [], meetings: [], feedback: [] });

  readonly activity: readonly Entry[] = $derived(activityOf(this.#found, SHOWN));

  readonly #parts: readonly { prefixes: readonly string[]; load: () => Promise<void> }[] = [
    { prefixes: ['item.', 'import.', 'run.completed', 'run.partial'], load: () => this.#loadItems() },
    { prefixes: ['pairs.', 'item.'], load: () => this.#loadPairs() },
    { prefixes: ['document.'], load: () => this.#loadDocuments() },
    { prefixes: ['meeting.'], load: () => this.reload() },
    { prefixes: ['run.'], load: () => this.#loadRuns() },
    { prefixes: ['feedback.'], load: () => this.#loadFeedback() },
    { prefixes: ['export.'], load: () => this.#loadExports() },
  ];

  /** How to stop following a meeting, by its id. */
  readonly #followed = new Map<string, () => void>();

  constructor(readonly project: Project) {}

  /** Loads everything and follows it; returns what ends that. */
  start(): () => void {
    void Promise.all(this.#parts.map(({ load }) => load())).then(() => { this.isLoaded = true; });
    const ends = this.#parts.map(({ prefixes, load }) => {
      const reload = coalesce(load, CALM_MS);
      const end = this.project.on(prefixes, (event) => {
        if (event?.event !== 'run.progressed') return reload.request();
        this.#takeProgress(event.data as Run);
      });
      return () => {
        end();
        reload.cancel();
      };
    });
    return () => {
      for (const end of ends) end();
      for (const unfollow of this.#followed.values()) unfollow();
      this.#followed.clear();
    };
  }

  /** A meeting tells its own topic of what happens to it, and not the project's. */
  #followMeetings(): void {
    const open = new Set(this.meetings.slice(0, MOST_FOLLOWED).map(({ id }) => id));
    for (const [id, unfollow] of this.#followed) {
      if (open.has(id)) continue;
      unfollow();
      this.#followed.delete(id);
    }
    for (const id of open) {
      if (this.#followed.has(id)) continue;
      const event = ({ event: name }: { event: string }): void => { if (name.startsWith('meeting.')) void this.reload(); };
      this.#followed.set(id, this.project.follow(`meeting:${id}`, { snapshot: () => undefined, event }));
    }
  }

  get #params(): { path: { projectId: string } } { return { path: this.project.path }; }

  async #loadItems(): Promise<void> {
    await attempt(async () => {
      const count = (path: '/api/projects/{projectId}/requirements' | '/api/projects/{projectId}/user-stories') => async (status: Status): Promise<[Status, number]> =>
        [status, (await unwrap<{ totalCount: number }>(api.GET(path, { params: { ...this.#params, query: { limit: 1, status } } }))).totalCount];
      const [requirements, stories, proposals, events] = await Promise.all([
        Promise.all(STATUSES.map(count('/api/projects/{projectId}/requirements'))),
        Promise.all(STATUSES.map(count('/api/projects/{projectId}/user-stories'))),
        unwrap(api.GET('/api/projects/{projectId}/proposals', { params: { ...this.#params, query: { limit: 1, status: 'OPEN' } } })),
        this.#events(),
      ]);
      this.requirements = Object.fromEntries(requirements) as StatusCounts;
      this.stories = Object.fromEntries(stories) as StatusCounts;
      this.waiting = { ...this.waiting, proposals: proposals.totalCount };
      this.days = decisionsByDay(events.items, events.isWhole, new Date(), DAYS);
      this.#found = { ...this.#found, decisions: events.items.slice(0, 100) };
      await this.#lookForExports();
    });
  }

  async #events(): Promise<{ items: Schemas['ApprovalEvent'][]; isWhole: boolean }> {
    const since = Date.now() - (DAYS + 1) * 86_400_000;
    const items: Schemas['ApprovalEvent'][] = [];
    let cursor: string | null = null;
    do {
      const query: { limit: number; cursor?: string } = { limit: 100, ...(cursor && { cursor }) };
      const page: Schemas['ListOfApprovalEvent'] = await unwrap(api.GET('/api/projects/{projectId}/approval-events', { params: { ...this.#params, query } }));
      items.push(...page.items);
      cursor = page.nextCursor;
      const last = page.items.at(-1);
      // What is older stands in no chart: with it, the days that do are whole.
      if (last && Date.parse(last.at) < since) return { items, isWhole: true };
    } while (cursor && items.length < MOST_EVENTS);
    return { items, isWhole: cursor === null };
  }

  async #loadPairs(): Promise<void> {
    if (!this.project.canWork) return;
    await attempt(async () => {
      const list = (cursor: string | undefined) => api.GET('/api/projects/{projectId}/item-pairs', {
        params: { ...this.#params, query: { status: 'OPEN', strength: 'HIGH', limit: 100, ...(cursor && { cursor }) } },
      });
      const found = { total: 0, againstApproved: 0, areAllRead: true };
      let read = 0;
      for await (const { items, totalCount } of pages(list)) {
        found.total = totalCount;
        found.againstApproved += items.filter(isAgainstApproved).length;
        read += items.length;
        found.areAllRead = read >= totalCount;
        if (read >= MOST_PAIRS) break;
      }
      this.waiting = { ...this.waiting, pairs: found };
    });
  }

  async #loadDocuments(): Promise<void> {
    await attempt(async () => {
      const list = (query: { limit: number; status?: Schemas['DocumentStatus'] }) =>
        unwrap(api.GET('/api/projects/{projectId}/documents', { params: { ...this.#params, query } }));
      const [newest, failed, ready] = await Promise.all([list({ limit: NEWEST }), list({ limit: 1, status: 'FAILED' }), list({ limit: 1, status: 'READY' })]);
      this.readyDocuments = ready.totalCount;
      this.waiting = { ...this.waiting, failedDocuments: failed.totalCount };
      this.#found = { ...this.#found, documents: newest.items };
    });
  }

  /** Loads the meetings. */
  readonly reload = (): Promise<void> => attempt(async () => {
    const list = (query: { limit: number; status?: Schemas['MeetingStatus'] }) =>
      unwrap(api.GET('/api/projects/{projectId}/meetings', { params: { ...this.#params, query } }));
    const [newest, live, scheduled] = await Promise.all([list({ limit: NEWEST }), list({ limit: 25, status: 'LIVE' }), list({ limit: 100, status: 'SCHEDULED' })]);
    const next = [...scheduled.items].sort((one, other) => one.scheduledAt.localeCompare(other.scheduledAt));
    this.meetings = [...live.items, ...next];
    this.#found = { ...this.#found, meetings: newest.items };
    this.#followMeetings();
  });

  async #loadRuns(): Promise<void> {
    await attempt(async () => {
      const { items } = await unwrap(api.GET('/api/projects/{projectId}/ai/runs', { params: { ...this.#params, query: { limit: NEWEST } } }));
      this.run = items.find(isUnderWay) ?? items[0] ?? null;
      this.#found = { ...this.#found, runs: items };
    });
  }

  #takeProgress(run: Run): void {
    const isOlder = run.id === this.run?.id && Date.parse(run.updatedAt) < Date.parse(this.run.updatedAt);
    if (!isOlder) this.run = run;
  }

  async #loadFeedback(): Promise<void> {
    if (!this.project.isAnalyst) return;
    await attempt(async () => {
      const list = (query: { limit: number; status?: 'OPEN' }) => unwrap(api.GET('/api/projects/{projectId}/feedback', { params: { ...this.#params, query } }));
      const [newest, open] = await Promise.all([list({ limit: NEWEST }), list({ limit: 1, status: 'OPEN' })]);
      this.waiting = { ...this.waiting, feedback: open.totalCount };
      this.#found = { ...this.#found, feedback: newest.items };
    });
  }

  async #loadExports(): Promise<void> {
    await attempt(async () => {
      const { items } = await unwrap(api.GET('/api/projects/{projectId}/tracker/exports', { params: { ...this.#params, query: { limit: 1 } } }));
      const newest = items[0];
      if (newest?.status === 'COMPLETED') this.hasExported = true;
      this.waiting = { ...this.waiting, failedExport: newest && (newest.status === 'FAILED' || newest.status === 'PARTIAL') ? newest : null };
    });
  }

  /** The last step of a newcomer. The dashboard lists the exports; it is asked only while that step is left, for no items. */
  async #lookForExports(): Promise<void> {
    if (this.hasExported || !this.project.canWork || (this.requirements?.APPROVED ?? 0) + (this.stories?.APPROVED ?? 0) === 0) return;
    const query = { type: 'UNKNOWN', priority: 'UNKNOWN', status: 'REJECTED' } as const;
    try {
      const { exports } = await unwrap(api.GET('/api/projects/{projectId}/ai/results-dashboard', { params: { ...this.#params, query } }));
      this.hasExported = exports.length > 0;
    } catch (thrown) {
      // Not analysed yet.
      if (!(thrown instanceof ApiError && thrown.status === 409)) throw thrown;
    }
  }
}
