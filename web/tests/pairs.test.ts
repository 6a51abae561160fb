// Pairs of requirements: their order, which one stays, and the marked words.
import { expect, test } from 'vitest';
import { isAgainstApproved, keptOf, ordered, piecesOf } from '../console/conflicts/pairs';
import { pairOf } from './pairs';

test('what may contradict or repeat the approved comes first, then the stronger, the surer, and by codes', () => {
  const pairs = [
    pairOf('2', '10', { confidence: 0.9 }),
    pairOf('2', '9', { confidence: 0.9 }),
    pairOf('1', '3', { confidence: 0.95, strength: 'LOW' }),
    pairOf('4', '5', { confidence: 0.97 }),
    pairOf('6', '7', { confidence: 0.82 }, ['APPROVED', 'NEEDS_REVIEW']),
    pairOf('6', '8', { confidence: 0.99 }, ['APPROVED', 'APPROVED']),
  ];
  expect(ordered(pairs).map(({ id }) => id)).toEqual(['6-7', '6-8', '4-5', '2-9', '2-10', '1-3']);
});

test.each([
  ['NEEDS_REVIEW', 'NEEDS_REVIEW', false, '1'], ['APPROVED', 'NEEDS_REVIEW', true, '1'], ['NEEDS_REVIEW', 'APPROVED', true, '2'],
  ['APPROVED', 'APPROVED', false, '1'], ['REJECTED', 'APPROVED', false, '2'],
] as const)('%s beside %s: against what was approved %s, and %s stays', (one, other, isAgainst, kept) => {
  const pair = pairOf('1', '2', {}, [one, other]);
  expect([isAgainstApproved(pair), keptOf(pair).id]).toEqual([isAgainst, kept]);
});

const marked = (text: string, ...spans: [number, number][]): string =>
  piecesOf(text, spans.map(([startOffset, endOffset]) => ({ startOffset, endOffset }))).map((piece) => (piece.isMarked ? `[${piece.text}]` : piece.text)).join('|');

test('places are in scalar values, where JavaScript counts two beyond U+FFFF', () => {
  expect(marked('😀 within 2 s 😀', [9, 12], [13, 14])).toBe('😀 within |[2 s]| |[😀]');
});

test('places that overlap, are out of order, empty or beyond the end lose no character and mark none twice', () => {
  expect(marked('never and always', [10, 99], [0, 5], [3, 9], [4, 4])).toBe('[never]|[ and]| |[always]');
  expect(marked('unmarked')).toBe('unmarked');
  expect(marked('short', [70, 90])).toBe('short');
});
