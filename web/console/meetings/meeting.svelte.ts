// A meeting that is open in the console: what it is, who takes part, what was recorded, and whom it invites; kept up to date
// by its events.
//
// It outlives its view, so that an upload goes on and no correction is lost while its reader looks at something else.

import { attempt, currentUser, reportFailure } from '$shared/account.svelte';
import { api, ApiError, pages, unwrap, type Schemas } from '$shared/api/client';
import { Corrections } from '$shared/recording/corrections.svelte';
import { RecordingImport } from '$shared/recording/import.svelte';
import { MeetingState, type Participant, type Recording, type Snapshot } from '$shared/recording/meeting';
import type { RecordingPage } from '$shared/recording/page';
import type { TopicEvent } from '$shared/topics/socket';
import { LiveList } from '../live-list.svelte';
import { coalesce } from '../project/coalesce';
import type { Project } from '../project/project.svelte';

export type Invitation = Schemas['MeetingInvitation'];

export class OpenMeeting implements RecordingPage {
  details = $state.raw<Schemas['MeetingDetails'] | null>(null);
  meeting = $state.raw<MeetingState | null>(null);
  /** Whether it does not exist, or is not open to this user. */
  isMissing = $state(false);
  readonly corrections: Corrections;
  readonly importing: RecordingImport;
  readonly invitations: LiveList<Invitation>;
  readonly #reload = coalesce(() => this.load());
  /** How often the topic has told of something. */
  #told = 0;

  /** `former`: the same meeting as it was open before, whose work goes on here. */
  constructor(readonly project: Project, readonly id: string, former?: OpenMeeting) {
    this.corrections = former?.corrections ?? new Corrections();
    this.importing = former?.importing ?? new RecordingImport(id);
    this.invitations = new LiveList<Invitation>((cursor, limit) =>
      api.GET('/api/meetings/{meetingId}/invitations', { params: { path: this.path, query: { limit, ...(cursor && { cursor }) } } }));
  }

  get path(): { meetingId: string } { return { meetingId: this.id }; }
  get title(): string | null { return this.details?.title ?? null; }
  get participants(): Participant[] { return [...(this.meeting?.participants.values() ?? [])]; }
  get me(): Participant | undefined { return this.meeting?.participant(this.details?.myParticipantId ?? null); }
  /** Newest first. */
  get recordings(): Recording[] {
    return [...(this.meeting?.recordings.values() ?? [])].sort((one, other) => Date.parse(other.startedAt) - Date.parse(one.startedAt));
  }
  get isHost(): boolean { return this.details?.myRole === 'HOST' || this.details?.myRole === 'CO_HOST' || this.project.isManager; }
  /** Whether the meeting may be changed: by its hosts, in a project that is not archived. */
  get mayHost(): boolean { return this.isHost && this.project.isActive; }
  get mayCorrect(): boolean { return this.project.canWork; }
  /** Whether the recordings may be heard: by analysts, hosts, and members who were there. */
  get mayListen(): boolean {
    return this.project.isAnalyst || this.isHost || (this.me?.joinedAt != null && this.me.status !== 'REMOVED');
  }

  /** Loads the meeting and follows it; returns what ends that. */
  start(): () => void {
    void this.load();
    const end = this.project.on([], () => this.#reload.request());
    const unfollow = this.project.follow(`meeting:${this.id}`, {
      snapshot: (data) => {
        this.#told += 1;
        this.meeting = MeetingState.of(data as Snapshot);
        // Corrections may have been missed.
        this.corrections.missedChanges();
      },
      event: (event) => this.#happened(event),
    });
    return () => {
      end();
      unfollow();
      this.#reload.cancel();
      this.invitations.cancel();
    };
  }

  readonly load = (): Promise<void> => attempt(async () => {
    const told = this.#told;
    try {
      const details = await unwrap(api.GET('/api/meetings/{meetingId}', { params: { path: this.path } }));
      const [participants, recordings] = await Promise.all([this.#participants(), this.#recordings()]);
      // Answers that were overtaken by what was told meanwhile are better than none, but not than that.
      const isOvertaken = this.#told !== told;
      if (!isOvertaken || !this.meeting) this.meeting = MeetingState.of({ meeting: details, participants, recordings });
      if (isOvertaken) this.#reload.request();
      this.details = details;
      this.isMissing = false;
    } catch (thrown) {
      if (!(thrown instanceof ApiError && [400, 403, 404].includes(thrown.status))) throw thrown;
      this.isMissing = true;
      return;
    }
    if (this.isHost) await this.invitations.load();
  });

  readonly turnedAway = (error: unknown): void => reportFailure(error);

  async #participants(): Promise<Participant[]> {
    const all: Participant[] = [];
    for await (const { items } of pages((cursor) =>
      api.GET('/api/meetings/{meetingId}/participants', { params: { path: this.path, query: { limit: 100, ...(cursor && { cursor }) } } }))) all.push(...items);
    return all;
  }

  async #recordings(): Promise<Recording[]> {
    const all: Recording[] = [];
    for await (const { items } of pages((cursor) =>
      api.GET('/api/meetings/{meetingId}/recordings', { params: { path: this.path, query: { limit: 100, ...(cursor && { cursor }) } } }))) all.push(...items);
    return all;
  }

  #happened(event: TopicEvent): void {
    if (event.event === 'transcript.changed') return this.corrections.changed((event.data as { recordingId: string }).recordingId);
    if (event.event.startsWith('invitation.')) return this.invitations.request();
    this.#told += 1;
    this.meeting = this.meeting?.fold(event) ?? null;
    // The version and what the reader may do come by GET alone.
    if (event.event.startsWith('meeting.')) this.#reload.request();
  }
}

const open = new Map<string, OpenMeeting>();

/** The meeting as this reader has it open, with what they have begun in it. */
export function openMeeting(project: Project, id: string): OpenMeeting {
  const key = `${currentUser()?.email} ${project.id} ${id}`;
  const known = open.get(key);
  if (known?.project === project) return known;
  // A page that was left and entered again has made another project.
  const meeting = new OpenMeeting(project, id, known);
  open.set(key, meeting);
  return meeting;
}
