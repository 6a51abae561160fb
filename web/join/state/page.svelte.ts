// The state of the page, and what changes it: the reader's actions and the events of the meeting. What follows from
// what is decided in views.ts; what the reader sees is in the components.

import { ApiError, logOut, session, type Schemas } from '$shared/api/client';
import { TopicSocket, type TopicEvent } from '$shared/topics/socket';
import { explain } from '$shared/words/errors';
import { language, setLanguage } from '$shared/words/text.svelte';
import * as operations from '../operations';
import { Corrections } from '$shared/recording/corrections.svelte';
import { MediaRoom } from '../room/room.svelte';
import { RecordingImport } from '$shared/recording/import.svelte';
import { HostRecording } from '../recording/recording.svelte';
import { announce } from '$shared/ui/announcer.svelte';
import { Connection } from './connection.svelte';
import { eventAnnouncements, recordingSentence } from './announcements';
import { Invitation } from './invitation.svelte';
import { answerOf, MeetingState, type Participant, type Snapshot } from '$shared/recording/meeting';
import { afterRefusal, CLOSED, nextStep, type Ending, type LogInReason, type View } from './views';

export class JoinPage {
  view = $state.raw<View>({ name: 'loading' });
  details = $state.raw<operations.Details | null>(null);
  meeting = $state.raw<MeetingState | null>(null);
  isConsentOpen = $state(false);
  /** Whether somebody is signed in, and not as a guest. */
  isMember = $state(session.person !== null);
  myId = $state<string | null>(null);
  projectRole = $state<Schemas['ProjectRole'] | null>(null);

  readonly me = $derived(this.meeting?.participant(this.myId));
  readonly isHost = $derived(this.details?.myRole === 'HOST' || this.details?.myRole === 'CO_HOST');
  readonly mayHost = $derived(this.isHost || this.projectRole === 'MANAGER' || this.projectRole === 'OWNER');
  readonly mayCorrect = $derived(this.projectRole !== null && this.projectRole !== 'STAKEHOLDER');
  readonly title = $derived(this.meeting?.meeting.title ?? this.details?.title ?? null);

  readonly connection = new Connection();
  readonly room: MediaRoom;
  readonly recording: HostRecording;
  readonly importing: RecordingImport;
  readonly invitation: Invitation;
  readonly corrections = new Corrections();
  #socket: TopicSocket | null = null;
  /** Whether this person is to be in the meeting whenever it is held, and whether they are, as far as this page did it. */
  #comes = true;
  #isIn = false;

