import { expect, test } from 'vitest';
import { itemIdOf, itemsOf, neighbour, searcher } from '../../review/stakeholder/items';
import { folded } from '../../shared/text/fold';
import { dashboard } from './fixture';

const items = itemsOf(dashboard());
const ids = (found: readonly { code: string }[]): string[] => found.map(({ code }) => code);
const all = { words: '', kind: 'ALL', unanswered: false } as const;
const nothing = () => false;

test('the summary comes first, then requirements by code, each story before its criteria, and the rest', () => {
  expect(ids(items)).toEqual(['', 'REQ-002', 'REQ-010', 'US-001', 'US-001 · AC-001', 'RISK-001', 'Q-001', 'ACT-001']);
  expect(new Set(items.map(({ id }) => id)).size).toBe(items.length);
});

test('a review without results has nothing to answer', () => {
  const empty = { text: '', keyDecisions: [], scope: [], outOfScope: [], assumptions: [] };
  expect(itemsOf({ ...dashboard(), summary: empty, requirements: [], userStories: [], risks: [], openQuestions: [], actionItems: [] })).toEqual([]);
});

test('feedback finds its item; that on the summary needs no target', () => {
  expect(itemIdOf({ targetType: 'REQUIREMENT', targetId: 'r2' })).toBe(items[1]?.id);
  expect(itemIdOf({ targetType: 'SUMMARY', targetId: null })).toBe(items[0]?.id);
});

test('each searched word has to be there, in any order, with or without accents and vowel signs', () => {
  const search = searcher(items);
  const find = (words: string) => ids(search({ ...all, words }, nothing));
  expect(find('req-002')).toEqual(['REQ-002']);
  expect(find('  SLOT café ')).toEqual(['REQ-010']);
  expect(find('cafe')).toEqual(['REQ-010']);
  expect(find('typed')).toEqual(['US-001 · AC-001']);
  expect(find('nowhere')).toEqual([]);
  expect(folded('المُتَطَلَّبـات')).toBe(folded('المتطلبات'));
});

test('a kind narrows the list, a criterion with its story; so does what has no answer', () => {
  const search = searcher(items);
  expect(ids(search({ ...all, kind: 'USER_STORY' }, nothing))).toEqual(['US-001', 'US-001 · AC-001']);
  expect(ids(search({ ...all, unanswered: true }, ({ code }) => code !== 'REQ-010'))).toEqual(['REQ-010']);
});

test('a step leads from the place of an item that is not in the list any more', () => {
  const [, second, third, fourth] = items;
  const shown = items.filter((item) => item !== third);
  expect(neighbour(items, shown, third?.id ?? '', 1)).toBe(fourth);
  expect(neighbour(items, shown, third?.id ?? '', -1)).toBe(second);
  expect(neighbour(items, items, items.at(-1)?.id ?? '', 1)).toBeNull();
  expect(neighbour(items, items, items[0]?.id ?? '', -1)).toBeNull();
});
