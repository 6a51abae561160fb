// What stakeholders and members say about a project's items, and who was invited to say something.

import { attempt } from '$shared/account.svelte';
import { api, unwrap, type Schemas } from '$shared/api/client';
import { notify } from '$shared/ui/toasts.svelte';
import { t } from '$shared/words/text.svelte';
import { LiveList } from '../live-list.svelte';
import type { Project } from '../project/project.svelte';
import { SvelteMap, SvelteSet } from 'svelte/reactivity';

export type Feedback = Schemas['StakeholderFeedback'];
export type FeedbackStatus = Schemas['StakeholderFeedbackStatus'];
export type ReviewInvitation = Schemas['ProjectReviewInvitation'];
export interface FeedbackFilter {
  status?: FeedbackStatus;
  verdict?: Schemas['FeedbackVerdict'];
  targetType?: Schemas['FeedbackTargetType'];
  isRead?: boolean;
  search?: string;
}

/** The statuses on the way to another one: only what is being worked on can be decided. */
export function stepsTo(from: FeedbackStatus, to: FeedbackStatus): FeedbackStatus[] {
  if (from === to) return [];
  return from === 'IN_PROGRESS' || to === 'IN_PROGRESS' ? [to] : ['IN_PROGRESS', to];
}

export class FeedbackState {
  filter = $state.raw<FeedbackFilter>({});
  readonly list = new LiveList<Feedback>((cursor, limit) =>
    api.GET('/api/projects/{projectId}/feedback', { params: { path: this.project.path, query: { ...this.filter, limit, ...(cursor && { cursor }) } } }));
  readonly invitations = new LiveList<ReviewInvitation>((cursor, limit) =>
    api.GET('/api/projects/{projectId}/review-invitations', { params: { path: this.project.path, query: { limit, ...(cursor && { cursor }) } } }));
  /** What is being changed just now. */
  readonly busy = new SvelteSet<string>();
  /** The links of invitations that were sent here, by their ids. */
  readonly links = new SvelteMap<string, string>();

  constructor(readonly project: Project) {}

  start(): () => void {
    void this.invitations.load();
    const end = this.project.on(['feedback.', 'invitation.'], (event) => {
      if (!event || event.event.startsWith('feedback.')) this.list.request();
      // Whoever says something has accepted.
      this.invitations.request();
    });
    return () => {
      end();
      this.list.cancel();
      this.invitations.cancel();
    };
  }

  narrow(filter: FeedbackFilter): void {
    this.filter = filter;
    this.list.request();
  }

  /** Throws ApiError. */
  async move({ id, status }: Feedback, to: FeedbackStatus, note?: string): Promise<void> {
    const steps = stepsTo(status, to);
    for (const [index, step] of steps.entries()) {
      const isLast = index === steps.length - 1;
      await this.#change(id, { status: step, isRead: true, ...(isLast && note && { resolutionNote: note }) });
    }
    notify(t(`feedback.moved.${to}`));
  }

  readonly mark = (feedback: Feedback, isRead: boolean): Promise<void> => this.#whileBusy(feedback.id, () => this.#change(feedback.id, { isRead }));

  readonly takeUp = (feedback: Feedback): Promise<void> => this.#whileBusy(feedback.id, () => this.move(feedback, 'IN_PROGRESS'));

  readonly putBack = (feedback: Feedback): Promise<void> => this.#whileBusy(feedback.id, () => this.move(feedback, 'OPEN'));

  /** Throws ApiError. */
  async invite(body: Schemas['CreateReviewInvitation']): Promise<void> {
    const { items } = await unwrap(api.POST('/api/projects/{projectId}/review-invitations', { params: { path: this.project.path }, body }));
    this.#keepLinks(items);
    notify(t('invitations.sent', { count: items.length }));
    await this.invitations.load();
  }

  readonly resend = ({ id, email }: ReviewInvitation): Promise<void> => this.#whileBusy(id, async () => {
    const params = { path: { ...this.project.path, invitationId: id } };
    const sent = await unwrap(api.POST('/api/projects/{projectId}/review-invitations/{invitationId}/resend', { params }));
    this.#keepLinks([sent]);
    this.invitations.put(sent);
    notify(t('invitations.resent', { email }));
  });

  /** Throws ApiError. */
  async revoke({ id, email }: ReviewInvitation): Promise<void> {
    await unwrap(api.DELETE('/api/projects/{projectId}/review-invitations/{invitationId}', { params: { path: { ...this.project.path, invitationId: id } } }));
    notify(t('invitations.revoked', { email }));
    await this.invitations.load();
  }

  /** Links are told once: they can be copied until the view is left. */
  #keepLinks(invitations: readonly ReviewInvitation[]): void {
    for (const { id, link } of invitations) if (link) this.links.set(id, link);
  }

  async #change(feedbackId: string, body: Schemas['UpdateFeedbackStatus']): Promise<void> {
    this.list.put(await unwrap(api.PATCH('/api/projects/{projectId}/feedback/{feedbackId}', { params: { path: { ...this.project.path, feedbackId } }, body })));
  }

  async #whileBusy(id: string, work: () => Promise<void>): Promise<void> {
    this.busy.add(id);
    await attempt(work);
    this.busy.delete(id);
  }
}
