// What the home of a project says of the past: one list of what happened, and the decisions of each day.
import { render, screen } from '@testing-library/svelte';
import { expect, test, vi } from 'vitest';
import { activityOf, type Found } from '../../console/home/activity';
import { decisionsByDay } from '../../console/home/decisions';
import { HomeState } from '../../console/home/home.svelte';
import type { Project } from '../../console/project/project.svelte';
import Waiting from '../../console/home/Waiting.svelte';
import english from '../../console/words/english';
import type { Schemas } from '../../shared/api/client';
import { startLanguage } from '../../shared/words/text.svelte';
import { PairServer, pairOf } from '../pairs';

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

/** What the home says that waits, of pairs alone. */
async function saysOfPairs(pairs: Schemas['ItemPair'][], canWork = true): Promise<string> {
  await startLanguage(english, () => Promise.resolve({ default: {} }));
  const server = new PairServer(pairs);
  vi.stubGlobal('fetch', (request: Request) => (request.url.includes('/item-pairs') ? server.fetch(request)
    : Promise.resolve(Response.json({ isSuccess: true, data: { items: [], nextCursor: null, totalCount: 0 }, errors: [] }))));
  const project = { id: 'p', path: { projectId: 'p' }, canWork, isAnalyst: canWork, on: () => () => undefined, follow: () => () => undefined } as unknown as Project;
  const home = new HomeState(project);
  const end = home.start();
  await vi.waitFor(() => expect(home.isLoaded).toBe(true));
  const { unmount } = render(Waiting, { home });
  const words = screen.queryAllByRole('link').map((link) => `${link.textContent} ${link.getAttribute('href')}`).join();
  unmount();
  end();
  vi.unstubAllGlobals();
  return words;
}

test('strong pairs wait for who may settle them, those with an approved requirement first', async () => {
  const pairs = [pairOf('1', '2', {}, ['APPROVED', 'NEEDS_REVIEW']), pairOf('3', '4'), pairOf('5', '6', { strength: 'LOW' })];
  expect(await saysOfPairs(pairs)).toBe('1 possible contradiction or repetition with an approved requirement; 2 in all /projects/p/conflicts');
  expect(await saysOfPairs(pairs.slice(1))).toBe('1 possible contradiction or repetition /projects/p/conflicts');
  expect([await saysOfPairs([]), await saysOfPairs(pairs, false)]).toEqual(['', '']);
});

test('of very many pairs it is said how many at least are with an approved requirement', async () => {
  const pairs = Array.from({ length: 600 }, (_, index) => pairOf(`${index}`, 'other', {}, index % 300 === 0 ? ['APPROVED', 'NEEDS_REVIEW'] : ['NEEDS_REVIEW', 'NEEDS_REVIEW']));
  expect(await saysOfPairs(pairs)).toContain('at least 2 of 600 possible');
});
