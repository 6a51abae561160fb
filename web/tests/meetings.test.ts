// A meeting that is open in the console, while its answers and its events come in any order.
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { openMeeting } from '../console/meetings/meeting.svelte';
import type { Project } from '../console/project/project.svelte';
import type { TranscriptSegment } from '../shared/recording/transcript.svelte';
import type { Listener } from '../shared/topics/socket';

const page = (items: object[]): object => ({ items, nextCursor: null, totalCount: items.length });
const settled = (): Promise<void> => new Promise((resolve) => { setTimeout(resolve, 150); });

/** A project that tells what the test says. */
function project() {
  let listener: Listener | undefined;
  const made = {
    id: 'p', path: { projectId: 'p' }, isManager: false, isAnalyst: true, isActive: true, canWork: true,
    on: () => () => undefined,
    follow: (_: string, wanted: Listener) => { listener = wanted; return () => undefined; },
  } as unknown as Project;
  const tell = (event: string, data: object): void => listener?.event({ event, offset: 1, at: '', data });
  return { made, tell };
}

/** Who takes part, as the server has it; an answer that is held back says what was true when it was asked for. */
let present: object[] = [];
let release: (() => void) | null = null;
let isHeld = false;
let asked = 0;

beforeEach(() => {
  [present, release, isHeld, asked] = [[], null, false, 0];
  vi.stubGlobal('fetch', async (request: Request) => {
    const { pathname } = new URL(request.url);
    const data = pathname.endsWith('/participants') ? page([...present]) : pathname.endsWith('/recordings') ? page([]) : { id: 'm', title: 'Discovery', myRole: 'PARTICIPANT' };
    if (pathname.endsWith('/participants')) asked += 1;
    if (pathname.endsWith('/participants') && isHeld) await new Promise<void>((resolve) => { release = resolve; });
    return Response.json({ isSuccess: true, data, message: '', statusCode: 200, errors: [] });
  });
});
afterEach(() => vi.unstubAllGlobals());

const names = (open: ReturnType<typeof openMeeting>): string[] => open.participants.map(({ displayName }) => displayName);
const ada = { id: 'ada', displayName: 'Ada' };
const bo = { id: 'bo', displayName: 'Bo' };

test('an answer that an event has overtaken is not shown: it is asked again', async () => {
  present = [ada];
  const { made, tell } = project();
  const open = openMeeting(made, 'overtaken');
  const end = open.start();
  await settled();
  expect(names(open)).toEqual(['Ada']);
  isHeld = true;
  const loaded = open.load();
  await settled();
  isHeld = false;
  present = [ada, bo];
  tell('participant.joined', bo);
  release?.();
  await loaded;
  expect(names(open)).toEqual(['Ada', 'Bo']);
  expect(asked).toBe(2);
  await settled();
  expect(asked).toBe(3);
  expect(names(open)).toEqual(['Ada', 'Bo']);
  end();
});

test('the first answer is shown although it was overtaken, and then the next one', async () => {
  [present, isHeld] = [[ada], true];
  const { made, tell } = project();
  const open = openMeeting(made, 'first');
  const end = open.start();
  await settled();
  isHeld = false;
  present = [ada, bo];
  tell('participant.joined', bo);
  release?.();
  await vi.waitFor(() => expect(names(open)).toEqual(['Ada']));
  await settled();
  expect(names(open)).toEqual(['Ada', 'Bo']);
  end();
});

test('what was begun in a meeting goes on where its project is opened again', () => {
  const segment = { recordingId: 'r', index: 0, text: 'heard', speaker: { participantId: null, name: 'Speaker 1' } } as unknown as TranscriptSegment;
  const before = openMeeting(project().made, 'left');
  before.corrections.begin(1, segment);
  const after = openMeeting(project().made, 'left');
  expect(after).not.toBe(before);
  expect(after.corrections.draft(1, segment)).toBe(before.corrections.draft(1, segment));
  expect(after.corrections.draft(1, segment)).toBeDefined();
  expect(after.importing).toBe(before.importing);
  expect(openMeeting(project().made, 'another').importing).not.toBe(before.importing);
});
