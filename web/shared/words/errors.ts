import { ApiError, type Fault } from '../api/error';
import { has, language, t } from './text.svelte';

/** An error of the API in the reader's words; in the server's, where there are none for its code. */
export function explain(thrown: unknown): string {
  if (!(thrown instanceof ApiError)) throw thrown;
  const key = `error.${thrown.code}`;
  return has(key) ? t(key) : t('error.any', { message: thrown.message });
}

/** What is wrong with a field that holds `value`. The server's own sentence is more exact, but in English only. */
export function explainField(fault: Fault, value: string): string {
  if (value.trim() === '') return t('reason.Required');
  const keys = [`error.${fault.code}`, ...(language() === 'en' ? [] : [`reason.${fault.reason}`])];
  const key = keys.find(has);
  return key ? t(key) : fault.message;
}
