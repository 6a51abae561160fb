// The items that were chosen elsewhere to be shown to stakeholders.

import { goTo, pathOf } from '../route.svelte';

let chosen = $state.raw<readonly string[]>([]);

export const chosenItems = (): readonly string[] => chosen;
export const forgetChosen = (): void => { chosen = []; };

/** Goes to the invitations, to choose who is to see these items. */
export function showToStakeholders(projectId: string, ids: readonly string[]): void {
  chosen = ids;
  goTo(pathOf(projectId, 'feedback', 'invitations'));
}
