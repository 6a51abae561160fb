// The operations of a stakeholder without an account. The invitation is named by its token, the review by the header
// X-Review-Token; an access token that may be in this browser is not sent along.

import { addressOf, ApiError, send } from '$shared/api/client';
import type { Failure } from '$shared/api/error';
import { language } from '$shared/words/text.svelte';
import type { ProjectReviewAccess, ReviewDashboard, ReviewInvitationPreview, StakeholderFeedback, SubmitFeedback } from './types';

interface Call { method?: 'GET' | 'POST'; headers?: Record<string, string>; body?: unknown }

/** The data of the envelope. Throws ApiError. */
async function call<Data>(path: string, { method = 'GET', headers = {}, body }: Call = {}): Promise<Data> {
  const all = { 'Accept-Language': language(), ...(body !== undefined && { 'Content-Type': 'application/json' }), ...headers };
  const request = new Request(addressOf(path), { method, headers: all, ...(body !== undefined && { body: JSON.stringify(body) }) });
  const response = await send(request);
  const answer = (await response.json().catch(() => undefined)) as { data: Data } | undefined;
  if (response.ok && answer) return answer.data;
  throw ApiError.of(response, answer && 'errors' in answer ? (answer as unknown as Failure) : undefined);
}

const invitation = (token: string): string => `/api/review-invitations/${encodeURIComponent(token)}`;
const reviewer = (reviewToken: string): Record<string, string> => ({ 'X-Review-Token': reviewToken });

export const previewInvitation = (token: string): Promise<ReviewInvitationPreview> => call(invitation(token));

/** Each acceptance gives a new review token; the one before ends. */
export const acceptInvitation = (token: string, fullName: string): Promise<ProjectReviewAccess> =>
  call(`${invitation(token)}/accept`, { method: 'POST', body: fullName ? { fullName } : {} });

export const readDashboard = (reviewToken: string): Promise<ReviewDashboard> =>
  call('/api/project-review/dashboard', { headers: reviewer(reviewToken) });

interface FeedbackPage {
  items: StakeholderFeedback[];
  nextCursor: string | null;
}

/** The stakeholder's own feedback, all of it, newest first. */
export const listFeedback = async (reviewToken: string): Promise<StakeholderFeedback[]> => {
  const all: StakeholderFeedback[] = [];
  let cursor: string | null = '';
  while (cursor !== null) {
    const query: string = cursor && `&cursor=${encodeURIComponent(cursor)}`;
    const page: FeedbackPage = await call(`/api/project-review/feedback?limit=100${query}`, { headers: reviewer(reviewToken) });
    all.push(...page.items);
    cursor = page.nextCursor;
  }
  return all;
};

/** With the same key, the same feedback is stored once, however often it is sent. */
export const submitFeedback = (reviewToken: string, feedback: SubmitFeedback, key: string): Promise<StakeholderFeedback> => {
  const { targetId, verdict, ...rest } = feedback;
  const body = { ...rest, ...(targetId !== null && { targetId }), ...(verdict !== null && { verdict }) };
  return call('/api/project-review/feedback', { method: 'POST', headers: { ...reviewer(reviewToken), 'Idempotency-Key': key }, body });
};
