// The keys of a player, for the parts of a page that belong to it. They count while the focus is there (WCAG 2.1.4).

import { STEP_MS, type Playback } from './playback.svelte';

export function playerKeys(playback: Pick<Playback, 'toggle' | 'skip'>): (event: KeyboardEvent) => void {
  const acts: Record<string, () => void> = {
    ' ': () => playback.toggle(), k: () => playback.toggle(), j: () => playback.skip(-STEP_MS), l: () => playback.skip(STEP_MS),
  };
  return (event) => {
    const { target, key, ctrlKey, metaKey, altKey } = event;
    if (event.defaultPrevented || ctrlKey || metaKey || altKey || !(target instanceof HTMLElement)) return;
    // Keys that are written, and those that press what has the focus, are not meant for the player.
    if (target.closest('textarea, select, input:not([type="range"])') || (key === ' ' && target.closest('button, a, summary'))) return;
    const act = acts[key.toLowerCase()];
    if (!act) return;
    event.preventDefault();
    act();
  };
}
