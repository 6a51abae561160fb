// Words of the join page that are put together from others.

import { listOf } from '$shared/words/formats';
import { t } from '$shared/words/text.svelte';

export const scopesOf = (scopes: readonly ('RECORDING' | 'TRANSCRIPT' | 'AI_ANALYSIS')[]): string =>
  listOf(scopes.map((scope) => t(`scope.${scope}`)));
