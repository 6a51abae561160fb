import { expect, test } from 'vitest';
import { cutPauses } from '../../join/recording/cut';
import { completeLength } from '../../join/recording/webm';

const STARTED = Date.parse('2026-01-01T00:00:00Z');
const at = (seconds: number): string => new Date(STARTED + seconds * 1000).toISOString();
const HEADER = [0x1a, 0x45, 0xdf, 0xa3, 0x81, 0x01, 0x18, 0x53, 0x80, 0x67, 0x01, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff];
const CLUSTER = [0x1f, 0x43, 0xb6, 0x75, 0x01, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xe7, 0x81, 0x00];
const block = (value: number): number[] => [0xa3, 0x81, value];
/** Ten blocks of half a second each. */
const chunk = {
  bytes: new Uint8Array([...HEADER, ...CLUSTER, ...Array.from({ length: 10 }, (_, index) => block(index)).flat()]).buffer,
  fromMs: 0, toMs: 5_000,
};
const blocksIn = (bytes: ArrayBuffer): number[] => [...new Uint8Array(bytes)].slice(HEADER.length + CLUSTER.length).filter((_, index) => index % 3 === 2);

test('a chunk that no pause overlaps stays as it is', () => {
  expect(cutPauses(chunk, [{ from: at(5), to: null }], STARTED)).toBe(chunk);
});

test('what is before the pause is kept, with the header, and nothing that lies close to it', () => {
  const kept = cutPauses(chunk, [{ from: at(3), to: null }], STARTED);
  expect([...new Uint8Array(kept.bytes)].slice(0, HEADER.length)).toEqual(HEADER);
  expect(blocksIn(kept.bytes)).toEqual([0, 1, 2, 3, 4]);
  expect([kept.fromMs, kept.toMs]).toEqual([0, 3_000]);
});

test('of a pause within it, the longer part is kept', () => {
  const kept = cutPauses(chunk, [{ from: at(0.5), to: at(2) }], STARTED);
  expect(blocksIn(kept.bytes)).toEqual([5, 6, 7, 8, 9]);
  expect([kept.fromMs, kept.toMs]).toEqual([2_000, 5_000]);
});

test('wholly in a pause, it keeps no sound', () => {
  const kept = cutPauses({ ...chunk, fromMs: 20_000, toMs: 25_000 }, [{ from: at(18), to: at(30) }], STARTED);
  expect(blocksIn(kept.bytes)).toEqual([]);
  expect(kept.toMs).toBe(18_000);
});

test('content of another kind goes as a whole', () => {
  const kept = cutPauses({ ...chunk, bytes: new Uint8Array([0, 0, 0, 24, 0x66]).buffer }, [{ from: at(3), to: null }], STARTED);
  expect(kept.bytes.byteLength).toBe(0);
});

test('a slice ends where its last element does; one of another kind ends where it ends', () => {
  const [whole, begun] = [[...HEADER, ...CLUSTER, ...block(1)], [0xa3]];
  expect(completeLength(new Uint8Array([...whole, ...begun]).buffer)).toBe(whole.length);
  expect(completeLength(new Uint8Array(whole).buffer)).toBe(whole.length);
  expect(completeLength(new Uint8Array(begun).buffer)).toBe(0);
  expect(completeLength(new Uint8Array([0, 0, 0, 24, 0x66]).buffer)).toBe(5);
});
