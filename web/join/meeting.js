// A meeting as it is told: a snapshot, and the events folded over it. No element of the page is touched here.

/** @typedef {{id: string, title: string, status: 'SCHEDULED' | 'LIVE' | 'ENDED' | 'CANCELLED', scheduledAt: string,
 *   startedAt: string | null, endedAt: string | null, endReason?: string | null}} Meeting */
/** @typedef {{recordingConsent: boolean | null, scopes: string[], wordingVersion: string | null,
 *   consentedAt: string | null}} Consent */
/** @typedef {{id: string, displayName: string, role: string, status: 'INVITED' | 'JOINED' | 'LEFT' | 'REMOVED',
 *   consent?: Consent | null, connected?: boolean, joinedAt: string | null, leftAt: string | null}} Participant */
/** @typedef {{id: string, status: string, paused?: boolean, pausedFor?: string[]}} Recording */
/** @typedef {{kind: 'none' | 'on' | 'paused', waitsFor: string[]}} RecordingState */

export class MeetingState {
  /** @param {{meeting: Meeting, participants: Participant[], recordings: Recording[]}} snapshot */
  constructor({ meeting, participants, recordings }) {
    this.meeting = meeting;
    /** @type {Map<string, Participant>} */
    this.participants = new Map(participants.map((one) => [one.id, one]));
    /** @type {Map<string, Recording>} */
    this.recordings = new Map(recordings.map((one) => [one.id, one]));
  }

  /**
   * Takes an event in; gives what the thing was before. Events that only say what to read again change nothing here.
   * @param {import('./socket.js').Happening} happening
   * @returns {Participant | undefined} the participant before, where it is about one
   */
  fold({ event, data }) {
    const kind = event.split('.')[0];
    if (kind === 'meeting') this.meeting = { ...this.meeting, ...data };
    if (kind === 'recording') this.recordings.set(data.id, data);
    if (kind !== 'participant') return undefined;
    const before = this.participants.get(data.id);
    this.participants.set(data.id, data);
    return before;
  }

  /** @returns {RecordingState} */
  recording() {
    const active = [...this.recordings.values()].filter((one) => one.status === 'ACTIVE');
    if (active.length === 0) return { kind: 'none', waitsFor: [] };
    // Two may run at once, by track: one that is not paused hears everybody.
    if (active.some((one) => !one.paused)) return { kind: 'on', waitsFor: [] };
    const waitsFor = active.flatMap((one) => one.pausedFor ?? []);
    return { kind: 'paused', waitsFor: [...new Set(waitsFor)].map((id) => this.nameOf(id)) };
  }

  /** @param {string} id */
  nameOf(id) {
    return this.participants.get(id)?.displayName ?? '?';
  }
}

/** What somebody answered. @param {Participant | undefined} participant @returns {'granted' | 'refused' | 'unanswered'} */
export function answered(participant) {
  const answer = participant?.consent?.recordingConsent ?? null;
  if (answer === null) return 'unanswered';
  return answer ? 'granted' : 'refused';
}
