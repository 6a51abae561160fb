import { fireEvent, render, screen } from '@testing-library/svelte';
import { beforeEach, expect, test, vi } from 'vitest';
import { ApiError } from '../../shared/api/client';
import joinPage from '../../shared/words/join.en.json';
import recordings from '../../shared/words/recordings.en.json';
import { startLanguage } from '../../shared/words/text.svelte';
import * as operations from '../../shared/recording/operations';
import DeleteRecording from '../../shared/recording/DeleteRecording.svelte';
import { FileUpload, recordingTypeOf, UnreadableFile, type UploadState } from '../../shared/recording/file-upload';
import { RecordingImport } from '../../shared/recording/import.svelte';
import ImportRecording from '../../shared/recording/ImportRecording.svelte';
import { digestOf, UploadTransport } from '../../shared/recording/transport';
import { MeetingState, type Snapshot } from '../../shared/recording/meeting';
import { ManualClock, settled } from './upload-server';

const joinWords = { ...joinPage, ...recordings };
const MEGABYTE = 1024 * 1024;

/** Takes the parts of a file as the server does: each goes on where the ones before it end. */
class FileServer {
  stored = new Uint8Array();
  total = 0;
  isStopped = false;
  isAway = false;
  /** So many answers get lost after the part was stored. */
  losesAnswers = 0;
  refuses: { status: number; code: string } | null = null;
  readonly puts: number[] = [];

  readonly fetch = async (request: Request): Promise<Response> => {
    if (this.isAway) throw new TypeError('Failed to fetch');
    if (request.method === 'PUT') return this.#put(request);
    if (request.method === 'POST') {
      if (this.stored.length < this.total) return refusal(409, 'InvalidState');
      this.isStopped = true;
    }
    return this.#status();
  };

  async #put(request: Request): Promise<Response> {
    if (this.refuses) return refusal(this.refuses.status, this.refuses.code);
    const [start = 0, end = 0, total = 0] = request.headers.get('Content-Range')?.match(/\d+/g)?.map(Number) ?? [];
    const bytes = await request.arrayBuffer();
    if (start !== this.stored.length) return refusal(409, 'InvalidState');
    if (end - start + 1 !== bytes.byteLength || request.headers.get('Content-Digest') !== (await digestOf(bytes))) return refusal(422, 'DigestMismatch');
    this.puts.push(start);
    this.total = total;
    this.stored = new Uint8Array([...this.stored, ...new Uint8Array(bytes)]);
    if (this.losesAnswers-- > 0) throw new TypeError('Failed to fetch');
    return this.#status();
  }

  #status(): Response {
    return Response.json({ data: { id: 'r', status: this.isStopped ? 'FINALIZING' : 'ACTIVE', sizeBytes: this.stored.length } });
  }
}
const refusal = (status: number, code: string): Response => Response.json({ errors: [{ code, message: code, field: null, reason: null }] }, { status });
const refused = (status: number, code: string, field: string | null = null) => new ApiError(status, [{ code, field, reason: null, message: code }]);

let server: FileServer;
let clock: ManualClock;
let state: UploadState;
const uploadOf = (file: Blob): FileUpload =>
  new FileUpload('r', file, new UploadTransport(server.fetch, (path) => `http://server${path}`), clock, (now) => { state = now; });
const bytes = new Uint8Array(3.5 * MEGABYTE).map((_, index) => index % 251);

beforeEach(async () => {
  localStorage.clear();
  server = new FileServer();
  clock = new ManualClock();
  await startLanguage(joinWords, () => Promise.reject(new Error('not asked for')));
});

test('a file arrives in slices, and the recording is stopped once the last is there', async () => {
  await uploadOf(new Blob([bytes])).run();
  expect(server.puts).toEqual([0, MEGABYTE, 3 * MEGABYTE]);
  expect(await digestOf(server.stored.buffer)).toBe(await digestOf(bytes.buffer));
  expect(state).toEqual({ sentBytes: bytes.length, isOffline: false });
  expect(server.isStopped).toBe(true);
});

