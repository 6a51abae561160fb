import { fireEvent, render, screen } from '@testing-library/svelte';
import { beforeEach, expect, test, vi } from 'vitest';
import { ApiError } from '../../shared/api/client';
import joinPage from '../../shared/words/join.en.json';
import recordings from '../../shared/words/recordings.en.json';
import { startLanguage } from '../../shared/words/text.svelte';
import * as operations from '../../shared/recording/operations';
import { Corrections } from '../../shared/recording/corrections.svelte';
import Transcript from '../../shared/recording/Transcript.svelte';
import { MeetingState, type Recording, type Snapshot } from '../../shared/recording/meeting';

const joinWords = { ...joinPage, ...recordings };
const INSTALL = 'Install it there with: colloquy models install whisper-tiny.en';

const recordingWith = (transcriptStatus: string): Recording => ({ id: 'r', status: 'READY', transcriptStatus, durationSeconds: 120 }) as unknown as Recording;
const segment = (index: number, given: object) => ({
  index, startMs: index * 61_000, endMs: index * 61_000 + 900, speaker: { participantId: null, name: 'Speaker 1' },
  text: `passage ${index}`, confidence: 0.9, heardText: null, correctedById: null, correctedAt: null, ...given,
});
const transcriptOf = (segments: unknown[]) => ({ recordingId: 'r', version: 1, language: 'en', engine: 'embedded', model: 'm', segments }) as never;
const versionWith = (given: object) => ({ number: 1, doneSeconds: 0, errorMessage: null, ...given }) as never;
const meetingWith = (scopes: string[]) => MeetingState.of({
  meeting: { id: 'm' }, participants: [{ id: 'ada', consent: { recordingConsent: true, scopes } }], recordings: [],
} as unknown as Snapshot);
const corrections = new Corrections();
const pageOf = (meeting: MeetingState | null) => ({ meeting, title: 'Discovery: with the clinic?', corrections, mayCorrect: false, turnedAway: vi.fn() });

const soon = () => new Promise((resolve) => setTimeout(resolve, 10));
const said = () => screen.getByRole('status').textContent;

beforeEach(() => startLanguage(joinWords, () => Promise.reject(new Error('not asked for'))));

test('each segment says when, who and what, and by a word whether it is uncertain', async () => {
  vi.spyOn(operations, 'readTranscript').mockResolvedValue(transcriptOf([
    segment(0, {}), segment(1, { confidence: 0.49, speaker: { participantId: 'p', name: 'Grace' } }),
    segment(2, { confidence: 0.2, correctedAt: '2026-01-01T00:00:00Z' }), segment(3, { confidence: 0.5 }),
  ]));
  render(Transcript, { page: pageOf(null), recording: recordingWith('READY') });
  await soon();
  const items = screen.getAllByRole('listitem').map((item) => item.textContent?.replace(/[\s\u2068\u2069]+/g, ' ').trim());
  expect(items).toEqual([
    '0:00 Speaker 1 passage 0', '1:01 Grace uncertain passage 1', '2:02 Speaker 1 corrected passage 2', '3:03 Speaker 1 passage 3',
  ]);
  expect(screen.getByText('passage 1').getAttribute('lang')).toBe('en');
  expect(screen.getByText(/hard to understand/)).toBeTruthy();
});

test('a transcript that waits says what for, in the words of the server', async () => {
  vi.spyOn(operations, 'newestTranscriptVersion').mockResolvedValue(versionWith({ errorMessage: INSTALL }));
  const read = vi.spyOn(operations, 'readTranscript');
  const { rerender } = render(Transcript, { page: pageOf(null), recording: recordingWith('WAITING_FOR_MODEL') });
  await soon();
  expect(said()).toBe(`The transcript is waiting for a speech recognition model. ${INSTALL}`);
  expect(read).not.toHaveBeenCalled();
  read.mockResolvedValue(transcriptOf([segment(0, {})]));
  await rerender({ page: pageOf(null), recording: recordingWith('READY') });
  await soon();
  expect([said(), screen.getAllByRole('listitem').length]).toEqual(['', 1]);
});

