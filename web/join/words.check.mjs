// Shows that each language has each word that the page says, with the same values in it, and none that it doesn't.

import { readdirSync, readFileSync } from 'node:fs';

const read = (name) => readFileSync(new URL(name, import.meta.url), 'utf8');
const [english, arabic] = ['en', 'ar'].map((language) => JSON.parse(read(`words.${language}.json`)));
const faults = [];

for (const key of new Set([...Object.keys(english), ...Object.keys(arabic)])) {
  if (!(key in english) || !(key in arabic)) {
    faults.push(`${key} is in one language alone`);
    continue;
  }
  // `other` stands for any number, so it has all the values.
  const values = (word) => [...(word.other ?? word).matchAll(/\{(\w+)\}/g)].map(([, name]) => name).sort().join();
  if (values(english[key]) !== values(arabic[key])) faults.push(`${key} has other values in Arabic`);
}
for (const [key, word] of Object.entries(arabic)) {
  if (typeof word === 'string') continue;
  for (const form of ['zero', 'one', 'two', 'few', 'many', 'other']) if (!word[form]) faults.push(`${key} has no ${form}`);
}

const sources = readdirSync(new URL('.', import.meta.url)).filter((name) => /\.(js|html)$/.test(name)).map(read).join('\n');
const said = [...sources.matchAll(/(?:say\(|data-word="|data-label="|askToLogIn\()'?([a-z][\w.]*)['"]/gi)].map(([, key]) => key);
for (const key of said) if (!(key in english)) faults.push(`${key} is said and is no word`);
// What is put together, such as `ended.${name}.heading`: its beginning is in the sources.
const beginnings = [...sources.matchAll(/`([a-z]+\.)(?:[a-z]+\.)?\$\{/gi)].map(([, beginning]) => beginning);
for (const key of Object.keys(english)) {
  const isSaid = sources.includes(`'${key}'`) || said.includes(key) || beginnings.some((one) => key.startsWith(one));
  if (!isSaid) faults.push(`${key} is never said`);
}

for (const fault of faults) console.error(fault);
console.log(`${Object.keys(english).length} words`);
process.exit(faults.length > 0 ? 1 : 0);