test('after a lost connection it goes on where the server says, also if that has more than it could say', async () => {
  server.losesAnswers = 1;
  const ended = uploadOf(new Blob([bytes])).run();
  await settled();
  expect(state).toEqual({ sentBytes: 0, isOffline: true });
  await clock.advance(2_000);
  await ended;
  expect(server.puts[1]).toBe(MEGABYTE);
  expect([server.stored.length, server.isStopped, state.isOffline]).toEqual([bytes.length, true, false]);
});

test('what is refused is thrown, a cancelled upload ends, and so does one whose file is gone', async () => {
  server.refuses = { status: 415, code: 'UnsupportedMediaType' };
  await expect(uploadOf(new Blob([bytes])).run()).rejects.toMatchObject({ status: 415 });
  server.isAway = true;
  const cancelled = uploadOf(new Blob([bytes]));
  const ended = cancelled.run();
  await settled();
  cancelled.cancel();
  await clock.advance(2_000);
  await ended;
  server.isAway = false;
  const gone = { size: 9, slice: () => ({ arrayBuffer: () => Promise.reject(new DOMException('', 'NotReadableError')) }) };
  await expect(uploadOf(gone as unknown as Blob).run()).rejects.toBeInstanceOf(UnreadableFile);
});

test.each([
  ['talk.webm', 'video/webm', 'video/webm'], ['talk.mp3', 'audio/mp3', 'audio/mpeg'], ['Talk.M4A', '', 'audio/mp4'],
  ['talk.opus', 'application/ogg; codecs=opus', 'audio/ogg'], ['talk.wav', 'audio/x-wav', 'audio/wav'], ['talk.docx', 'application/msword', undefined],
])('%s (%s) is uploaded as %s', (name, type, expected) => {
  expect(recordingTypeOf({ name, type })).toBe(expected);
});

const meetingWith = (joinedAt: string | null, recordings: object[] = []) => MeetingState.of({
  meeting: { id: 'm', status: 'ENDED' }, recordings, participants: [{ id: 'ada', displayName: 'Ada', joinedAt }, { id: 'bo', displayName: 'Bo', joinedAt: null }],
} as unknown as Snapshot);
const joined = meetingWith('2026-01-01T00:00:00Z');
const unfinished = { id: 'r', status: 'ACTIVE', uploadMode: 'SINGLE_FILE', trackParticipantId: null };
const file = new File(['OggS'], 'talk.ogg', { type: 'audio/ogg' });
const said = () => screen.getByRole('alert').textContent?.replace(/[\u2068\u2069]/g, '');

async function chooseFile(chosen: File): Promise<void> {
  const input = document.querySelector<HTMLInputElement>('input[type="file"]');
  if (!input) throw new Error('there is nothing to choose a file with');
  Object.defineProperty(input, 'files', { value: [chosen], configurable: true });
  await fireEvent.change(input);
  await settled();
}

test.each([
  [refused(409, 'ConsentRequired', 'participants.bo'), 'A recording can be uploaded once everyone who was in the meeting has agreed. Still missing: Bo.'],
  [refused(409, 'Conflict'), joinWords['error.Conflict']], [refused(413, 'PayloadTooLarge'), joinWords['error.PayloadTooLarge']],
])('a refusal is explained: %s', async (error, sentence) => {
  vi.spyOn(operations, 'startImport').mockRejectedValue(error);
  render(ImportRecording, { page: { importing: new RecordingImport('m'), meeting: joined } });
  await chooseFile(file);
  expect(said()).toBe(sentence);
  expect(screen.getByRole('button', { name: 'Upload a recording' })).toBeTruthy();
});

test('a file that the server takes nothing of leaves no recording behind', async () => {
  vi.spyOn(operations, 'startImport').mockResolvedValue({ id: 'r' } as never);
  const removed = vi.spyOn(operations, 'deleteRecording').mockResolvedValue({} as never);
  vi.spyOn(globalThis, 'fetch').mockImplementation((request) => {
    if ((request as Request).method === 'PUT') return Promise.resolve(refusal(415, 'UnsupportedMediaType'));
    return Promise.resolve(Response.json({ data: { id: 'r', sizeBytes: 0 } }));
  });
  render(ImportRecording, { page: { importing: new RecordingImport('m'), meeting: joined } });
  await chooseFile(file);
  // The file is read first, for which no number of turns is enough.
  await expect.poll(() => removed.mock.calls).toEqual([['r']]);
  await expect.poll(said).toBe(joinWords['error.UnsupportedMediaType']);
  await chooseFile(new File(['x'], 'notes.docx'));
  expect(said()).toBe(joinWords['import.fault.unknownType']);
  await chooseFile(new File([], 'talk.ogg'));
  expect(said()).toBe(joinWords['import.fault.empty']);
});