test('how far it is, why it failed and that nobody spoke are said; without speech recognition nothing is', async () => {
  const versions = vi.spyOn(operations, 'newestTranscriptVersion').mockResolvedValue(versionWith({ doneSeconds: 65 }));
  vi.spyOn(operations, 'readTranscript').mockResolvedValue(transcriptOf([]));
  const { rerender } = render(Transcript, { page: pageOf(null), recording: recordingWith('NONE') });
  expect([said(), versions.mock.calls.length]).toEqual(['', 0]);
  const becomes = async (status: string) => {
    await rerender({ page: pageOf(null), recording: recordingWith(status) });
    await soon();
    return said()?.replace(/[\u2068\u2069]/g, '');
  };
  expect(await becomes('PROCESSING')).toBe('The recording is being transcribed. 1:05 of 2:00 is done.');
  versions.mockResolvedValue(versionWith({ errorMessage: 'The recording can\'t be read: no sound.' }));
  expect(await becomes('FAILED')).toBe('The recording could not be transcribed. The recording can\'t be read: no sound.');
  expect(await becomes('READY')).toBe('No speech was recognised in this recording.');
  expect(screen.queryByRole('list')).toBeNull();
});

test('a withdrawn consent takes the transcript out of the page', async () => {
  const read = vi.spyOn(operations, 'readTranscript').mockResolvedValue(transcriptOf([segment(0, {})]));
  const recording = recordingWith('READY');
  const { rerender } = render(Transcript, { page: pageOf(meetingWith(['RECORDING', 'TRANSCRIPT'])), recording });
  await soon();
  expect(screen.getAllByRole('listitem').length).toBe(1);
  read.mockRejectedValue(new ApiError(409, [{ code: 'ConsentWithdrawn', field: null, reason: null, message: '' }]));
  await rerender({ page: pageOf(meetingWith([])), recording });
  await soon();
  expect(screen.queryByRole('list')).toBeNull();
  expect(said()).toBe(joinWords['error.ConsentWithdrawn']);
});

test('a transcript is downloaded in each format, under the name of the meeting', async () => {
  vi.spyOn(operations, 'readTranscript').mockResolvedValue(transcriptOf([segment(0, {})]));
  const fetched = vi.spyOn(globalThis, 'fetch').mockImplementation(() => Promise.resolve(new Response('WEBVTT')));
  const saved: { name: string; content: Promise<string> }[] = [];
  const contents: Blob[] = [];
  vi.spyOn(URL, 'createObjectURL').mockImplementation((content) => `blob:${contents.push(content as Blob)}`);
  vi.spyOn(HTMLAnchorElement.prototype, 'click').mockImplementation(function (this: HTMLAnchorElement) {
    saved.push({ name: this.download, content: contents.at(-1)?.text() ?? Promise.resolve('') });
  });
  render(Transcript, { page: pageOf(null), recording: recordingWith('READY') });
  await soon();
  for (const name of ['VTT', 'SRT', 'Text', 'JSON']) {
    await fireEvent.click(screen.getByText(name, { selector: 'button' }));
    await soon();
  }
  expect(saved.map(({ name }) => name)).toEqual(['vtt', 'srt', 'txt', 'json'].map((ending) => `Discovery  with the clinic.${ending}`));
  expect(fetched.mock.calls.map(([request]) => new URL((request as Request).url).search)).toEqual(['?format=VTT', '?format=SRT', '?format=TEXT']);
  expect(await saved[0]?.content).toBe('WEBVTT');
  expect(JSON.parse((await saved[3]?.content) ?? '')).toMatchObject({ recordingId: 'r', segments: [{ text: 'passage 0' }] });

  fetched.mockImplementation(() => Promise.resolve(Response.json({ errors: [{ code: 'ConsentWithdrawn', field: null, reason: null, message: '' }] }, { status: 409 })));
  await fireEvent.click(screen.getByRole('button', { name: /Download the transcript as .VTT/ }));
  await soon();
  expect(screen.getByRole('alert').textContent).toBe(joinWords['error.ConsentWithdrawn']);
});
