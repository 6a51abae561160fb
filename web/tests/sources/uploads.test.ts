// Files on their way into a project: what is refused, sent, repeated and stopped.
import { afterEach, expect, test, vi } from 'vitest';
import { MOST_BYTES, refusalOf, sha256 } from '../../console/documents/acceptance';
import type { ToSend } from '../../console/documents/send';
import { Uploads, type Transport } from '../../console/documents/uploads.svelte';
import { ApiError, type Schemas } from '../../shared/api/client';

type Document = Schemas['Document'];
const file = (name: string, content = 'The portal shall be quiet.'): File => new File([content], name);
const documentOf = (name: string): Document => ({ id: name, fileName: name, createdAt: '2026-11-24T10:00:00.000Z' }) as Document;
const kinds = (uploads: Uploads): string[] => uploads.entries.map(({ file: { name }, state }) => `${name} ${state.kind}`);
const settled = (): Promise<void> => new Promise((resolve) => { setTimeout(resolve, 5); });

const made: Uploads[] = [];
const uploadsTo = (transport: Transport): Uploads => {
  const uploads = new Uploads('p', transport);
  made.push(uploads);
  return uploads;
};
// What is under way keeps the page from being left: no test leaves that to the next.
afterEach(() => { for (const uploads of made.splice(0)) uploads.stop(); });

/** A server that answers when it is told to. */
function held(duplicates: readonly string[] = []): { transport: Transport; sent: (ToSend & { answer: (error?: Error) => void })[] } {
  const sent: (ToSend & { answer: (error?: Error) => void })[] = [];
  const transport: Transport = {
    namesake: ({ name }) => Promise.resolve(duplicates.includes(name) ? { of: documentOf(name), isSame: true } : null),
    send: (toSend) => new Promise((resolve, reject) => {
      sent.push({ ...toSend, answer: (error) => (error ? reject(error) : resolve(documentOf(toSend.file.name))) });
      toSend.signal.addEventListener('abort', () => reject(toSend.signal.reason as Error));
    }),
  };
  return { transport, sent };
}

test.each([
  ['notes.md', 10, null], ['TENDER.PDF', MOST_BYTES, null], ['README', 10, null], ['tender.pdf', MOST_BYTES + 1, 'tooLarge'], ['empty.txt', 0, 'empty'],
  ['talk.MP3', 10, 'recording'], ['board.jpeg', 10, 'picture'], ['old.doc', 10, 'oldOffice'], ['all.zip', 10, 'archive'],
])('%s of %i bytes: %s', (name, size, refusal) => {
  expect(refusalOf({ name, size })).toBe(refusal);
});

test('the digest of a file is the one that the interface gives', async () => {
  expect(await sha256(new Blob(['abc']))).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
});

test('two files are sent at once, the third when one of them is stored, and what is refused is not sent', async () => {
  const { transport, sent } = held();
  const uploads = uploadsTo(transport);
  const stored = vi.fn();
  uploads.stored = stored;
  uploads.add([file('a.md'), file('b.md'), file('c.md'), file('photo.png')]);
  await settled();
  expect(kinds(uploads)).toEqual(['a.md sending', 'b.md sending', 'c.md waiting', 'photo.png refused']);
  sent[0]?.answer();
  await settled();
  expect(stored).toHaveBeenCalledWith(documentOf('a.md'));
  expect(kinds(uploads)).toEqual(['b.md sending', 'c.md sending', 'photo.png refused']);
  sent[1]?.answer();
  sent[2]?.answer();
  await settled();
  expect(kinds(uploads)).toEqual(['photo.png refused']);
  expect(uploads.isBusy).toBe(false);
});

test('a file that failed is sent again with the same key, so that it takes effect once', async () => {
  const { transport, sent } = held();
  const uploads = uploadsTo(transport);
  uploads.add([file('a.md')]);
  await settled();
  sent[0]?.answer(ApiError.offline());
  await settled();
  expect(kinds(uploads)).toEqual(['a.md failed']);
  const [upload] = uploads.entries;
  if (upload) uploads.retry(upload);
  expect(kinds(uploads)).toEqual(['a.md sending']);
  expect(sent.map(({ key }) => key)).toEqual([sent[0]?.key, sent[0]?.key]);
});

test('a file that is there already waits for a decision', async () => {
  const { transport, sent } = held(['a.md']);
  const uploads = uploadsTo(transport);
  uploads.add([file('a.md')]);
  await settled();
  expect(kinds(uploads)).toEqual(['a.md duplicate']);
  expect(sent).toEqual([]);
  const [upload] = uploads.entries;
  if (upload) uploads.retry(upload);
  expect(sent.map(({ file: { name } }) => name)).toEqual(['a.md']);
});

test('a file that is stopped ends its call and makes room for the next', async () => {
  const { transport, sent } = held();
  const uploads = uploadsTo(transport);
  uploads.add([file('a.md'), file('b.md'), file('c.md')]);
  await settled();
  const [upload] = uploads.entries;
  if (upload) uploads.remove(upload);
  await settled();
  expect(sent[0]?.signal.aborted).toBe(true);
  expect(kinds(uploads)).toEqual(['b.md sending', 'c.md sending']);
});

test('what is under way stops when the session ends, and can be sent again', async () => {
  const { transport, sent } = held(['late.md']);
  let answer = (): void => undefined;
  const slow: Transport = { ...transport, namesake: (toCheck) => (toCheck.name === 'late.md' ? new Promise((resolve) => { answer = () => resolve(null); }) : transport.namesake(toCheck)) };
  const uploads = uploadsTo(slow);
  uploads.add([file('a.md'), file('b.md'), file('c.md'), file('late.md'), file('photo.png')]);
  await settled();
  expect(kinds(uploads)).toEqual(['a.md sending', 'b.md sending', 'c.md waiting', 'late.md checking', 'photo.png refused']);
  uploads.stop();
  answer();
  await settled();
  expect(kinds(uploads)).toEqual(['a.md failed', 'b.md failed', 'c.md failed', 'late.md failed', 'photo.png refused']);
  expect(sent.map(({ signal }) => signal.aborted)).toEqual([true, true]);
  expect(uploads.isBusy).toBe(false);
  const [upload] = uploads.entries;
  if (upload) uploads.retry(upload);
  expect(sent).toHaveLength(3);
});

test('the page asks before it is left while a file is under way, whichever view is shown', async () => {
  const { transport } = held();
  const uploads = uploadsTo(transport);
  const leave = (): boolean => dispatchEvent(new Event('beforeunload', { cancelable: true }));
  expect(leave()).toBe(true);
  uploads.add([file('a.md')]);
  await settled();
  expect(leave()).toBe(false);
  uploads.stop();
  expect(leave()).toBe(true);
});

test('a file with the name of a document and another content is its new version, or a document of its own, as is chosen', async () => {
  const { transport, sent } = held();
  const uploads = uploadsTo({ ...transport, namesake: ({ name }) => Promise.resolve({ of: documentOf(name), isSame: false }) });
  const stored = vi.fn();
  uploads.stored = stored;
  uploads.add([file('a.md'), file('b.md')]);
  await settled();
  expect(kinds(uploads)).toEqual(['a.md namesake', 'b.md namesake']);
  const [one, other] = uploads.entries;
  uploads.asVersion(one!);
  uploads.retry(other!);
  expect(sent.map(({ versionOf }) => versionOf)).toEqual(['a.md', undefined]);
  for (const { answer } of sent) answer();
  await settled();
  expect(stored.mock.calls.map(([document]: Document[]) => document?.id), 'the version is present only once it has been read').toEqual(['b.md']);
});
