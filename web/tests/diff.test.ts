import { expect, test } from 'vitest';
import { diffWords, type Piece } from '../shared/text/diff';

const side = (pieces: Piece[], other: Piece['kind']): string => pieces.filter(({ kind }) => kind !== other).map(({ text }) => text).join('');
const short = (pieces: Piece[]): string => pieces.map(({ kind, text }) => (kind === 'same' ? text : `${kind === 'added' ? '+' : '-'}[${text}]`)).join('');

test.each([
  ['The desk saves 150 calls a day.', 'The desk saves 200 calls a day.', 'The desk saves -[150]+[200] calls a day.'],
  ['', 'New text', '+[New text]'],
  ['Gone', '', '-[Gone]'],
  ['Same', 'Same', 'Same'],
  ['a b c', 'a x y c', 'a -[b]+[x y] c'],
  ['one two three four', 'one four', 'one -[two three ]four'],
  ['يجب أن يكون الرد خلال يوم', 'يجب أن يكون الرد خلال يومين', 'يجب أن يكون الرد خلال -[يوم]+[يومين]'],
])('%s → %s', (before, after, expected) => {
  expect(short(diffWords(before, after))).toBe(expected);
});

test('the pieces of any two texts make up both of them', () => {
  let seed = 7;
  const chance = (below: number): number => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return seed % below;
  };
  const text = (): string => Array.from({ length: chance(40) }, () => ['a', 'b', 'c.', 'd\n', 'é', '٣', '👍'][chance(7)]).join(['', ' ', '  '][chance(3)]);
  for (let round = 0; round < 500; round++) {
    const [before, after] = [text(), text()];
    const pieces = diffWords(before, after);
    expect([side(pieces, 'added'), side(pieces, 'removed')]).toEqual([before, after]);
  }
});

test('long texts without anything in common are not compared for long', () => {
  const [before, after] = [Array.from({ length: 3_000 }, (_, at) => `a${at}`).join(' '), Array.from({ length: 3_000 }, (_, at) => `b${at}`).join('\n')];
  const begun = performance.now();
  const pieces = diffWords(before, after);
  expect([side(pieces, 'added'), side(pieces, 'removed')]).toEqual([before, after]);
  expect(performance.now() - begun).toBeLessThan(3_000);
});
