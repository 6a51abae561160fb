import { expect, test } from 'vitest';

type Word = string | Record<string, string>;
const files = import.meta.glob<Record<string, Word>>('../shared/words/*.json', { eager: true, import: 'default' });
const pages = ['shared', 'console', 'join', 'review'].map((page) => {
  const [english, arabic] = ['en', 'ar'].map((tag) => files[`../shared/words/${page}.${tag}.json`] ?? {});
  return { page, english: english ?? {}, arabic: arabic ?? {} };
});

/** The names in braces that a sentence is filled with. */
const placeholders = (word: Word | undefined): string =>
  [...new Set([...JSON.stringify(word).matchAll(/\{(\w+)\}/g)].map(([, name]) => name))].sort().join();

test.each(pages)('$page: both languages have the same words, with the same placeholders', ({ english, arabic }) => {
  expect(Object.keys(arabic)).toEqual(Object.keys(english));
  for (const [key, word] of Object.entries(english)) expect(`${key} ${placeholders(arabic[key])}`).toBe(`${key} ${placeholders(word)}`);
});

test.each(pages)('$page: Arabic has all six forms of what is counted', ({ arabic }) => {
  for (const word of Object.values(arabic)) {
    if (typeof word !== 'string') expect(Object.keys(word)).toEqual(['zero', 'one', 'two', 'few', 'many', 'other']);
  }
});

test('no page has a word that is shared, too', () => {
  const shared = Object.keys(pages[0]?.english ?? {});
  for (const { english } of pages.slice(1)) expect(shared.filter((key) => key in english)).toEqual([]);
});

test('the words of the review page, which come with those of the console, have names of their own', () => {
  const [, console, , review] = pages;
  expect(Object.keys(review?.english ?? {}).filter((key) => key in (console?.english ?? {}))).toEqual([]);
});
