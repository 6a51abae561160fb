// What did not work, in words.

import { Refusal } from './api.js';
import { has, say } from './words.js';

/** @param {unknown} error */
export function fault(error) {
  if (!(error instanceof Refusal)) throw error;
  const key = `fault.${error.code}`;
  return has(key) ? say(key) : say('fault.other', { code: error.code });
}
