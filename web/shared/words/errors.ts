import { ApiError } from '../api/error';
import { has, t } from './text.svelte';

/** An error of the API in the reader's words; in the server's, where there are none for its code. */
export function explain(thrown: unknown): string {
  if (!(thrown instanceof ApiError)) throw thrown;
  const key = `error.${thrown.code}`;
  return has(key) ? t(key) : t('error.any', { message: thrown.message });
}
