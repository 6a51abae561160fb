// A list and the one of it that is open: which of them is in sight where there is room for one alone, and where the focus goes.

import { tick } from 'svelte';

interface Focusable { focus: () => void }

export class PanesState {
  /** On narrow screens, the open one takes the place of the list. */
  isOpenShown = $state(false);
  /** What stands above the open one, where it takes that place. */
  bar = $state<HTMLElement>();

  constructor(private readonly list: () => Focusable | undefined, private readonly open: () => Focusable | undefined) {}

  /** Shows the open one where the list is, or the list again. */
  async turnTo(shown: 'list' | 'open'): Promise<void> {
    this.isOpenShown = shown === 'open';
    await tick();
  }

  /** The open one is read: the focus goes there only where the list went away, and the focus with it. */
  readonly read = async (): Promise<void> => {
    await this.turnTo('open');
    if (this.#isListAway) this.open()?.focus();
  };

  readonly returnToList = async (): Promise<void> => {
    await this.turnTo('list');
    this.list()?.focus();
  };

  /** Another one was opened: the focus comes along. */
  async follow(): Promise<void> {
    await tick();
    if (this.#isListAway) this.open()?.focus();
    else this.list()?.focus();
  }

  get #isListAway(): boolean {
    return Boolean(this.bar?.offsetParent);
  }
}
