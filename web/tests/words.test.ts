import { expect, test } from 'vitest';

type Word = string | Record<string, string>;
const files = import.meta.glob<Record<string, Word>>(['../shared/words/*.json', '../console/words/*.json'], { eager: true, import: 'default' });
const CONSOLE = '../console/words/';
const pages = Object.keys(files).filter((path) => path.endsWith('.en.json')).map((path) => ({
  page: path.slice(3, -'.en.json'.length),
  path,
  english: files[path] ?? {},
  arabic: files[path.replace('.en.json', '.ar.json')] ?? {},
}));
/** The files whose words come together in one page. */
const TOGETHER = {
  console: pages.filter(({ path }) => path.startsWith(CONSOLE) || /(shared|items|recordings)\.en/.test(path)),
  review: pages.filter(({ path }) => /(shared|items|review)\.en/.test(path)),
  join: pages.filter(({ path }) => /(shared|join|recordings)\.en/.test(path)),
};

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

test.each(Object.entries(TOGETHER))('%s: no key stands in two files', (_, together) => {
  const keys = together.flatMap(({ english }) => Object.keys(english));
  expect(keys.filter((key, index) => keys.indexOf(key) !== index)).toEqual([]);
});
