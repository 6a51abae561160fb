import { expect, test } from 'vitest';
import { split, stringPositions } from '../shared/source/quotes';

test('offsets count scalar values, where JavaScript counts two beyond U+FFFF', () => {
  const text = 'a😀b😀c';
  const position = stringPositions(text);
  expect([...text].map((_, index) => text.slice(position(index), position(index + 1)))).toEqual(['a', '😀', 'b', '😀', 'c']);
});

test('quotes that overlap, and one over two paragraphs, lose no character', () => {
  const text = '😀 The desk shall answer.\n\nIt must be quick.';
  const blocks = split(text, [{ id: 'one', start: 2, end: 24 }, { id: 'two', start: 11, end: 35 }]);
  expect(blocks.map(({ pieces }) => pieces.map(({ text: piece, ids }) => [piece, ids.join()]))).toEqual([
    [['😀 ', ''], ['The desk ', 'one'], ['shall answer.', 'one,two']],
    [['It must b', 'two'], ['e quick.', '']],
  ]);
});
