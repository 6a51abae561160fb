// What the home of a project says of the past: one list of what happened, and the decisions of each day.
import { expect, test, vi } from 'vitest';
import { activityOf, type Found } from '../../console/home/activity';
import { decisionsByDay } from '../../console/home/decisions';
import { HomeState } from '../../console/home/home.svelte';
import type { Project } from '../../console/project/project.svelte';
import type { Schemas } from '../../shared/api/client';

type Decision = Schemas['ApprovalEvent'];
const NONE: Found = { decisions: [], runs: [], documents: [], meetings: [], feedback: [] };
const at = (minute: number): string => new Date(Date.UTC(2026, 10, 24, 10, minute)).toISOString();
const decision = (minute: number, action: Decision['action'], name = 'Ada'): Decision =>
  ({ id: `d${minute}`, at: at(minute), action, actor: { id: name, name }, targetCode: `REQ-${minute}`, targetId: `${minute}` }) as Decision;

test('what one person does in a row is one entry, until another person or a longer pause comes between', () => {
  const decisions = [decision(50, 'APPROVE'), decision(49, 'EDIT_AND_APPROVE'), decision(48, 'APPROVE', 'Ben'), decision(47, 'REJECT'), decision(20, 'REJECT')];
  const entries = activityOf({ ...NONE, decisions }, 10);
  expect(entries.map((entry) => (entry.kind === 'decision' ? `${entry.name} ${entry.deed} ${entry.count} ${entry.code}` : ''))).toEqual([
    'Ada approved 2 REQ-50', 'Ben approved 1 REQ-48', 'Ada rejected 1 REQ-47', 'Ada rejected 1 REQ-20',
  ]);
});

test('things of all kinds stand in the order in which they happened, the newest first', () => {
  const meeting = { id: 'm', title: 'Discovery', createdAt: at(1), startedAt: at(30), endedAt: null } as Schemas['MeetingListItem'];
  const run = { id: 'r', createdAt: at(39), startedAt: at(40), completedAt: at(41) } as Schemas['AiAnalysisRun'];
  const document = { id: 'f', createdAt: at(35), uploadedById: 'a' } as Schemas['Document'];
  const entries = activityOf({ ...NONE, meetings: [meeting], runs: [run], documents: [document] }, 3);
  expect(entries.map(({ id }) => id)).toEqual(['r', 'f', 'm started']);
});

const now = new Date(2026, 10, 24, 12);
const on = (day: number, fromStatus: Decision['fromStatus'], toStatus: Decision['toStatus']): Pick<Decision, 'at' | 'fromStatus' | 'toStatus'> =>
  ({ at: new Date(2026, 10, day, 9).toISOString(), fromStatus, toStatus });
const summary = (events: ReturnType<typeof on>[], isWhole: boolean): string[] =>
  decisionsByDay(events, isWhole, now, 4).map(({ day, approved, rejected, reopened }) => `${day.getDate()}: ${approved} ${rejected} ${reopened}`);

test('each of the last days has its decisions; an edit that changes no status is none, and a new item is not reopened', () => {
  const events = [
    on(24, 'NEEDS_REVIEW', 'APPROVED'), on(24, 'APPROVED', 'NEEDS_REVIEW'), on(23, 'NEEDS_REVIEW', 'REJECTED'),
    on(23, 'NEEDS_REVIEW', 'NEEDS_REVIEW'), on(23, null, 'NEEDS_REVIEW'), on(2, 'NEEDS_REVIEW', 'APPROVED'),
  ];
  expect(summary(events, true)).toEqual(['21: 0 0 0', '22: 0 0 0', '23: 0 1 0', '24: 1 0 1']);
});

test('a day of which decisions may be missing is left out', () => {
  expect(summary([on(24, 'NEEDS_REVIEW', 'APPROVED'), on(23, 'NEEDS_REVIEW', 'APPROVED')], false)).toEqual(['24: 1 0 0']);
});

test('a home that is left and entered again follows its meetings again', async () => {
  const meeting = { id: 'm', scheduledAt: at(0), createdAt: at(0) };
  vi.stubGlobal('fetch', async (request: Request) => {
    const isMeeting = request.url.includes('/meetings');
    return Response.json({ isSuccess: true, data: { items: isMeeting ? [meeting] : [], nextCursor: null, totalCount: 0 }, message: '', statusCode: 200, errors: [] });
  });
  const followed: string[] = [];
  const follow = (topic: string) => {
    followed.push(topic);
    return () => { followed.splice(followed.indexOf(topic), 1); };
  };
  const home = new HomeState({ path: { projectId: 'p' }, isAnalyst: false, on: () => () => undefined, follow } as unknown as Project);
  const end = home.start();
  await vi.waitFor(() => expect(followed).toEqual(['meeting:m']));
  end();
  expect(followed).toEqual([]);
  const endAgain = home.start();
  await vi.waitFor(() => expect(followed).toEqual(['meeting:m']));
  endAgain();
  vi.unstubAllGlobals();
});
