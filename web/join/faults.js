// What did not work, in words.

import { Refusal } from './api.js';
import { has, say } from './words.js';

/** @param {unknown} error */
export function fault(error) {
  if (!(error instanceof Refusal)) throw error;
  return faultOf(error.code);
}

/** @param {string} code of the interface's table */
export function faultOf(code) {
  const key = `fault.${code}`;
  return has(key) ? say(key) : say('fault.other', { code });
}
