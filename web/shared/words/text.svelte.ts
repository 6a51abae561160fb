// The texts of the pages, in the reader's language. Each page has words of its own beside the shared ones.

import { setRequestLanguage } from '../api/client';
import { isolated } from './isolate';
import type consoleWords from '../../console/words/english';
import type joinWords from './join.en.json';
import type recordingsWords from './recordings.en.json';
import type reviewWords from './review.en.json';
import sharedWords from './shared.en.json';

export type Key = keyof typeof sharedWords | keyof typeof consoleWords | keyof typeof joinWords | keyof typeof recordingsWords | keyof typeof reviewWords;
export type Language = 'en' | 'ar';
type Word = string | (Partial<Record<Intl.LDMLPluralRule, string>> & { other: string });
export type Words = Record<string, Word>;

const STORAGE_KEY = 'colloquy.language';
/** The language's formats; Arabic with the digits that are read in the whole Arab world. */
const LOCALES: Record<Language, string> = { en: 'en-GB', ar: 'ar-u-nu-latn' };

let english: Words = sharedWords;
let loadArabic: () => Promise<{ default: Words }>;
let tag = $state<Language>('en');
let words = $state.raw<Words>(sharedWords);
const locale = $derived(LOCALES[tag]);
const plural = $derived(new Intl.PluralRules(locale));
const numbers = $derived(new Intl.NumberFormat(locale));
const percents = $derived(new Intl.NumberFormat(locale, { style: 'percent' }));
const brief = { style: 'unit', unitDisplay: 'narrow', maximumFractionDigits: 1 } as const;
const milliseconds = $derived(new Intl.NumberFormat(locale, { ...brief, unit: 'millisecond' }));
const seconds = $derived(new Intl.NumberFormat(locale, { ...brief, unit: 'second' }));
const minutes = $derived(new Intl.NumberFormat(locale, { ...brief, unit: 'minute' }));
const times = $derived(new Intl.DateTimeFormat(locale, { timeStyle: 'short' }));
const days = $derived(new Intl.DateTimeFormat(locale, { dateStyle: 'medium' }));
const moments = $derived(new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short' }));

export const language = (): Language => tag;

async function wordsOf(to: Language): Promise<Words> {
  if (to === 'en') return english;
  const [shared, page] = await Promise.all([import('./shared.ar.json'), loadArabic()]);
  return { ...(shared.default as Words), ...page.default };
}

export async function setLanguage(to: Language): Promise<void> {
  words = await wordsOf(to);
  tag = to;
  document.documentElement.lang = to;
  document.documentElement.dir = to === 'ar' ? 'rtl' : 'ltr';
  setRequestLanguage(to);
  const address = new URL(location.href);
  if (address.searchParams.has('lang')) {
    // What the address asks for is not what is chosen any more.
    address.searchParams.set('lang', to);
    history.replaceState(history.state, '', address);
  }
  try {
    localStorage.setItem(STORAGE_KEY, to);
  } catch {
    // Storage is off: for this page alone.
  }
}

/** The language that the address asks for (`lang`), else the one chosen here before, else the browser's. */
export function startLanguage(pageEnglish: Words, pageArabic: () => Promise<{ default: Words }>): Promise<void> {
  english = { ...sharedWords, ...pageEnglish };
  loadArabic = pageArabic;
  let stored: string | null = new URLSearchParams(location.search).get('lang');
  try {
    stored ??= localStorage.getItem(STORAGE_KEY);
  } catch {
    // Storage is off: the browser's language.
  }
  return setLanguage((stored ?? navigator.language).startsWith('ar') ? 'ar' : 'en');
}

/** Whether there are words under this key. */
export const has = (key: string): key is Key => key in english;

/** The sentence; `count` chooses its form where it depends on how many. Names in it keep their own direction. */
export function t(key: Key, values: Record<string, string | number> = {}): string {
  const word = words[key] ?? english[key] ?? key;
  const sentence = typeof word === 'string' ? word : (word as Exclude<Word, string>)[plural.select(Number(values.count))] ?? word.other;
  return sentence.replace(/\{(\w+)\}/g, (whole, name: string) => {
    const value = values[name];
    if (value === undefined) return whole;
    return typeof value === 'number' ? numbers.format(value) : isolated(value);
  });
}

/** The words for a value of the API's enumerations, such as `priority.HIGH`; the value itself where there are none. */
export const label = (group: string, name: string): string => {
  const key = `${group}.${name}`;
  return has(key) ? t(key) : name;
};

export const number = (value: number): string => numbers.format(value);
export const percent = (value: number): string => percents.format(value);
/** How long something took: in milliseconds under a second, to the tenth under ten seconds, with minutes from one minute on. */
export function duration(ms: number): string {
  if (ms < 1_000) return milliseconds.format(Math.round(ms));
  const whole = Math.round(ms / 1000);
  if (whole < 60) return seconds.format(ms < 10_000 ? Math.round(ms / 100) / 10 : whole);
  return `${minutes.format(Math.floor(whole / 60))} ${seconds.format(whole % 60)}`;
}
export const timeOfDay = (at: string): string => times.format(new Date(at));
const SIZES = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte'] as const;
/** A size in the largest unit of which there is one. */
export const fileSize = (count: number): string => {
  const power = count < 1000 ? 0 : Math.min(SIZES.length - 1, Math.floor(Math.log10(count) / 3));
  return new Intl.NumberFormat(locale, { style: 'unit', unit: SIZES[power] ?? 'byte', maximumFractionDigits: power > 1 ? 1 : 0 }).format(count / 1000 ** power);
};

const SPANS = [['day', 86_400], ['hour', 3_600], ['minute', 60], ['second', 1]] as const;
/** A span of time in its two largest units. */
export const timeSpan = (seconds: number): string => {
  const first = Math.max(0, SPANS.findIndex(([, length]) => seconds >= length));
  const from = seconds < 1 ? SPANS.length - 1 : first;
  let rest = Math.floor(seconds);
  const parts = SPANS.slice(from, from + 2).map(([unit, length]) => {
    const count = Math.floor(rest / length);
    rest -= count * length;
    return new Intl.NumberFormat(locale, { style: 'unit', unit, unitDisplay: 'long' }).format(count);
  });
  return new Intl.ListFormat(locale, { type: 'unit', style: 'long' }).format(parts);
};
export const day = (at: string): string => days.format(new Date(at));
export const moment = (at: string): string => moments.format(new Date(at));

/** A position in a recording: minutes and seconds, with hours where there are any. */
export const clock = (ms: number): string => {
  const seconds = Math.floor(ms / 1000);
  const two = (value: number): string => String(value).padStart(2, '0');
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  return hours > 0 ? `${hours}:${two(minutes)}:${two(seconds % 60)}` : `${minutes}:${two(seconds % 60)}`;
};
