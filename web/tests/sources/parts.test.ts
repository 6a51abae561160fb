// The text of a document in the parts that are shown, and the place that is lit in them.
import { expect, test } from 'vitest';
import { partsOf, placeOf } from '../../console/documents/parts';

const pages = [{ page: 1, startOffset: 0, endOffset: 6 }, { page: 2, startOffset: 6, endOffset: 12 }];
const text = (content: string, at = pages) => ({ text: content, pages: at, readerVersion: '1' });

test('pages stand one below the other, and without a place nothing is lit', () => {
  expect(partsOf(text('one...two...'), null)).toEqual([
    { page: 1, before: 'one...', lit: '', after: '' }, { page: 2, before: 'two...', lit: '', after: '' },
  ]);
});

test('a place is lit in each page that it touches', () => {
  expect(partsOf(text('one...two...'), { start: 4, end: 9 })).toEqual([
    { page: 1, before: 'one.', lit: '..', after: '' }, { page: 2, before: '', lit: 'two', after: '...' },
  ]);
});

test('places count characters, not the halves of those beyond the first plane', () => {
  expect(partsOf(text('😀ne...two...'), { start: 1, end: 3 })[0]).toEqual({ page: 1, before: '😀', lit: 'ne', after: '...' });
});

test('a text without pages is cut at the ends of lines, and nothing of it is lost', () => {
  const content = Array.from({ length: 2_000 }, (_, index) => `The portal shall answer within ${index} seconds.\n`).join('');
  const parts = partsOf(text(content, []), { start: content.length - 9, end: content.length });
  expect(parts.length).toBeGreaterThan(2);
  expect(parts.slice(0, -1).every(({ before }) => before.endsWith('\n'))).toBe(true);
  expect(parts.map(({ before, lit, after }) => before + lit + after).join('')).toBe(content);
  expect(parts.at(-1)?.lit).toBe('seconds.\n');
});

test.each([['start=3&end=9', { start: 3, end: 9 }], ['start=9&end=3', null], ['start=a&end=3', null], ['page=2', null], ['', null]])('the address %s names the place %o', (query, place) => {
  expect(placeOf(new URLSearchParams(query))).toEqual(place);
});
