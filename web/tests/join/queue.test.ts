import { beforeEach, expect, test } from 'vitest';
import { ApiError } from '../../shared/api/error';
import { UploadQueue, type QueueState } from '../../join/recording/queue';
import { MemoryStore, type StoredRecording } from '../../join/recording/store';
import { digestOf, UploadTransport } from '../../shared/recording/transport';
import { FakeServer, ManualClock, settled } from './upload-server';

const RECORDING: StoredRecording = { id: 'r', meetingId: 'm', nextIndex: 0, stoppedAfterSeconds: null };
const slice = (...bytes: number[]): ArrayBuffer => new Uint8Array(bytes).buffer;

let server: FakeServer;
let clock: ManualClock;
let store: MemoryStore;
let state: QueueState;

const open = (recording = RECORDING): UploadQueue =>
  new UploadQueue(recording, store, new UploadTransport(server.fetch, (path) => `http://server${path}`), clock, (now) => { state = now; });

beforeEach(() => {
  server = new FakeServer();
  clock = new ManualClock();
  store = new MemoryStore();
});

test('chunks are sent with their digest and time, and the recording is stopped with the last of them', async () => {
  const queue = open();
  await store.putRecording(RECORDING);
  for (let index = 0; index < 3; index += 1) await queue.add(slice(index), index * 5_000, index * 5_000 + 5_000);
  await queue.finish(15);
  await settled();
  expect([...server.chunks.keys()].sort()).toEqual([0, 1, 2]);
  // They are sent in parallel: whose digest is ready first comes first.
  const headersOf = (index: number) => server.requests.find((request) => request.url.endsWith(`/chunks/${index}`))?.headers;
  expect(headersOf(0)?.get('Content-Digest')).toBe(await digestOf(slice(0)));
  expect(headersOf(1)?.get('X-Chunk-Started-Ms')).toBe('5000');
  expect(server.stopped).toEqual({ durationSeconds: 15, lastChunkIndex: 2 });
  expect(state).toMatchObject({ unsavedMs: 0, isDone: true });
  expect(await store.recordings('m')).toEqual([]);
  expect(await store.chunks('r')).toEqual([]);
});

test('an answer that is lost makes the same bytes be sent again', async () => {
  server.losesAnswers = 1;
  const queue = open();
  await queue.add(slice(7), 0, 5_000);
  await settled();
  expect(state).toMatchObject({ unsavedMs: 5_000, isOffline: true });
  await clock.advance(2_000);
  expect(server.puts).toEqual([0, 0]);
  expect(state).toMatchObject({ unsavedMs: 0, isOffline: false });
});

test('at most three are on their way, and they may arrive in any order', async () => {
  server.holds = true;
  const queue = open();
  for (let index = 0; index < 5; index += 1) await queue.add(slice(index), index, index + 1);
  await settled();
  expect(server.held.length).toBe(3);
  server.holds = false;
  for (const answer of server.held.reverse()) answer();
  await queue.finish(5);
  await settled();
  expect([...server.chunks.keys()].sort()).toEqual([0, 1, 2, 3, 4]);
  expect(server.stopped?.lastChunkIndex).toBe(4);
});

test('the recording is stopped at once, and complete when the last chunk is acknowledged', async () => {
  server.holds = true;
  const queue = open();
  for (let index = 0; index < 4; index += 1) await queue.add(slice(index), index * 1_000, index * 1_000 + 1_000);
  await queue.finish(4);
  await settled();
  expect(server.stopped).toEqual({ durationSeconds: 4, lastChunkIndex: 3 });
  expect([server.chunks.size, state.unsavedMs, state.isDone]).toEqual([0, 4_000, false]);
  server.holds = false;
  for (const answer of server.held) answer();
  await settled();
  expect([server.chunks.size, state.unsavedMs, state.isDone]).toEqual([4, 0, true]);
  expect(server.requests.filter(({ method }) => method === 'POST').length).toBe(1);
});

test('offline nothing is lost; when the network is back it does not wait', async () => {
  server.isAway = true;
  const queue = open();
  for (let index = 0; index < 4; index += 1) await queue.add(slice(index), index * 1_000, index * 1_000 + 1_000);
  await queue.finish(4);
  await clock.advance(60_000);
  expect(state).toMatchObject({ unsavedMs: 4_000, isOffline: true, isDone: false });
  expect((await store.chunks('r')).length).toBe(4);
  server.isAway = false;
  queue.hurry();
  await settled();
  expect(state.isDone).toBe(true);
});

test('Retry-After is respected', async () => {
  server.refuses = { status: 429, code: 'TooManyRequests', retryAfter: 60, times: 1 };
  const queue = open();
  await queue.add(slice(1), 0, 5_000);
  await clock.advance(59_000);
  expect(server.chunks.size).toBe(0);
  await clock.advance(2_000);
  expect(server.chunks.size).toBe(1);
});

test('a digest that does not match on arrival makes it be sent again', async () => {
  server.refuses = { status: 422, code: 'DigestMismatch', times: 2 };
  const queue = open();
  await queue.add(slice(1), 0, 5_000);
  await clock.advance(10_000);
  expect(server.puts).toEqual([0, 0, 0]);
  expect(state.unsavedMs).toBe(0);
});

test('after a reload it goes on with what is missing, and stops what the earlier page did not stop', async () => {
  server.isAway = true;
  const before = open();
  await store.putRecording(RECORDING);
  for (let index = 0; index < 3; index += 1) await before.add(slice(index), index * 5_000, index * 5_000 + 5_000);
  await settled();
  server.isAway = false;
  // The server has one of them: the answer was lost.
  server.chunks.set(1, slice(1));
  const [left] = await store.recordings('m');
  await open(left).resume();
  await settled();
  expect(server.puts.sort()).toEqual([0, 2]);
  expect(server.stopped).toEqual({ durationSeconds: 15, lastChunkIndex: 2 });
  expect(await store.recordings('m')).toEqual([]);
});

test('409 for a chunk that the server has counts as acknowledged; for one that it has not, the reader is told', async () => {
  server.chunks.set(0, slice(9));
  const queue = open();
  await queue.add(slice(1), 0, 5_000);
  await settled();
  expect(state).toMatchObject({ unsavedMs: 0, refusal: null });
  server.refuses = { status: 409, code: 'InvalidState', times: 9 };
  await queue.add(slice(2), 5_000, 10_000);
  await settled();
  expect(state.refusal).toBeInstanceOf(ApiError);
  expect((await store.chunks('r')).length).toBe(1);
  await queue.discard();
  expect(await store.chunks('r')).toEqual([]);
});

test('what was recorded in a pause goes without its sound, so that no index is left out', async () => {
  server.pauses = [{ from: '2026-01-01T00:00:03Z', to: null }];
  server.refuses = { status: 409, code: 'RecordingPaused', times: 1 };
  const queue = open();
  await queue.add(slice(1, 2, 3), 0, 5_000);
  await settled();
  expect(server.chunks.get(0)?.byteLength).toBe(0);
  expect(state.unsavedMs).toBe(0);
});

test('a device that can store nothing still sends', async () => {
  store.putChunk = () => Promise.reject(new Error('full'));
  const queue = open();
  await queue.add(slice(1), 0, 5_000);
  await queue.finish(5);
  await settled();
  expect(state.isDone).toBe(true);
});

test('a recording that was deleted ends the upload', async () => {
  server.refuses = { status: 404, code: 'NotFound', times: 9 };
  const queue = open();
  await queue.add(slice(1), 0, 5_000);
  await settled();
  expect(state).toMatchObject({ unsavedMs: 0, isDone: true, refusal: null });
});
