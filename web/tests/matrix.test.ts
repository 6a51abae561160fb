import { expect, test } from 'vitest';
import { linesOf, narrowed, type Row } from '../console/trace/matrix';

const story = (code: string): Row['userStories'][number] => ({ id: code, code, criteria: 1, trackerIssue: null, workflowStatus: 'APPROVED' });
const row = (code: string, title: string, stories: string[], gaps: Row['gaps']): Row =>
  ({ requirement: { id: code, code, title, workflowStatus: 'APPROVED' }, userStories: stories.map(story), sources: [], gaps });
const rows = [row('REQ-1', 'Book a visit', ['US-1', 'US-2'], ['NOT_EXPORTED']), row('REQ-2', 'Back up', [], ['NO_STORY', 'NO_SOURCE']), row('REQ-3', 'Print', ['US-3'], [])];

test('a requirement has a line for each story, its own facts in the first', () => {
  const lines = linesOf({ rows, orphans: [story('US-9')] });
  expect(lines.map(({ requirement, story: one, row: first }) => [requirement?.code, one?.code, first !== null])).toEqual([
    ['REQ-1', 'US-1', true], ['REQ-1', 'US-2', false], ['REQ-2', undefined, true], ['REQ-3', 'US-3', true], [undefined, 'US-9', false],
  ]);
  expect(new Set(lines.map(({ id }) => id)).size).toBe(lines.length);
});

test.each([
  ['', '', ['REQ-1', 'REQ-2', 'REQ-3']], ['ANY', '', ['REQ-1', 'REQ-2']], ['NO_SOURCE', '', ['REQ-2']], ['', ' BOOK ', ['REQ-1']],
  ['', 'us-3', ['REQ-3']], ['NO_STORY', 'book', []],
] as const)('gap “%s”, words “%s”', (gap, words, expected) => {
  expect(narrowed(rows, gap, words).map(({ requirement }) => requirement.code)).toEqual(expected);
});
