// What the page shows: one view at a time.
//
//   loading --> log-in -----+--> waiting --> meeting --> ended (over, cancelled, removed, left, …)
//         `---> invitation -'       `---------'^ `--- joins again --'

import { ApiError } from '$shared/api/client';
import type { MeetingState } from '$shared/recording/meeting';

export type Ending =
  | 'over' | 'cancelled' | 'removed' | 'left' | 'declined' | 'gone' | 'unknown' | 'access' | 'forbidden' | 'failed';

export type LogInReason = 'why' | 'whyInvitation' | 'whyOther' | 'whyEnded';

export type View =
  | { name: 'loading' | 'invitation' | 'waiting' | 'meeting' }
  | { name: 'logIn'; reason: LogInReason }
  | { name: 'ended'; ending: Ending; code: string };

/** After these, nothing of the meeting is shown to this person any more. */
export const CLOSED: ReadonlySet<Ending> = new Set(['removed', 'access', 'forbidden', 'unknown', 'failed']);

export type NextStep = { show: 'waiting' } | { end: Ending } | { join: true } | { stay: true };

/** What follows for this person from what the meeting has become. `comes`: they want to be in it; `isIn`: they are. */
export function nextStep(state: MeetingState, myId: string | null, comes: boolean, isIn: boolean): NextStep {
  if (state.participant(myId)?.status === 'REMOVED') return { end: 'removed' };
  switch (state.meeting.status) {
    case 'CANCELLED': return { end: 'cancelled' };
    case 'ENDED': return { end: 'over' };
    case 'SCHEDULED': return { show: 'waiting' };
    case 'LIVE':
      if (!comes) return { end: 'left' };
      return isIn ? { stay: true } : { join: true };
  }
}

export type AfterRefusal = { retry: true } | { logIn: LogInReason } | { end: Ending };

/** What follows when the meeting can't be read or joined. */
export function afterRefusal(error: ApiError, who: { wasGuest: boolean; isRemoved: boolean }): AfterRefusal {
  const { status } = error;
  if (error.passes) return { retry: true };
  if (status === 401 && !who.wasGuest) return { logIn: 'whyEnded' };
  if (status === 404 || status === 400) return { end: 'unknown' };
  if (status === 401 || status === 403) return { end: who.isRemoved ? 'removed' : who.wasGuest ? 'access' : 'forbidden' };
  return { end: 'failed' };
}

export type AfterInvitationRefusal = AfterRefusal | { explain: true };

/** What a refused invitation means. */
export function afterInvitationRefusal({ status }: ApiError, isShown: boolean): AfterInvitationRefusal {
  if (status === 401) return { logIn: 'whyInvitation' };
  if (status === 403) return { logIn: 'whyOther' };
  if (status === 404 || status === 400) return { end: 'unknown' };
  if (status === 410) return { end: 'gone' };
  return isShown ? { explain: true } : { end: 'failed' };
}
