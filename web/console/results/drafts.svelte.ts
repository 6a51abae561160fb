// Edits and comments under way, by item: they stay when their reader looks at another item or at another view, when the session
// expires, or when the item changes elsewhere.

import { currentUser } from '$shared/account.svelte';
import { SvelteMap } from 'svelte/reactivity';
import type { Requirement, Reviewed, UserStory } from './items';

export interface CriterionDraft { key: number; text: string; given: string; when: string; then: string }

/** The fields as they are written: all of both kinds; those of the other kind stay empty. */
export interface Fields {
  title: string;
  statement: string;
  type: Requirement['type'];
  category: NonNullable<Requirement['category']> | '';
  priority: Requirement['priority'];
  role: string;
  goal: string;
  benefit: string;
  acceptanceCriteria: CriterionDraft[];
}
export type FieldName = keyof Fields;

export const FIELDS: Record<Reviewed['kind'], readonly FieldName[]> = {
  REQUIREMENT: ['title', 'statement', 'type', 'category', 'priority'],
  USER_STORY: ['title', 'role', 'goal', 'benefit', 'priority', 'acceptanceCriteria'],
};

let lastKey = 0;
export const emptyCriterion = (): CriterionDraft => ({ key: ++lastKey, text: '', given: '', when: '', then: '' });

export function fieldsOf({ of }: Reviewed): Fields {
  const { statement = '', type = 'UNKNOWN', category = null } = of as Partial<Requirement>;
  const { role = null, goal = '', benefit = null, acceptanceCriteria = [] } = of as Partial<UserStory>;
  return {
    title: of.title, priority: of.priority, statement, type, category: category ?? '', role: role ?? '', goal, benefit: benefit ?? '',
    acceptanceCriteria: acceptanceCriteria.map(({ text, given, when, then }) => ({ key: ++lastKey, text, given: given ?? '', when: when ?? '', then: then ?? '' })),
  };
}

const NULLABLE = new Set<FieldName>(['category', 'role', 'benefit']);
/** A field as the API takes it. */
export function sent(fields: Fields, name: FieldName): unknown {
  if (name === 'acceptanceCriteria') {
    return fields.acceptanceCriteria.filter(({ text }) => text.trim() !== '').map(({ text, given, when, then }) => ({
      text: text.trim(), given: given.trim() || null, when: when.trim() || null, then: then.trim() || null,
    }));
  }
  const value = fields[name].trim();
  return NULLABLE.has(name) ? value || null : value;
}

/** The fields that differ between two states of an item. */
export function changed(kind: Reviewed['kind'], one: Fields, other: Fields): FieldName[] {
  return FIELDS[kind].filter((name) => JSON.stringify(sent(one, name)) !== JSON.stringify(sent(other, name)));
}

/** A field as text to be read and compared. `words` gives the words of an enumeration's value. */
export function readable(fields: Fields, name: FieldName, words: (group: string, value: string) => string): string {
  if (name === 'acceptanceCriteria') return fields.acceptanceCriteria.map(({ text }) => `– ${text}`).join('\n');
  const value = fields[name];
  return value !== '' && (name === 'type' || name === 'category' || name === 'priority') ? words(name, value) : value;
}

export class Draft {
  fields = $state() as Fields;

  /** `base`: the version that is edited. */
  constructor(readonly base: Reviewed) {
    this.fields = fieldsOf(base);
  }

  get changed(): FieldName[] {
    return changed(this.base.kind, fieldsOf(this.base), this.fields);
  }
}

export class Drafts {
  readonly #drafts = new SvelteMap<string, Draft>();

  /** Whether anything is written in any of them. */
  get areChanged(): boolean {
    return [...this.#drafts.values()].some(({ changed: names }) => names.length > 0);
  }

  begin(item: Reviewed): void {
    if (!this.#drafts.has(item.id)) this.#drafts.set(item.id, new Draft(item));
  }

  has(id: string): boolean {
    return this.#drafts.has(id);
  }

  of(item: Reviewed): Draft {
    return this.#drafts.get(item.id) ?? new Draft(item);
  }

  end(id: string): void {
    this.#drafts.delete(id);
  }
}

/** What its reader has begun in the results of a project. */
export class Work {
  readonly drafts = new Drafts();
  /** Comments that are not sent yet, by item. */
  readonly comments = new Map<string, string>();

  constructor() {
    addEventListener('beforeunload', (event) => {
      if (this.drafts.areChanged || this.comments.size > 0) event.preventDefault();
    });
  }
}

const begun = new Map<string, Work>();

/** What the present user has begun in the results of a project. */
export function workOf(projectId: string): Work {
  const key = `${currentUser()?.email} ${projectId}`;
  const work = begun.get(key) ?? new Work();
  begun.set(key, work);
  return work;
}
