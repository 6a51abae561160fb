// What quality checks found in an item, in the reader's words. The server's sentence quotes the word that it is about.

import type { Schemas } from '../api/client';
import { has, label, t } from './text.svelte';

/** Where a sentence of the server begins or goes on with the word that was found. */
const QUOTED = /"([^"]+)"/;

export function findingOf({ code, message }: Pick<Schemas['QualityIssue'], 'code' | 'message'>): string {
  const word = QUOTED.exec(message)?.[1];
  const key = `quality.${code}.word`;
  if (word !== undefined && has(key)) return t(key, { word });
  return has(`quality.${code}`) ? label('quality', code) : message;
}