  constructor(readonly meetingId: string) {
    session.resumeGuest(meetingId);
    this.isMember = session.person !== null && !session.isGuest;
    session.whenChanged(() => { if (this.view.name === 'logIn' && session.person) void this.enter(); });
    this.room = new MediaRoom({
      credentials: () => operations.issueRoomCredentials(meetingId),
      refused: () => void this.reread().then(() => this.#settle(), (error: unknown) => this.turnedAway(error)),
    });
    this.recording = new HostRecording(meetingId, this.room);
    this.importing = new RecordingImport(meetingId);
    this.invitation = new Invitation(meetingId, {
      enter: () => this.enter(),
      end: (ending, code) => this.#end(ending, code),
      logIn: (reason) => this.askToLogIn(reason),
      show: () => { this.view = { name: 'invitation' }; },
      isShown: () => this.view.name === 'invitation',
    });
  }

  begin(): Promise<void> {
    return this.invitation.token ? this.invitation.read() : this.enter();
  }

  askToLogIn(reason: LogInReason): void {
    if (reason === 'whyOther') session.end();
    this.isMember = session.person !== null;
    this.view = { name: 'logIn', reason };
  }

  async logIn(email: string, password: string): Promise<void> {
    const answer = await operations.logIn(email, password);
    void session.begin(answer);
    this.isMember = true;
    const preferred = answer.user.language === 'AR' ? 'ar' : 'en';
    if (!new URLSearchParams(location.search).has('lang') && preferred !== language()) await setLanguage(preferred).catch(() => undefined);
    await (this.invitation.isRead ? this.invitation.accept() : this.enter());
  }

  /** Goes to the meeting: reads it and follows it; #settle says what comes next. */
  enter = async (): Promise<void> => {
    this.isMember = session.person !== null && !session.isGuest;
    if (!session.token) return this.askToLogIn(this.invitation.token ? 'whyInvitation' : 'why');
    try {
      await this.reread();
    } catch (error) {
      return this.turnedAway(error);
    }
    this.connection.report(true);
    this.#socket?.close();
    this.#socket = new TopicSocket({ ticket: operations.issueSocketTicket, connection: this.connection.report });
    this.#socket.follow(`meeting:${this.meetingId}`, {
      snapshot: (data) => this.#begun(data as Snapshot),
      event: (event) => this.#happened(event),
      // Reading it again says why, or begins anew.
      refused: () => this.connection.retryAfter(this.enter, 1_000),
    });
    if (!this.isMember) return;
    void this.recording.resume();
    void this.#readProjectRole();
  };

  /** Reads what concerns this person alone, the wording of consent among it. */
  async reread(): Promise<void> {
    this.details = await operations.readMeeting(this.meetingId);
    this.myId = this.details.myParticipantId ?? this.myId;
  }

  /** Without an answer nothing is offered that the role decides; the meeting itself goes on. */
  async #readProjectRole(): Promise<void> {
    const { projectId } = this.details ?? {};
    if (projectId) this.projectRole = await operations.readProjectRole(projectId).catch(() => null);
  }

  /** Takes over a participant as an operation answered. */
  take(participant: Participant): void {
    this.myId = participant.id;
    this.meeting = this.meeting?.withParticipant(participant) ?? null;
  }

  start = async (): Promise<void> => { await operations.startMeeting(this.meetingId); };
  endForAll = async (): Promise<void> => { await operations.endMeeting(this.meetingId); };

  leave = async (): Promise<void> => {
    this.#comes = false;
    this.#leaveRoom();
    // Gone without a word is gone too: the server notices.
    await operations.leaveMeeting(this.meetingId).catch(() => undefined);
    this.#end('left');
  };

  again = async (): Promise<void> => {
    const ending = this.view.name === 'ended' ? this.view.ending : null;
    if (ending === 'left') {
      this.#comes = true;
      return this.#settle();
    }
    if (ending === 'forbidden') {
      session.end();
      return this.askToLogIn('why');
    }
    this.#close();
    await this.begin();
  };

  logOut = async (): Promise<void> => {
    if (this.#isIn) await this.leave();
    await logOut();
    this.corrections.clear();
    session.end();
    this.#close();
    this.askToLogIn('why');
  };

  #begun(snapshot: Snapshot): void {
    const isFirst = this.meeting === null;
    // Events may have been missed.
    if (!isFirst) this.corrections.missedChanges();
    this.meeting = MeetingState.of(snapshot);
    if (isFirst) this.#comes = this.me?.status !== 'LEFT';
    // Away for so long that the meeting took this person for gone: they did not leave.
    else if (this.#isIn && this.me?.status === 'LEFT') this.#isIn = false;
    this.recording.follow(this.meeting.recordings);
    this.#settle();
  }

  #happened(event: TopicEvent): void {
    if (!this.meeting) return;
    if (event.event === 'transcript.changed') return this.corrections.changed((event.data as { recordingId: string }).recordingId);
    const before = this.meeting;
    this.meeting = before.fold(event);
    this.recording.follow(this.meeting.recordings);
    if (this.#isIn) {
      for (const sentence of eventAnnouncements(before, this.meeting, event, this.myId)) announce(sentence);
      const now = recordingSentence(this.meeting);
      if (now !== recordingSentence(before)) announce(now);
    }
    if (this.#isIn && this.me?.status === 'LEFT' && before.participant(this.myId)?.status !== 'LEFT') {
      // For want of a sign of life while the connection was broken: they come back. Else they left in another window.
      this.#isIn = false;
      this.#comes = this.connection.isCatchingUp;
    }
    if (event.event === 'meeting.ended') void this.reread().catch(() => undefined).then(() => this.#settle());
    else this.#settle();
  }

  #settle(): void {
    if (!this.meeting || !this.details) return;
    const next = nextStep(this.meeting, this.myId, this.#comes, this.#isIn);
    if ('end' in next) return this.#end(next.end);
    if ('join' in next) return void this.#join();
    if ('stay' in next) return;
    this.connection.succeeded();
    this.view = { name: 'waiting' };
  }

  async #join(): Promise<void> {
    this.#isIn = true;
    try {
      const participant = await operations.joinMeeting(this.meetingId);
      // Whatever ended it meanwhile counts.
      if (!this.#isIn) return;
      this.take(participant);
    } catch (error) {
      if (!this.#isIn) return;
      this.#isIn = false;
      // The meeting is further than this page knows.
      if (error instanceof ApiError && error.code === 'InvalidState') return this.connection.retry(this.enter);
      return this.turnedAway(error);
    }
    this.connection.succeeded();
    this.view = { name: 'meeting' };
    void this.room.start();
    if (answerOf(this.me) === 'unanswered') this.isConsentOpen = true;
  }

  /** What somebody sees who may not enter, or whose access has ended. */
  turnedAway = (error: unknown): void => {
    if (!(error instanceof ApiError)) throw error;
    const next = afterRefusal(error, { wasGuest: session.isGuest, isRemoved: this.me?.status === 'REMOVED' });
    if ('retry' in next) {
      this.connection.report(false);
      return this.connection.retry(this.enter, (error.retryAfter ?? 0) * 1000);
    }
    if ('logIn' in next) {
      this.#close();
      return this.askToLogIn(next.logIn);
    }
    this.#end(next.end, next.end === 'failed' ? explain(error) : '');
  };

  #end(ending: Ending, code = ''): void {
    this.#leaveRoom();
    this.connection.cancel();
    if (CLOSED.has(ending)) this.#socket?.close();
    if (this.view.name === 'ended' && this.view.ending === ending && this.view.code === code) return;
    this.view = { name: 'ended', ending, code };
  }

  /** Sound, picture and recording stop, and what is in front goes. */
  #leaveRoom(): void {
    this.#isIn = false;
    this.isConsentOpen = false;
    this.recording.stop();
    this.room.stop();
  }

  /** As if nobody had been here. */
  #close(): void {
    this.#leaveRoom();
    this.#socket?.close();
    this.#socket = null;
    this.meeting = null;
    this.details = null;
    this.myId = null;
    this.projectRole = null;
    this.connection.cancel();
  }
}
