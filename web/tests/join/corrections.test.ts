import { fireEvent, render, screen, within } from '@testing-library/svelte';
import { afterEach, beforeEach, expect, test, vi, type Mock } from 'vitest';
import { ApiError } from '../../shared/api/client';
import joinPage from '../../shared/words/join.en.json';
import recordings from '../../shared/words/recordings.en.json';
import { startLanguage } from '../../shared/words/text.svelte';
import * as operations from '../../shared/recording/operations';
import { Corrections, correctionOf, Draft, speakersOf } from '../../shared/recording/corrections.svelte';
import Transcript from '../../shared/recording/Transcript.svelte';
import type { TranscriptSegment } from '../../shared/recording/transcript.svelte';
import { MeetingState, type Recording, type Snapshot } from '../../shared/recording/meeting';

const joinWords = { ...joinPage, ...recordings };
const recording = { id: 'r', status: 'READY', transcriptStatus: 'READY', durationSeconds: 120 } as unknown as Recording;
const segment = (index: number, given: object = {}): TranscriptSegment => ({
  recordingId: 'r', index, startMs: index * 61_000, endMs: index * 61_000 + 900, speaker: { participantId: null, name: 'Speaker 1' },
  text: `passage ${index}`, confidence: 0.9, heardText: null, correctedById: null, correctedAt: null, ...given,
});
const transcript = (version: number, ...segments: TranscriptSegment[]) =>
  ({ recordingId: 'r', version, language: 'en', engine: 'embedded', model: 'm', segments, hasSound: true });
const meeting = MeetingState.of({
  meeting: { id: 'm' }, recordings: [],
  participants: [{ id: 'ada', displayName: 'Ada', consent: { scopes: [] } }, { id: 'bo', displayName: 'Bo', consent: { scopes: [] } }],
} as unknown as Snapshot);
const refused = (status: number, code: string) => new ApiError(status, [{ code, field: null, reason: null, message: code }]);
const soon = () => new Promise((resolve) => setTimeout(resolve, 10));

let page: { meeting: MeetingState; title: string; corrections: Corrections; mayCorrect: boolean; turnedAway: Mock<(error: unknown) => void> };

/** The transcript, with the editor of its second segment open. */
async function opened(): Promise<void> {
  vi.spyOn(operations, 'readTranscript').mockResolvedValue(transcript(1, segment(0), segment(1)));
  render(Transcript, { page, recording });
  await soon();
  await fireEvent.click(button(/^Correct what was said at .?1:01/));
}
const button = (name: string | RegExp) => screen.getByRole('button', { name });
const area = () => screen.getByRole<HTMLTextAreaElement>('textbox', { name: 'What was said' });
const write = (text: string) => fireEvent.input(area(), { target: { value: text } });
const choose = (value: string) => fireEvent.change(screen.getByRole('combobox'), { target: { value } });
const save = async () => {
  await fireEvent.click(button('Save the correction'));
  await soon();
};

beforeEach(async () => {
  await startLanguage(joinWords, () => Promise.reject(new Error('not asked for')));
  page = { meeting, title: 'T', corrections: new Corrections(), mayCorrect: true, turnedAway: vi.fn() };
});

afterEach(() => page.corrections.clear());

test('a correction asks for what was changed and nothing else', () => {
  const [current, draft] = [segment(1), new Draft(1, segment(1))];
  expect(correctionOf(draft, current)).toBeNull();
  draft.write(' the portal shall ', current);
  expect(correctionOf(draft, current)).toEqual({ text: 'the portal shall', version: 1 });
  draft.speaker = 'participant:ada';
  draft.everywhere = true;
  expect(correctionOf(draft, current)).toEqual({ text: 'the portal shall', speaker: { participantId: 'ada', everywhere: true }, version: 1 });
  draft.speaker = 'other';
  expect(correctionOf(draft, current)).toBe('transcript.nameRequired');
  draft.name = ' Dr. No: himself ';
  draft.everywhere = false;
  expect(correctionOf(draft, current)).toMatchObject({ speaker: { name: 'Dr. No: himself', everywhere: false } });
  draft.speaker = 'name:Dr. No: himself';
  expect(correctionOf(draft, current)).toMatchObject({ speaker: { name: 'Dr. No: himself' } });
  draft.write('  ', current);
  expect(correctionOf(draft, current)).toBe('transcript.textRequired');
});

test('a speaker is a participant or somebody whom the transcript names, each once', () => {
  const named = (participantId: string | null, name: string) => ({ speaker: { participantId, name } });
  const segments = [segment(0), segment(1), segment(2, named('ada', 'Ada')), segment(3, named(null, 'Ada')), segment(4, named('gone', 'Cy'))];
  expect([...speakersOf(segments, meeting.participants.values()).keys()])
    .toEqual(['participant:ada', 'participant:bo', 'name:Speaker 1', 'name:Ada', 'participant:gone']);
});

