import { expect, test } from 'vitest';
import { confidenceOf } from '../shared/words/confidence';

test.each([[0, 'LOW'], [0.49, 'LOW'], [0.5, 'MEDIUM'], [0.79, 'MEDIUM'], [0.8, 'HIGH'], [1, 'HIGH']])('a confidence of %d is %s', (value, word) => {
  expect(confidenceOf(value)).toBe(word);
});
