// Dates, lists and names as the reader's language writes them, beyond what the shared words offer.

import { language } from './text.svelte';

const LOCALES = { en: 'en-GB', ar: 'ar-u-nu-latn' } as const;
/** Dear to make, so made once a language. */
const made = new Map<string, unknown>();

function format<Format>(name: string, make: (locale: string) => Format): Format {
  const locale = LOCALES[language()];
  const key = `${name} ${locale}`;
  if (!made.has(key)) made.set(key, make(locale));
  return made.get(key) as Format;
}

/** A day and a time of day, such as "Tuesday, 24 November 2026 at 10:00". */
export const fullTime = (at: string): string =>
  format('time', (locale) => new Intl.DateTimeFormat(locale, { dateStyle: 'full', timeStyle: 'short' })).format(new Date(at));

export const listOf = (items: string[]): string =>
  format('list', (locale) => new Intl.ListFormat(locale, { type: 'conjunction' })).format(items);

/** The name of a language, in the reader's own: by its code, such as `en` or `EN`. */
export const languageName = (code: string): string =>
  format('languages', (locale) => new Intl.DisplayNames(locale, { type: 'language' })).of(code) ?? code;

/** The size of a file, such as "12.3 MB". */
export const megabytes = (bytes: number): string => {
  const options = { style: 'unit', unit: 'megabyte', maximumFractionDigits: 1 } as const;
  return format('megabytes', (locale) => new Intl.NumberFormat(locale, options)).format(Math.max(0.1, bytes / 1_000_000));
};

/** Which of two names comes first. */
export const compareNames = (one: string, other: string): number =>
  format('names', (locale) => new Intl.Collator(locale)).compare(one, other);
