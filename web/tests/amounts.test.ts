import { expect, test } from 'vitest';
import { languageName } from '../shared/words/formats';
import { fileSize, timeSpan } from '../shared/words/text.svelte';

test.each([[0, '0 byte'], [999, '999 byte'], [1000, '1 kB'], [53_400, '53 kB'], [1_000_000, '1 MB'], [1_250_000, '1.3 MB'], [42_000_000_000, '42 GB'], [9e15, '9,000 TB']])(
  'a size of %i bytes is %s', (count, words) => expect(fileSize(count)).toBe(words),
);

test.each([[0, '0 seconds'], [0.4, '0 seconds'], [59, '59 seconds'], [60, '1 minute, 0 seconds'], [3_725, '1 hour, 2 minutes'], [90_061, '1 day, 1 hour']])(
  'a span of %d seconds is %s', (seconds, words) => expect(timeSpan(seconds)).toBe(words),
);

test.each(['de', 'DE'])('the language %s is named', (code) => expect(languageName(code)).toBe('German'));
