// The languages of texts and speech, each named in the reader's own.

import type { Schemas } from '$shared/api/client';
import { languageName } from '$shared/words/formats';
import { t } from '$shared/words/text.svelte';

type Language = Schemas['Language'];
const CODES: readonly Exclude<Language, 'AUTO'>[] = ['EN', 'AR', 'DE', 'ES', 'FR', 'IT', 'NL', 'PT', 'TR', 'ZH', 'JA', 'KO', 'HI', 'RU'];

/** The languages to choose from, with their names; `isAuto` offers to recognise the language, too. */
export function languages({ isAuto }: { isAuto: boolean }): [Language, string][] {
  const named = CODES.map((code): [Language, string] => [code, languageName(code)]);
  return isAuto ? [['AUTO', t('language.AUTO')], ...named] : named;
}
