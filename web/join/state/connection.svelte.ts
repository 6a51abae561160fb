// Whether the page hears of what happens in the meeting, and when it tries again.

import { t } from '$shared/words/text.svelte';
import { announce } from '$shared/ui/announcer.svelte';

/** What was missed while the connection was broken comes within so long after it is back. */
const CATCHING_UP_MS = 5_000;
const SHORTEST_MS = 1_000;
const LONGEST_MS = 20_000;

export class Connection {
  isUp = $state(true);
  #backAt = -Infinity;
  #failures = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  readonly report = (isUp: boolean): void => {
    if (isUp && !this.isUp) {
      this.#backAt = performance.now();
      announce(t('connection.back'));
    }
    this.isUp = isUp;
  };

  get isCatchingUp(): boolean { return performance.now() - this.#backAt < CATCHING_UP_MS; }

  /** Tries again, later with each failure. */
  retry(act: () => Promise<void>, atLeastMs = 0): void {
    this.retryAfter(act, Math.max(atLeastMs, Math.min(LONGEST_MS, SHORTEST_MS * 2 ** this.#failures++)));
  }

  retryAfter(act: () => Promise<void>, ms: number): void {
    this.cancel();
    this.#timer = setTimeout(() => void act(), ms);
  }

  cancel(): void { clearTimeout(this.#timer); }

  succeeded(): void { this.#failures = 0; }
}
