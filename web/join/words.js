// The page's words in its languages, with numbers, dates and lists as each language writes them.

/** @typedef {'en' | 'ar'} Language */
/** @typedef {Record<string, string | number>} Values */

/** @type {readonly Language[]} */
export const LANGUAGES = ['en', 'ar'];

/** @type {Language} */
let language = 'en';
/** With the region that the reader's browser asks for, if any: dates differ by it. */
let locale = 'en';
/** @type {Record<string, string | Record<string, string>>} */
let words = {};
/** How the language writes numbers, dates and lists, and sorts names; dear to make, so made once a language. */
let habits = habitsOf(locale);

export const current = () => language;

/**
 * A language of ours, from a tag such as `ar-EG` or `AR`.
 * @param {string | null | undefined} tag
 * @returns {Language | undefined}
 */
export function known(tag) {
  const base = tag?.toLowerCase().split('-')[0];
  return LANGUAGES.find((one) => one === base);
}

/**
 * Takes up a language: loads its words, and writes them wherever the page names one.
 * @param {Language} chosen
 */
export async function speak(chosen) {
  const answer = await fetch(new URL(`words.${chosen}.json`, import.meta.url));
  if (!answer.ok) throw new Error(`words.${chosen}.json: ${answer.status}`);
  words = await answer.json();
  language = chosen;
  locale = navigator.languages.find((tag) => known(tag) === chosen) ?? chosen;
  habits = habitsOf(locale);
  document.documentElement.lang = chosen;
  document.documentElement.dir = chosen === 'ar' ? 'rtl' : 'ltr';
  for (const element of document.querySelectorAll('[data-word]')) {
    element.textContent = say(/** @type {HTMLElement} */ (element).dataset.word ?? '');
  }
  for (const element of document.querySelectorAll('[data-label]')) {
    element.setAttribute('aria-label', say(/** @type {HTMLElement} */ (element).dataset.label ?? ''));
  }
}

/** @param {string} key */
export const has = (key) => key in words;

/**
 * A sentence. Values are kept apart from the direction of what is around them: a name may be written the other way.
 * @param {string} key
 * @param {Values} [values] with `count` where the sentence depends on how many
 */
export function say(key, values = {}) {
  let sentence = words[key] ?? key;
  if (typeof sentence !== 'string') {
    const count = Number(values.count);
    const form = count === 0 && sentence.zero ? 'zero' : habits.plural.select(count);
    sentence = sentence[form] ?? sentence.other ?? key;
  }
  return sentence.replace(/\{(\w+)\}/g, (whole, name) => {
    const value = values[name];
    if (value === undefined) return whole;
    return typeof value === 'number' ? habits.number.format(value) : `\u2068${value}\u2069`;
  });
}

/** @param {string} at RFC 3339 */
export const time = (at) => habits.time.format(new Date(at));

/** @param {string[]} items */
export const list = (items) => habits.list.format(items);

/** The name of a language, in the page's own. @param {string} tag */
export const languageName = (tag) => habits.languages.of(tag) ?? tag;

/** Which of two names comes first. @param {string} a @param {string} b */
export const compare = (a, b) => habits.names.compare(a, b);

/** @param {string} tag */
function habitsOf(tag) {
  return {
    plural: new Intl.PluralRules(tag),
    number: new Intl.NumberFormat(tag),
    time: new Intl.DateTimeFormat(tag, { dateStyle: 'full', timeStyle: 'short' }),
    list: new Intl.ListFormat(tag, { type: 'conjunction' }),
    languages: new Intl.DisplayNames(tag, { type: 'language' }),
    names: new Intl.Collator(tag),
  };
}
