// A meeting as its topic gives it: a snapshot, and the events folded over it.

import type { Schemas } from '../api/client';
import type { TopicEvent } from '../topics/socket';

export type Meeting = Schemas['Meeting'];
export type Participant = Omit<Schemas['Participant'], 'email'>;
export type Recording = Schemas['Recording'];
export type Answer = 'granted' | 'refused' | 'unanswered';
export interface Snapshot { meeting: Meeting; participants: Participant[]; recordings: Recording[] }

/** Whether there is something to hear in a recording; not where only its transcript was attached. */
export const hasSound = ({ mimeType }: Recording): boolean => /^(audio|video)\//.test(mimeType);

/** Whether nobody was asked here for consent. */
export const hasNobodyJoined = ({ participants }: MeetingState): boolean => [...participants.values()].every(({ joinedAt }) => joinedAt === null);

/** What is being recorded at the moment, whoever records it. */
export interface RecordingState {
  kind: 'none' | 'on' | 'paused';
  /** The participants whose consent is missing. */
  waitsFor: Participant[];
}

/** Never changed: each event gives a new one. */
export class MeetingState {
  private constructor(
    readonly meeting: Meeting,
    readonly participants: ReadonlyMap<string, Participant>,
    readonly recordings: ReadonlyMap<string, Recording>,
  ) {}

  static of({ meeting, participants, recordings }: Snapshot): MeetingState {
    const byId = <Item extends { id: string }>(items: Item[]) => new Map(items.map((item) => [item.id, item]));
    return new MeetingState(meeting, byId(participants), byId(recordings));
  }

  /** Events that only say what to read again change nothing here. */
  fold({ event, data }: Pick<TopicEvent, 'event' | 'data'>): MeetingState {
    const [kind, verb] = event.split('.');
    if (kind === 'meeting') return new MeetingState({ ...this.meeting, ...(data as Meeting) }, this.participants, this.recordings);
    if (kind === 'participant') return this.withParticipant(data as Participant);
    if (kind !== 'recording') return this;
    const recordings = new Map(this.recordings);
    const recording = data as Recording;
    if (verb === 'deleted') recordings.delete(recording.id);
    else recordings.set(recording.id, recording);
    return new MeetingState(this.meeting, this.participants, recordings);
  }

  withParticipant(participant: Participant): MeetingState {
    return new MeetingState(this.meeting, new Map(this.participants).set(participant.id, participant), this.recordings);
  }

  participant(id: string | null): Participant | undefined {
    return id === null ? undefined : this.participants.get(id);
  }

  nameOf(id: string): string {
    return this.participants.get(id)?.displayName ?? '?';
  }

  /** The recordings that are being made now: not a file that is uploaded meanwhile. */
  get recordedNow(): Recording[] {
    return [...this.recordings.values()].filter(({ status, uploadMode }) => status === 'ACTIVE' && uploadMode !== 'SINGLE_FILE');
  }

  get recordingState(): RecordingState {
    const active = this.recordedNow;
    if (active.length === 0) return { kind: 'none', waitsFor: [] };
    // Two may run at once, by track: one that is not paused hears everybody.
    if (active.some(({ paused }) => !paused)) return { kind: 'on', waitsFor: [] };
    const ids = new Set(active.flatMap(({ pausedFor }) => pausedFor));
    return { kind: 'paused', waitsFor: [...ids].flatMap((id) => this.participants.get(id) ?? []) };
  }
}

/** What somebody answered to the question of consent. */
export function answerOf(participant: Participant | undefined): Answer {
  const consent = participant?.consent.recordingConsent ?? null;
  if (consent === null) return 'unanswered';
  return consent ? 'granted' : 'refused';
}
