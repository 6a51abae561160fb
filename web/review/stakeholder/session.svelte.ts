// A stakeholder's review, from the mailed link to its end.
//
//   loading --> invitation --> reading --> over (ended)
//      |  `---------------------^  |         ^
//      `--> over (gone, …)         `--> over (elsewhere) --> reading (the link is accepted again)

import { ApiError } from '$shared/api/client';
import * as api from './api';
import { Drafts } from './drafts';
import { itemIdOf, itemsOf, type Item } from './items';
import { Outbox } from './outbox.svelte';
import { readAccess, writeAccess, type Access } from './storage';
import type { ReviewDashboard, ReviewInvitationPreview, StakeholderFeedback } from './types';

/**
 * Why nothing can be read: the link has expired, was revoked, is one of those without saying which, or is unknown; the
 * review ended while it was open; the link was opened elsewhere; there was no link; the server failed.
 */
export type Ending = 'expired' | 'revoked' | 'gone' | 'unknown' | 'ended' | 'elsewhere' | 'none' | 'failed';
export type View = 'loading' | 'invitation' | 'reading' | 'over';

/** Own feedback is read anew when the reader comes back to the page after so long. */
const FRESH_MS = 60_000;

/** What a refusal means, of the link itself or of what was read with its token. */
export function endingOf({ status }: ApiError, of: 'link' | 'review'): Ending {
  if (status === 410) return of === 'link' ? 'gone' : 'ended';
  if (status === 401) return 'elsewhere';
  return of === 'link' && (status === 400 || status === 404) ? 'unknown' : 'failed';
}

export class ReviewSession {
  view = $state<View>('loading');
  ending = $state<Ending>('none');
  /** Why, where `ending` is `failed`. */
  error = $state.raw<ApiError | null>(null);
  preview = $state.raw<ReviewInvitationPreview | null>(null);
  dashboard = $state.raw<ReviewDashboard | null>(null);
  outbox = $state.raw<Outbox | null>(null);
  drafts: Drafts | null = null;
  inviterName = $state<string | null>(null);
  #feedback = $state.raw<readonly StakeholderFeedback[]>([]);
  #access: Access | null = readAccess();
  #readAt = 0;

  readonly items: readonly Item[] = $derived(this.dashboard ? itemsOf(this.dashboard) : []);
  readonly canComment = $derived(this.dashboard !== null && this.dashboard.permission !== 'VIEWER');
  readonly canJudge = $derived(this.dashboard?.permission === 'APPROVER');
  /** The stakeholder's own feedback by items, the newest first. */
  readonly feedback: ReadonlyMap<string, readonly StakeholderFeedback[]> = $derived.by(() => {
    const byItem = new Map<string, StakeholderFeedback[]>();
    for (const one of this.#feedback) byItem.set(itemIdOf(one), [...(byItem.get(itemIdOf(one)) ?? []), one]);
    for (const list of byItem.values()) list.sort((one, other) => other.createdAt.localeCompare(one.createdAt));
    return byItem;
  });
  readonly answered = $derived(this.items.filter(({ id }) => this.feedback.has(id)).length);

  begin = async (): Promise<void> => {
    this.view = 'loading';
    this.inviterName = this.#access?.inviterName ?? null;
    if (!this.#access) return this.#end('none');
    if (this.#access.reviewToken !== null) return this.#read(this.#access.reviewToken);
    try {
      this.preview = await api.previewInvitation(this.#access.invitationToken);
    } catch (thrown) {
      return this.#refused(thrown, 'link');
    }
    const { inviterName, status } = this.preview;
    this.#remember({ inviterName });
    if (status === 'EXPIRED' || status === 'REVOKED') return this.#end(status === 'EXPIRED' ? 'expired' : 'revoked');
    this.view = 'invitation';
  };

  /** Throws what the form is to show; what ends the review is shown by the page. */
  accept = async (fullName: string): Promise<void> => {
    if (!this.#access) return this.#end('none');
    let reviewToken: string;
    try {
      ({ reviewToken } = await api.acceptInvitation(this.#access.invitationToken, fullName.trim()));
    } catch (thrown) {
      if (thrown instanceof ApiError && endingOf(thrown, 'link') === 'failed') throw thrown;
      return this.#refused(thrown, 'link');
    }
    this.#remember({ reviewToken });
    await this.#read(reviewToken);
  };

  /** Tries once more: what failed, or the link that was opened elsewhere meanwhile. */
  again = async (): Promise<void> => {
    if (this.ending !== 'elsewhere') return this.begin();
    this.view = 'loading';
    this.dashboard = null;
    await this.accept('').catch((thrown: unknown) => this.#refused(thrown, 'link'));
  };

  /** The team may have answered meanwhile. A failure leaves what is there. */
  refresh = async (): Promise<void> => {
    const token = this.#access?.reviewToken;
    if (this.view !== 'reading' || !token || Date.now() - this.#readAt < FRESH_MS) return;
    this.#readAt = Date.now();
    try {
      const listed = await api.listFeedback(token);
      // What was sent while the list was on its way is not in it.
      const known = new Set(listed.map(({ id }) => id));
      this.#feedback = [...listed, ...this.#feedback.filter(({ id }) => !known.has(id))];
    } catch (thrown) {
      if (thrown instanceof ApiError && endingOf(thrown, 'review') !== 'failed') this.#refused(thrown, 'review');
    }
  };

  async #read(token: string): Promise<void> {
    let dashboard: ReviewDashboard;
    try {
      [dashboard, this.#feedback] = await Promise.all([api.readDashboard(token), api.listFeedback(token)]);
    } catch (thrown) {
      return this.#refused(thrown, 'review');
    }
    this.#readAt = Date.now();
    this.drafts = new Drafts(dashboard.projectId);
    this.outbox = new Outbox(this.drafts, {
      send: (feedback, key) => api.submitFeedback(token, feedback, key),
      onSent: (feedback) => { this.#feedback = [...this.#feedback.filter(({ id }) => id !== feedback.id), feedback]; },
      onOver: (error) => this.#refused(error, 'review'),
    });
    this.dashboard = dashboard;
    this.view = 'reading';
    if (this.canComment) this.outbox.resume();
  }

  #refused(thrown: unknown, of: 'link' | 'review'): void {
    if (!(thrown instanceof ApiError)) throw thrown;
    this.error = thrown;
    this.#end(endingOf(thrown, of));
  }

  #end(ending: Ending): void {
    // The token is good for nothing any more; the link says on the next visit what became of it.
    if (ending === 'ended') this.#remember({ reviewToken: null });
    this.ending = ending;
    this.view = 'over';
  }

  #remember(more: Partial<Access>): void {
    if (!this.#access) return;
    this.#access = { ...this.#access, ...more };
    this.inviterName = this.#access.inviterName;
    writeAccess(this.#access);
  }
}
