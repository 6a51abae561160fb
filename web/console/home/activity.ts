// What happened in a project, as one list, newest first. What one person does in a row is one entry.

import type { Schemas } from '$shared/api/client';

type Action = Schemas['ApprovalEvent']['action'];
export type Deed = 'approved' | 'rejected' | 'reopened' | 'deferred' | 'edited' | 'regenerated' | 'accepted' | 'suspect';
export type Entry = { id: string; at: string } & (
  | { kind: 'decision'; deed: Deed; name: string; code: string; targetId: string; count: number }
  | { kind: 'run'; run: Schemas['AiAnalysisRun'] }
  | { kind: 'document'; document: Schemas['Document']; count: number }
  | { kind: 'meeting'; step: 'created' | 'started' | 'ended'; meeting: Schemas['MeetingListItem'] }
  | { kind: 'feedback'; feedback: Schemas['StakeholderFeedback'] }
);
export interface Found {
  decisions: readonly Schemas['ApprovalEvent'][];
  runs: readonly Schemas['AiAnalysisRun'][];
  documents: readonly Schemas['Document'][];
  meetings: readonly Schemas['MeetingListItem'][];
  feedback: readonly Schemas['StakeholderFeedback'][];
}

const DEEDS: Record<Action, Deed> = {
  APPROVE: 'approved', EDIT_AND_APPROVE: 'approved', REJECT: 'rejected', REOPEN: 'reopened', DEFER: 'deferred', EDIT: 'edited',
  REGENERATE: 'regenerated', ACCEPT_PROPOSAL: 'accepted', BECOME_SUSPECT: 'suspect',
};
/** What follows within so long belongs to the same row. */
const ROW_MS = 10 * 60_000;

export function activityOf({ decisions, runs, documents, meetings, feedback }: Found, most: number): Entry[] {
  const entries: Entry[] = [
    ...decisions.map(({ id, at, action, actor, targetCode, targetId }): Entry =>
      ({ id, at, kind: 'decision', deed: DEEDS[action], name: actor.name, code: targetCode, targetId, count: 1 })),
    ...runs.map((run): Entry => ({ id: run.id, at: run.completedAt ?? run.startedAt ?? run.createdAt, kind: 'run', run })),
    ...documents.map((document): Entry => ({ id: document.id, at: document.createdAt, kind: 'document', document, count: 1 })),
    ...meetings.flatMap(stepsOf),
    ...feedback.map((each): Entry => ({ id: each.id, at: each.createdAt, kind: 'feedback', feedback: each })),
  ];
  entries.sort((one, other) => other.at.localeCompare(one.at));
  return inRows(entries).slice(0, most);
}

function stepsOf(meeting: Schemas['MeetingListItem']): Entry[] {
  const steps = [['created', meeting.createdAt], ['started', meeting.startedAt], ['ended', meeting.endedAt]] as const;
  return steps.flatMap(([step, at]) => (at ? [{ id: `${meeting.id} ${step}`, at, kind: 'meeting' as const, step, meeting }] : []));
}

function inRows(entries: readonly Entry[]): Entry[] {
  const rows: Entry[] = [];
  let oldest = 0;
  for (const entry of entries) {
    const at = Date.parse(entry.at);
    const row = rows.at(-1);
    if (row && isSame(row, entry) && oldest - at < ROW_MS) rows[rows.length - 1] = { ...row, count: row.count + 1 };
    else rows.push(entry);
    oldest = at;
  }
  return rows;
}

type Counted = Extract<Entry, { count: number }>;
function isSame(row: Entry, entry: Entry): row is Counted {
  if (row.kind === 'decision' && entry.kind === 'decision') return row.deed === entry.deed && row.name === entry.name;
  return row.kind === 'document' && entry.kind === 'document' && row.document.uploadedById === entry.document.uploadedById;
}
