// An invitation that a link brought: read, then accepted or declined.

import { ApiError, session } from '$shared/api/client';
import { explain } from '$shared/words/errors';
import * as operations from '../operations';
import { InvitationLink } from './invitation-link';
import { afterInvitationRefusal, type Ending, type LogInReason } from './views';

interface Outcomes {
  enter: () => Promise<void>;
  end: (ending: Ending, code?: string) => void;
  logIn: (reason: LogInReason) => void;
  show: () => void;
  isShown: () => boolean;
}

export class Invitation {
  preview = $state.raw<operations.Preview | null>(null);
  error = $state('');
  /** Given in the form, at first as the inviter wrote it, or the name of the account; kept while a log-in comes between. */
  displayName = $state('');
  readonly #link: InvitationLink;

  constructor(private readonly meetingId: string, private readonly outcomes: Outcomes) {
    this.#link = new InvitationLink(meetingId);
    addEventListener('hashchange', () => this.#link.takeFromAddress() && location.reload());
  }

  get token(): string | null { return this.#link.token; }
  get isRead(): boolean { return this.token !== null && this.preview !== null; }

  async read(): Promise<void> {
    if (!this.token) return;
    try {
      this.preview = await operations.previewInvitation(this.token);
    } catch (error) {
      return this.#refused(error);
    }
    if (this.preview.status === 'DECLINED') return this.#over('declined');
    this.displayName ||= this.preview.displayName ?? session.person?.fullName ?? '';
    this.error = '';
    this.outcomes.show();
  }

  async accept(): Promise<void> {
    if (!this.token) return;
    this.error = '';
    try {
      const { guestToken, expiresIn } = await operations.acceptInvitation(this.token, this.displayName.trim());
      if (guestToken) session.beginGuest(this.meetingId, guestToken, expiresIn ?? 0);
    } catch (error) {
      return this.#refused(error);
    }
    this.#link.token = null;
    this.preview = null;
    await this.outcomes.enter();
  }

  async decline(): Promise<void> {
    if (!this.token) return;
    this.error = '';
    try {
      await operations.declineInvitation(this.token);
    } catch (error) {
      return this.#refused(error);
    }
    this.#over('declined');
  }

  #over(ending: Ending): void {
    this.#link.token = null;
    this.outcomes.end(ending);
  }

  #refused(error: unknown): void {
    if (!(error instanceof ApiError)) throw error;
    const next = afterInvitationRefusal(error, this.outcomes.isShown());
    if ('logIn' in next) return this.outcomes.logIn(next.logIn);
    if ('end' in next && next.end === 'failed') return this.outcomes.end('failed', explain(error));
    if ('end' in next) return this.#over(next.end);
    this.error = explain(error);
  }
}