test('where nobody joined the host declares first that everyone has agreed', async () => {
  const started = vi.spyOn(operations, 'startImport').mockRejectedValue(refused(409, 'Conflict'));
  const opened = vi.spyOn(HTMLInputElement.prototype, 'click');
  render(ImportRecording, { page: { importing: new RecordingImport('m'), meeting: meetingWith(null) } });
  await fireEvent.click(screen.getByRole('button'));
  expect(said()).toBe(joinWords['import.declarationMissing']);
  expect(opened).not.toHaveBeenCalled();
  expect(document.activeElement).toBe(screen.getByRole('checkbox'));
  await fireEvent.click(screen.getByRole('checkbox'));
  await fireEvent.click(screen.getByRole('button'));
  await chooseFile(file);
  expect(started).toHaveBeenCalledWith('m', 'audio/ogg', joinWords['import.declaration']);
});

test('an upload that a reload cut off goes on with the same file, and with no other', async () => {
  const started = vi.spyOn(operations, 'startImport').mockResolvedValue({ id: 'r' } as never);
  const fetched = vi.spyOn(globalThis, 'fetch').mockImplementation((request) => server.fetch(request as Request));
  server.refuses = { status: 409, code: 'RecordingPaused' };
  render(ImportRecording, { page: { importing: new RecordingImport('m'), meeting: joined } });
  await chooseFile(file);
  await expect.poll(said).toBe(joinWords['error.RecordingPaused']);
  document.body.replaceChildren();

  [server.refuses, server.stored, server.total] = [null, new Uint8Array(await file.slice(0, 2).arrayBuffer()), 4];
  render(ImportRecording, { page: { importing: new RecordingImport('m'), meeting: meetingWith('2026-01-01T00:00:00Z', [unfinished]) } });
  fetched.mockClear();
  await chooseFile(new File(['OggS!'], 'talk.ogg', { type: 'audio/ogg' }));
  expect(said()).toBe(joinWords['import.fault.otherFile']);
  expect(fetched).not.toHaveBeenCalled();
  await chooseFile(file);
  await expect.poll(() => [server.puts, server.isStopped, localStorage.getItem('colloquy.import.r')]).toEqual([[2], true, null]);
  expect(started).toHaveBeenCalledOnce();
});

test('a recording is deleted after another question, and a refusal is said', async () => {
  const remove = vi.spyOn(operations, 'deleteRecording').mockRejectedValueOnce(refused(409, 'ProjectArchived')).mockResolvedValue({} as never);
  const ondeleted = vi.fn();
  render(DeleteRecording, { recordingId: 'r', about: 'Everyone: Monday', ondeleted });
  await fireEvent.click(screen.getByRole('button', { name: /^Delete .?Everyone: Monday/ }));
  expect(remove).not.toHaveBeenCalled();
  await fireEvent.click(screen.getByText('Delete', { selector: 'dialog button' }));
  await settled();
  expect(said()).toBe(joinWords['error.ProjectArchived']);
  await fireEvent.click(screen.getByText('Delete', { selector: 'dialog button' }));
  await settled();
  expect([remove.mock.calls, ondeleted.mock.calls.length]).toEqual([[['r'], ['r']], 1]);
});

test('a file that is uploaded while a meeting is held is not what is recorded of it', () => {
  const state = meetingWith(null, [unfinished]);
  expect(state.recordingState.kind).toBe('none');
  expect(state.fold({ event: 'recording.started', data: { id: 's', status: 'ACTIVE', uploadMode: 'CHUNKED' } }).recordedNow.map(({ id }) => id)).toEqual(['s']);
});
