// What was written and is not with the server: a draft for each item while it is being written, and an unsent answer from
// the moment it is sent until the server has it. Both are kept by name in the storage of the tab.

import { namesBelow, read, write } from './storage';
import type { SubmitFeedback } from './types';

export interface Draft { code: string; comment: string }
export interface Unsent extends SubmitFeedback {
  code: string;
  /** Names the sending: whoever sends it again sends the same one. */
  key: string;
}

const DRAFT = 'draft.';
const UNSENT = 'unsent.';

/** The drafts and unsent answers of one project. */
export class Drafts {
  readonly #projectId: string;

  constructor(projectId: string) {
    this.#projectId = projectId;
  }

  read(itemId: string): string {
    return read<Draft>(this.#name(DRAFT, itemId))?.comment ?? '';
  }

  /** Returns whether it is kept. */
  write(itemId: string, draft: Draft): boolean {
    return write(this.#name(DRAFT, itemId), draft.comment.trim() === '' ? null : draft);
  }

  writeUnsent(itemId: string, unsent: Unsent | null): boolean {
    return write(this.#name(UNSENT, itemId), unsent);
  }

  /** The unsent answers by their items. */
  unsent(): Map<string, Unsent> {
    const below = `${UNSENT}${this.#projectId}.`;
    return new Map(namesBelow(below).flatMap((itemId) => {
      const unsent = read<Unsent>(below + itemId);
      return unsent ? [[itemId, unsent] as const] : [];
    }));
  }

  /** What was written on other items than these. */
  besides(itemIds: ReadonlySet<string>): Draft[] {
    return [UNSENT, DRAFT].flatMap((kind) => {
      const below = `${kind}${this.#projectId}.`;
      return namesBelow(below).flatMap((itemId) => (itemIds.has(itemId) ? [] : (read<Draft>(below + itemId) ?? [])));
    });
  }

  #name(kind: string, itemId: string): string {
    return `${kind}${this.#projectId}.${itemId}`;
  }
}

/** All that was written in this tab and is not with the server, for whoever can't send it any more. */
export const leftOver = (): Draft[] =>
  [UNSENT, DRAFT].flatMap((kind) => namesBelow(kind).flatMap((name) => read<Draft>(kind + name) ?? []));
