import { expect, test } from 'vitest';
import { found, heardAt, pieces, speakingTimes } from '../../shared/recording/follow';

const segments = [[0, 900, 'Good morning.'], [1000, 2000, 'The (new) system'], [2000, 3000, 'system, new'], [9000, 9500, 'END']]
  .map(([startMs, endMs, text]) => ({ startMs: Number(startMs), endMs: Number(endMs), text: String(text) }));

test.each([[0, 0], [950, 0], [1000, 1], [1999, 1], [2000, 2], [4999, 2], [5000, -1], [8999, -1], [9200, 3], [11_499, 3], [11_500, -1]])(
  'at %i ms passage %i is heard', (ms, position) => expect(heardAt(segments, ms)).toBe(position));

test('before the first passage, and without any, none is heard', () => {
  expect(heardAt([{ startMs: 5, endMs: 9 }], 4)).toBe(-1);
  expect(heardAt([], 4)).toBe(-1);
});

test('words are found as they are written, whatever their case and the spaces between them', () => {
  expect(found(segments, 'SYSTEM')).toEqual([1, 2]);
  expect(found(segments, ' (new)  system ')).toEqual([1]);
  expect(found(segments, '.')).toEqual([0]);
  expect(found(segments, '  ')).toEqual([]);
});

test('a text in pieces is the same text', () => {
  expect(pieces('new, New and newer', 'new')).toEqual([
    { text: 'new', isFound: true }, { text: ', ', isFound: false }, { text: 'New', isFound: true }, { text: ' and ', isFound: false },
    { text: 'new', isFound: true }, { text: 'er', isFound: false },
  ]);
  expect(pieces('nothing', 'else')).toEqual([{ text: 'nothing', isFound: false }]);
  expect(pieces('nothing', '')).toEqual([{ text: 'nothing', isFound: false }]);
});

test('how long each speaks is summed under their names', () => {
  const said = [['Ada', 0, 900], ['Bo', 900, 4_000], ['Ada', 4_000, 5_000]]
    .map(([name, startMs, endMs]) => ({ speaker: { participantId: null, name: String(name) }, startMs: Number(startMs), endMs: Number(endMs) }));
  expect(speakingTimes(said, ({ name }) => name)).toEqual([['Bo', 3_100], ['Ada', 1_900]]);
  expect(speakingTimes([], ({ name }) => name)).toEqual([]);
});
