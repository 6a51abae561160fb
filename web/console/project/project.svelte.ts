// A project with its documents, meetings and newest analysis run, kept up to date by the events of their topics.

import { attempt } from '$shared/account.svelte';
import { api, ApiError, unwrap, type Schemas } from '$shared/api/client';
import { TopicSocket } from '$shared/topics/socket';
import { coalesce } from './coalesce';

export type Run = Schemas['AiAnalysisRun'];
export type Document = Schemas['Document'];
export type Meeting = Schemas['MeetingListItem'];

export class ProjectState {
  details = $state.raw<Schemas['Project'] | null>(null);
  documents = $state.raw<Document[]>([]);
  meetings = $state.raw<Meeting[]>([]);
  run = $state.raw<Run | null>(null);
  isLoaded = $state(false);
  /** Whether the project does not exist, or is not open to this user. */
  isMissing = $state(false);
  isConnected = $state(true);

  readonly #path: { projectId: string };
  readonly #socket = new TopicSocket({
    ticket: async () => (await unwrap(api.POST('/api/ws/tickets'))).ticket,
    connection: (isUp) => { this.isConnected = isUp; },
  });
  readonly #reload = coalesce(() => this.reload());
  /** How to stop following a topic, by the topic. */
  readonly #followed = new Map<string, () => void>();

  constructor(readonly id: string) {
    this.#path = { projectId: id };
  }

  /** Loads everything and follows it; returns what ends that. */
  start(): () => void {
    void this.reload().then(() => {
      if (!this.isMissing) this.#follow(`project:${this.id}`, ({ event }) => event !== 'run.progressed');
    });
    return () => {
      this.#reload.cancel();
      this.#socket.close();
    };
  }

  readonly reload = (): Promise<void> => attempt(async () => {
    const params = { path: this.#path };
    try {
      const [details, documents, meetings, runs] = await Promise.all([
        unwrap(api.GET('/api/projects/{projectId}', { params })),
        unwrap(api.GET('/api/projects/{projectId}/documents', { params: { ...params, query: { limit: 100 } } })),
        unwrap(api.GET('/api/projects/{projectId}/meetings', { params: { ...params, query: { limit: 100 } } })),
        unwrap(api.GET('/api/projects/{projectId}/ai/runs', { params: { ...params, query: { limit: 1 } } })),
      ]);
      this.details = details;
      this.documents = documents.items;
      this.meetings = meetings.items;
      if (runs.items[0]) this.showRun(runs.items[0]);
      this.#followMeetings();
      this.isLoaded = true;
    } catch (thrown) {
      if (!(thrown instanceof ApiError && [400, 403, 404].includes(thrown.status))) throw thrown;
      this.isMissing = true;
    }
  });

  /** Shows a run, and follows it until it ends. */
  showRun(run: Run): void {
    // What a call returns may be older than what an event has told since.
    const isOlder = run.id === this.run?.id && Date.parse(run.updatedAt) < Date.parse(this.run.updatedAt);
    if (!isOlder) this.run = run;
    const topic = `run:${run.id}`;
    const isFinished = run.completedAt !== null;
    if (isFinished) return this.#unfollow(topic);
    if (this.#followed.has(topic)) return;
    const take = (data: unknown): void => {
      this.showRun(data as Run);
      if ((data as Run).completedAt) this.#reload.request();
    };
    this.#followed.set(topic, this.#socket.follow(topic, { snapshot: take, event: ({ data }) => take(data) }));
  }

  #followMeetings(): void {
    for (const { id, status } of this.meetings) {
      if (status === 'ENDED' || status === 'CANCELLED') this.#unfollow(`meeting:${id}`);
      else this.#follow(`meeting:${id}`, ({ event }) => event.startsWith('meeting.'));
    }
  }

  /** Reloads at the events that `matters` picks. */
  #follow(topic: string, matters: (event: { event: string }) => boolean): void {
    if (this.#followed.has(topic)) return;
    // Something may have changed between the load and the snapshot.
    const snapshot = (): void => this.#reload.request();
    const event = (topicEvent: { event: string }): void => {
      if (matters(topicEvent)) this.#reload.request();
    };
    this.#followed.set(topic, this.#socket.follow(topic, { snapshot, event }));
  }

  #unfollow(topic: string): void {
    this.#followed.get(topic)?.();
    this.#followed.delete(topic);
  }
}
