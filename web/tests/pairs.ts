// Pairs of requirements, and a server that keeps them.
import type { Schemas } from '../shared/api/client';

type Pair = Schemas['ItemPair'];
type Status = Schemas['WorkflowStatus'];

const requirement = (id: string, workflowStatus: Status): Schemas['Requirement'] => ({
  id, code: `REQ-${id}`, title: `Title ${id}`, statement: `Statement ${id}`, type: 'FUNCTIONAL', category: null, priority: 'HIGH', confidence: 1, workflowStatus,
  qualityIssues: [], sources: [], duplicateOf: null, conflictsWith: [], version: 1, revisionSource: 'AI_GENERATED', suspect: false, runId: '', createdAt: '', updatedAt: '',
  original: null, pattern: null, deferredUntil: null,
});

export const pairOf = (one: string, other: string, more: Partial<Pair> = {}, statuses: readonly [Status, Status] = ['NEEDS_REVIEW', 'NEEDS_REVIEW']): Pair => ({
  id: `${one}-${other}`, kind: 'CONFLICT', items: [requirement(one, statuses[0]), requirement(other, statuses[1])], reason: 'One says 2, the other 5.', spans: [[], []],
  strength: 'HIGH', confidence: 0.9, status: 'OPEN', settlement: null, settledById: null, settledAt: null, runId: 'run', createdAt: '2026-11-01T00:00:00Z', ...more,
});

interface Settled { pairs: { id: string; keptId?: string }[]; settlement: Schemas['PairSettlement'] | null; comment?: string }

/** A server that lists pairs and settles them, and nothing else. `refusals` are by pair; of the next calls, `failures` fail. */
export class PairServer {
  readonly asked: string[] = [];
  readonly settled: Settled[] = [];
  readonly refusals = new Map<string, string>();
  failures = 0;
  /** The number of the settlement, from 1, that fails. */
  failingSettlement = 0;

  constructor(public pairs: Pair[]) {}

  readonly fetch = async (request: Request): Promise<Response> => {
    const url = new URL(request.url);
    this.asked.push(`${request.method} ${url.pathname}${url.search}`);
    if (!url.pathname.startsWith('/api/projects/p/item-pairs')) return failed(404, 'NotFound');
    if (request.method === 'POST') return this.#settle((await request.json()) as Settled);
    if (this.failures > 0) {
      this.failures -= 1;
      return failed(503, 'ServiceUnavailable');
    }
    return this.#list(url.searchParams);
  };

  #list(query: URLSearchParams): Response {
    const is = (name: 'status' | 'strength', value: string): boolean => !query.has(name) || query.get(name) === value;
    const found = this.pairs.filter(({ status, strength }) => is('status', status) && is('strength', strength));
    const from = Number(query.get('cursor') ?? 0);
    const to = from + Number(query.get('limit') ?? 25);
    return done({ items: found.slice(from, to), nextCursor: to < found.length ? String(to) : null, totalCount: found.length });
  }

  #settle(body: Settled): Response {
    this.settled.push(body);
    if (this.settled.length === this.failingSettlement) return failed(503, 'ServiceUnavailable');
    const status = body.settlement === null ? 'OPEN' : 'SETTLED';
    const isDone = ({ id }: { id: string }): boolean => body.pairs.some((pair) => pair.id === id) && !this.refusals.has(id);
    this.pairs = this.pairs.map((pair) => (isDone(pair) ? { ...pair, status, settlement: body.settlement } : pair));
    return done({ pairs: body.pairs.map(({ id }) => ({ id, ok: !this.refusals.has(id), errorCode: this.refusals.get(id) ?? null })) });
  }
}

const done = (data: object): Response => Response.json({ isSuccess: true, data, errors: [] });
const failed = (status: number, code: string): Response =>
  Response.json({ isSuccess: false, data: null, errors: [{ code, message: code, field: null, reason: null }] }, { status });
