// Which items are listed, and in what order: as values in the address, and as views that are kept for a project.

import { folded } from '$shared/text/fold';
import { isReviewed, KINDS, statusOf, wordsOf, type Item, type Kind, type Status } from './items';

export const STATUSES = ['NEEDS_REVIEW', 'APPROVED', 'REJECTED', 'DEFERRED'] as const;
export const TYPES = ['FUNCTIONAL', 'NON_FUNCTIONAL', 'BUSINESS', 'CONSTRAINT', 'UNKNOWN'] as const;
export const PRIORITIES = ['CRITICAL', 'HIGH', 'MEDIUM', 'LOW', 'UNKNOWN'] as const;
export const SORTS = ['code', 'priority', 'updated', 'confidence'] as const;
export type Sort = (typeof SORTS)[number];

export interface Filters {
  kind: Kind | '';
  status: Status | '';
  type: (typeof TYPES)[number] | '';
  priority: (typeof PRIORITIES)[number] | '';
  /** A document or recording, by its id. */
  source: string;
  /** Only what quality checks found something in. */
  findings: boolean;
  /** Only stories whose requirement changed since they were approved. */
  suspect: boolean;
  sort: Sort;
  words: string;
}

export const NONE: Filters = { kind: '', status: '', type: '', priority: '', source: '', findings: false, suspect: false, sort: 'code', words: '' };
/** The names in the address. */
const NAMES = { kind: 'kind', status: 'status', type: 'type', priority: 'priority', source: 'source', findings: 'findings', suspect: 'suspect', sort: 'sort', words: 'q' } as const;
const oneOf = <Value extends string>(value: string | null, values: readonly Value[]): Value | undefined => values.find((one) => one === value);

export function readFilters(query: URLSearchParams): Filters {
  const get = (name: keyof Filters): string | null => query.get(NAMES[name]);
  return {
    kind: oneOf(get('kind'), KINDS) ?? '',
    status: oneOf(get('status'), STATUSES) ?? '',
    type: oneOf(get('type'), TYPES) ?? '',
    priority: oneOf(get('priority'), PRIORITIES) ?? '',
    source: get('source') ?? '',
    findings: get('findings') === '1',
    suspect: get('suspect') === '1',
    sort: oneOf(get('sort'), SORTS) ?? 'code',
    words: get('words') ?? '',
  };
}

/** The values in the address; what is as usual is not in it. */
export function writeFilters(filters: Filters): Record<string, string | null> {
  const written = (name: keyof Filters): string | null => {
    const value = filters[name];
    if (value === NONE[name]) return null;
    return value === true ? '1' : String(value);
  };
  return Object.fromEntries((Object.keys(NAMES) as (keyof Filters)[]).map((name) => [NAMES[name], written(name)]));
}

export const areSame = (one: Filters, other: Filters): boolean => (Object.keys(NONE) as (keyof Filters)[]).every((name) => one[name] === other[name]);
/** How many filters are set beside the kind, the words and the order. */
export const countOf = ({ status, type, priority, source, findings, suspect }: Filters): number =>
  [status, type, priority, source, findings, suspect].filter(Boolean).length;

/** Folding is dear: each item is folded once, when it is first searched for. */
const index = new WeakMap<Item['of'], string>();
function indexed(item: Item): string {
  let words = index.get(item.of);
  if (words === undefined) index.set(item.of, (words = wordsOf(item)));
  return words;
}

const priorityOf = (item: Item): string | null => {
  if (isReviewed(item)) return item.of.priority;
  return item.kind === 'RISK' ? item.of.severity : null;
};
const PLACES = new Map<string, number>(PRIORITIES.map((priority, place) => [priority, place]));

function isFound(item: Item, filters: Filters, wanted: readonly string[], today: string): boolean {
  const { kind, status, type, priority, source, findings, suspect } = filters;
  if (kind && item.kind !== kind) return false;
  if (status && !(isReviewed(item) && statusOf(item, today) === status)) return false;
  if (type && !(item.kind === 'REQUIREMENT' && item.of.type === type)) return false;
  if (priority && priorityOf(item) !== priority) return false;
  if (source && !item.of.sources.some(({ documentId, recordingId }) => documentId === source || recordingId === source)) return false;
  if (findings && !(isReviewed(item) && item.of.qualityIssues.length > 0)) return false;
  if (suspect && !(isReviewed(item) && item.of.suspect)) return false;
  return wanted.length === 0 || wanted.every((word) => indexed(item).includes(word));
}

const confidenceOf = (item: Item): number => {
  if (item.kind === 'REQUIREMENT') return item.of.confidence;
  return item.kind === 'USER_STORY' ? item.of.qualityScore : 2;
};
const COMPARE: Record<Sort, (one: Item, other: Item) => number> = {
  code: (one, other) => one.order - other.order,
  priority: (one, other) => (PLACES.get(priorityOf(one) ?? '') ?? 9) - (PLACES.get(priorityOf(other) ?? '') ?? 9) || one.order - other.order,
  updated: (one, other) => updatedAt(other).localeCompare(updatedAt(one)) || one.order - other.order,
  confidence: (one, other) => confidenceOf(one) - confidenceOf(other) || one.order - other.order,
};
const updatedAt = (item: Item): string => (isReviewed(item) ? item.of.updatedAt : '');

/** The items of a list, found and in order. */
export function listed(items: readonly Item[], filters: Filters, today: string): Item[] {
  const wanted = folded(filters.words).split(/\s+/).filter(Boolean);
  return items.filter((item) => isFound(item, filters, wanted, today)).sort(COMPARE[filters.sort]);
}

/** A set of filters under a name. */
export interface View { name: string; filters: Filters }
const keyOf = (projectId: string): string => `colloquy.results.views.${projectId}`;

/** The views that are kept in this browser for a project. */
export function readViews(projectId: string): View[] {
  try {
    const kept = JSON.parse(localStorage.getItem(keyOf(projectId)) ?? '[]') as { name?: unknown; query?: unknown }[];
    return kept.flatMap(({ name, query }) =>
      (typeof name === 'string' && typeof query === 'string' ? [{ name, filters: readFilters(new URLSearchParams(query)) }] : []));
  } catch {
    // Storage is off, or holds what is not ours.
    return [];
  }
}

/** Returns whether they were kept. */
export function writeViews(projectId: string, views: readonly View[]): boolean {
  const written = ({ name, filters }: View) => {
    const query = new URLSearchParams();
    for (const [key, value] of Object.entries(writeFilters(filters))) if (value) query.set(key, value);
    return { name, query: query.toString() };
  };
  try {
    localStorage.setItem(keyOf(projectId), JSON.stringify(views.map(written)));
    return true;
  } catch {
    return false;
  }
}
