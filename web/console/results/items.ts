// What a project's analyses found, as one list: requirements, user stories, risks, open questions, action items, decisions.

import type { Schemas } from '$shared/api/client';
import { folded } from '$shared/text/fold';

export type Requirement = Schemas['Requirement'];
export type UserStory = Schemas['UserStory'];
export type Workflow = Schemas['WorkflowStatus'];
export type Source = Schemas['SourceReference'];

type Content =
  | { kind: 'REQUIREMENT'; of: Requirement }
  | { kind: 'USER_STORY'; of: UserStory }
  | { kind: 'RISK'; of: Schemas['Risk'] }
  | { kind: 'OPEN_QUESTION'; of: Schemas['OpenQuestion'] }
  | { kind: 'ACTION_ITEM'; of: Schemas['ActionItem'] }
  | { kind: 'DECISION'; of: Schemas['Decision'] };
export type Kind = Content['kind'];
export type Item = Content & {
  id: string;
  code: string;
  /** The sentence that stands for the item. */
  text: string;
  /** Its place in the order of kinds and codes. */
  order: number;
};
/** Items that are reviewed: they have a status, a version and a history. */
export type Reviewed = Extract<Item, { kind: 'REQUIREMENT' | 'USER_STORY' }>;

export const KINDS: readonly Kind[] = ['REQUIREMENT', 'USER_STORY', 'RISK', 'OPEN_QUESTION', 'ACTION_ITEM', 'DECISION'];
const FAR = 1_000_000_000;

export const isReviewed = (item: Item): item is Reviewed => item.kind === 'REQUIREMENT' || item.kind === 'USER_STORY';

function textOf({ kind, of }: Content): string {
  switch (kind) {
    case 'REQUIREMENT': return of.statement;
    case 'USER_STORY': return of.description;
    case 'RISK': return of.title || of.description;
    case 'OPEN_QUESTION': return of.question;
    case 'ACTION_ITEM': case 'DECISION': return of.text;
  }
}

export function itemOf<Of extends Content>(content: Of): Extract<Item, { kind: Of['kind'] }> {
  const { id, code } = content.of;
  const order = KINDS.indexOf(content.kind) * FAR + (Number(/\d+$/.exec(code)?.[0]) || 0);
  return { ...content, id, code, text: textOf(content), order } as unknown as Extract<Item, { kind: Of['kind'] }>;
}

/** The words by which an item is found. */
export function wordsOf(item: Item): string {
  const more = ((): (string | null | undefined)[] => {
    switch (item.kind) {
      case 'REQUIREMENT': return [item.of.title];
      case 'USER_STORY': return [item.of.title, ...item.of.acceptanceCriteria.map(({ text }) => text)];
      case 'RISK': return [item.of.description, item.of.mitigation];
      case 'OPEN_QUESTION': return [item.of.why, item.of.raisedBy];
      case 'ACTION_ITEM': return [item.of.assignee];
      case 'DECISION': return [];
    }
  })();
  return folded([item.code, item.text, ...more].filter(Boolean).join('\n'));
}

export type Status = Workflow | 'DEFERRED';

/** The status as people see it: what is put off waits, and does not need a review today. */
export function statusOf({ of }: Reviewed, today: string): Status {
  return of.workflowStatus === 'NEEDS_REVIEW' && of.deferredUntil !== null && of.deferredUntil > today ? 'DEFERRED' : of.workflowStatus;
}

/** A day as the API writes it. */
export const dayOf = (at: Date): string => at.toISOString().slice(0, 10);

/** What a decision about the status of an item would be to it. */
export type Impact = 'changes' | 'already' | 'refused';

/** The decisions, by the status that they give; a deferral gives NEEDS_REVIEW with a day. */
export type Decision = 'APPROVED' | 'REJECTED' | 'NEEDS_REVIEW' | 'DEFERRED';

/** As the server decides: rejected is not approved without being reopened, and the other way round. */
export function impactOf({ of }: Reviewed, decision: Decision): Impact {
  const { workflowStatus: from, suspect, deferredUntil } = of;
  if (decision === 'DEFERRED') return 'changes';
  // Reopened, it is not put off any more.
  if (decision === 'NEEDS_REVIEW' && deferredUntil !== null) return 'changes';
  if (from === decision) return decision === 'APPROVED' && suspect ? 'changes' : 'already';
  return from === 'NEEDS_REVIEW' || decision === 'NEEDS_REVIEW' ? 'changes' : 'refused';
}