test('a segment is corrected in its place; what was heard at first stays in sight, and the focus returns', async () => {
  await opened();
  expect(document.activeElement).toBe(area());
  expect(area().value).toBe('passage 1');
  const corrected = segment(1, { text: 'message 1', heardText: 'passage 1', correctedAt: '2026-01-01T00:00:00Z', speaker: { participantId: 'bo', name: 'Bo' } });
  const correct = vi.spyOn(operations, 'correctSegment').mockResolvedValue(corrected);
  await write('message 1');
  await choose('participant:bo');
  await save();
  expect(correct).toHaveBeenCalledWith('r', 1, { text: 'message 1', speaker: { participantId: 'bo', everywhere: false }, version: 1 });
  expect(screen.queryByRole('textbox')).toBeNull();
  const item = screen.getAllByRole('listitem')[1]?.textContent?.replace(/[\s\u2068\u2069]+/g, ' ').trim();
  expect(item).toBe('1:01 Bo corrected message 1 Heard at first: passage 1');
  expect(document.activeElement).toBe(button(/^Correct what was said at .?1:01/));
});

test('whoever may not correct is offered nothing', async () => {
  page.mayCorrect = false;
  vi.spyOn(operations, 'readTranscript').mockResolvedValue(transcript(1, segment(0)));
  render(Transcript, { page, recording });
  await soon();
  expect(screen.queryByRole('button', { name: /Correct/ })).toBeNull();
});

test.each([
  [refused(403, 'Forbidden'), joinWords['transcript.mayNot']], [refused(404, 'NotFound'), joinWords['transcript.gone']],
  [refused(409, 'Conflict'), joinWords['transcript.gone']],
  [refused(409, 'ConsentWithdrawn'), joinWords['error.ConsentWithdrawn']], [ApiError.offline(), 'The server does not answer. Check your connection.'],
])('a refusal loses nothing of what was typed: %s', async (error, said) => {
  await opened();
  vi.spyOn(operations, 'correctSegment').mockRejectedValue(error);
  await write('message 1');
  await save();
  expect(within(screen.getByRole('form')).getByRole('alert').textContent).toBe(said);
  expect(area().value).toBe('message 1');
});

test('when the session has ended, what was typed waits for the log-in', async () => {
  await opened();
  vi.spyOn(operations, 'correctSegment').mockRejectedValue(refused(401, 'Unauthorized'));
  await write('message 1');
  await save();
  expect(page.turnedAway).toHaveBeenCalledOnce();
  expect(page.corrections.draft(1, segment(1))?.text).toBe('message 1');
});

test('a change by somebody else is shown beside what is being written, and takes over what is not', async () => {
  await opened();
  const read = vi.mocked(operations.readTranscript);
  read.mockResolvedValue(transcript(1, segment(0, { text: 'other 0' }), segment(1, { text: 'other 1' })));
  page.corrections.changed('r');
  await soon();
  expect(screen.getByText('other 0')).toBeTruthy();
  expect(area().value).toBe('other 1');
  await write('message 1');
  read.mockResolvedValue(transcript(1, segment(0), segment(1, { text: 'third 1' })));
  page.corrections.missedChanges();
  await soon();
  expect(area().value).toBe('message 1');
  expect(within(screen.getByRole('form')).getByRole('status').textContent?.replace(/[\u2068\u2069]/g, '')).toMatch(/It now says: “third 1”/);
});

test('a new version of the transcript leaves what was written for the old one to be copied', async () => {
  await opened();
  await write('message 1');
  vi.mocked(operations.readTranscript).mockResolvedValue(transcript(2, segment(0, { text: 'anew' }), segment(1, { text: 'anew too' })));
  page.corrections.changed('r');
  await soon();
  expect(screen.getByText('anew too')).toBeTruthy();
  const left = screen.getByRole<HTMLTextAreaElement>('textbox', { name: /The transcript was made anew/ });
  expect([left.value, left.readOnly]).toEqual(['message 1', true]);
  await fireEvent.click(button('Discard what I wrote'));
  expect(screen.queryByRole('textbox')).toBeNull();
});

test('a page with something unsaved asks before it closes', async () => {
  await opened();
  expect(dispatchEvent(new Event('beforeunload', { cancelable: true }))).toBe(true);
  await write('message 1');
  expect(dispatchEvent(new Event('beforeunload', { cancelable: true }))).toBe(false);
  await fireEvent.click(button('Cancel'));
  expect(dispatchEvent(new Event('beforeunload', { cancelable: true }))).toBe(true);
});
