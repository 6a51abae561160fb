// A server with the items of a project, which it lists by falling numbers, and the socket that tells of them. It counts what it is asked for.
import { vi } from 'vitest';
import type { Schemas } from '../shared/api/client';

export const requirementOf = (number: number, more: Partial<Schemas['Requirement']> = {}): Schemas['Requirement'] => ({
  id: `r${number}`, code: `REQ-${String(number).padStart(3, '0')}`, title: `Title ${number}`, statement: `Statement ${number}`, type: 'FUNCTIONAL', category: null,
  priority: 'HIGH', confidence: 1, workflowStatus: 'NEEDS_REVIEW', qualityIssues: [], sources: [], duplicateOf: null, conflictsWith: [], version: 1,
  revisionSource: 'AI_GENERATED', suspect: false, runId: 'run', createdAt: '2026-11-01T00:00:00Z', updatedAt: '2026-11-01T00:00:00Z', original: null, pattern: null,
  deferredUntil: null, ...more,
});
const storyOf = (number: number): Schemas['UserStory'] => ({
  id: `s${number}`, code: `US-${String(number).padStart(3, '0')}`, requirementIds: [], title: `Story ${number}`, role: 'nurse', goal: 'print', benefit: null,
  description: `As a nurse, I want to print ${number}.`, priority: 'HIGH', acceptanceCriteria: [], workflowStatus: 'NEEDS_REVIEW', qualityScore: 1, qualityIssues: [],
  sources: [], version: 1, revisionSource: 'AI_GENERATED', suspect: false, trackerIssue: null, runId: 'run', createdAt: '2026-11-01T00:00:00Z',
  updatedAt: '2026-11-01T00:00:00Z', original: null, deferredUntil: null,
});

export class ItemServer {
  readonly requirements: Schemas['Requirement'][];
  readonly stories: Schemas['UserStory'][];
  /** The paths that were asked for, with the cursor of a list. */
  readonly asked: string[] = [];
  /** Answers to paths that begin so wait until `release`. */
  held: string | null = null;
  readonly #waiting: (() => void)[] = [];

  constructor(requirements: number, stories: number) {
    const numbered = <Of>(count: number, made: (number: number) => Of): Of[] => Array.from({ length: count }, (_, index) => made(index + 1));
    [this.requirements, this.stories] = [numbered(requirements, (number) => requirementOf(number)), numbered(stories, storyOf)];
    vi.stubGlobal('fetch', this.fetch);
    vi.stubGlobal('WebSocket', Socket);
  }

  /** How often each path was asked for. */
  get counts(): Record<string, number> {
    const counts: Record<string, number> = {};
    for (const path of this.asked) counts[path] = (counts[path] ?? 0) + 1;
    return counts;
  }

  /** Answers what waits; what is held later waits again. */
  release(held: string | null = null): void {
    this.held = held;
    for (const release of this.#waiting.splice(0)) release();
  }

  readonly fetch = async (request: Request): Promise<Response> => {
    const { pathname, searchParams } = new URL(request.url);
    const path = pathname.replace('/api/projects/p/', '') + (searchParams.has('cursor') ? ` ${searchParams.get('cursor')}` : '');
    // What waits is counted by one entry.
    if (searchParams.get('limit') !== '1') this.asked.push(path);
    if (this.held !== null && path.startsWith(this.held)) await new Promise<void>((resolve) => { this.#waiting.push(resolve); });
    return Response.json({ isSuccess: true, data: this.#answer(pathname, searchParams), errors: [] });
  };

  #answer(pathname: string, query: URLSearchParams): object {
    if (pathname === '/api/projects/p') return { id: 'p', name: 'Clinic', status: 'ACTIVE', myRole: 'ANALYST', counts: { requirements: 1 } };
    if (pathname.endsWith('/requirements')) return this.#page(this.requirements, query);
    if (pathname.endsWith('/user-stories')) return this.#page(this.stories, query);
    if (pathname.endsWith('/results-dashboard')) return { risks: [], openQuestions: [], actionItems: [], decisions: [] };
    return { ticket: 't', items: [], nextCursor: null, totalCount: 0 };
  }

  #page(all: readonly object[], query: URLSearchParams): object {
    const from = Number(query.get('cursor') ?? 0);
    const to = from + Number(query.get('limit'));
    return { items: [...all].reverse().slice(from, to), nextCursor: to < all.length ? String(to) : null, totalCount: all.length };
  }
}

/** The project and the script of a view are here sooner: what is loaded before a topic is followed would be loaded twice. */
const OPENS_AFTER_MS = 200;

/** Tells each topic that it is followed, and then what `tell` says. */
class Socket {
  static readonly OPEN = 1;
  static newest: Socket | null = null;
  readyState = 1;
  onopen: () => void = () => undefined;
  onmessage: (message: { data: string }) => void = () => undefined;
  offset = 7;

  constructor() {
    Socket.newest = this;
    setTimeout(() => this.onopen(), OPENS_AFTER_MS);
  }

  send(text: string): void {
    const { type, topic } = JSON.parse(text) as { type: string; topic: string };
    if (type === 'subscribe') this.#say({ type: 'subscribed', topic, epoch: 'e', offset: this.offset, recovered: false, snapshot: {} });
  }

  tell(event: string, data: object): void {
    this.offset += 1;
    this.#say({ type: 'event', topic: 'project:p', event, data, offset: this.offset, at: '2026-11-01T00:00:00Z' });
  }

  close(): void {
    this.readyState = 3;
  }

  #say(frame: object): void {
    setTimeout(() => this.onmessage({ data: JSON.stringify(frame) }), 5);
  }
}

/** Tells those that follow the project of an event. */
export const tell = (event: string, data: object): void => Socket.newest?.tell(event, data);
