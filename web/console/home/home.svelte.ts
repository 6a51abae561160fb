// What the home of a project shows: its documents, meetings and newest analysis run, kept up to date by events.

import { attempt } from '$shared/account.svelte';
import { api, unwrap, type Schemas } from '$shared/api/client';
import { coalesce } from '../project/coalesce';
import type { Project } from '../project/project.svelte';

export type Run = Schemas['AiAnalysisRun'];
export type Document = Schemas['Document'];
export type Meeting = Schemas['MeetingListItem'];

export class HomeState {
  documents = $state.raw<Document[]>([]);
  meetings = $state.raw<Meeting[]>([]);
  run = $state.raw<Run | null>(null);
  isLoaded = $state(false);

  readonly #reload = coalesce(() => this.reload());
  /** How to stop following a topic, by the topic. */
  readonly #followed = new Map<string, () => void>();

  constructor(readonly project: Project) {}

  /** Loads everything and follows it; returns what ends that. */
  start(): () => void {
    void this.reload();
    const end = this.project.on(['document.', 'meeting.', 'run.'], (event) => {
      if (event?.event !== 'run.progressed') this.#reload.request();
    });
    return () => {
      end();
      this.#reload.cancel();
      for (const topic of [...this.#followed.keys()]) this.#unfollow(topic);
    };
  }

  readonly reload = (): Promise<void> => attempt(async () => {
    const params = { path: this.project.path };
    const [documents, meetings, runs] = await Promise.all([
      unwrap(api.GET('/api/projects/{projectId}/documents', { params: { ...params, query: { limit: 100 } } })),
      unwrap(api.GET('/api/projects/{projectId}/meetings', { params: { ...params, query: { limit: 100 } } })),
      unwrap(api.GET('/api/projects/{projectId}/ai/runs', { params: { ...params, query: { limit: 1 } } })),
    ]);
    this.documents = documents.items;
    this.meetings = meetings.items;
    if (runs.items[0]) this.showRun(runs.items[0]);
    this.#followMeetings();
    this.isLoaded = true;
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
    this.#followed.set(topic, this.project.follow(topic, { snapshot: take, event: ({ data }) => take(data) }));
  }

  #followMeetings(): void {
    for (const { id, status } of this.meetings) {
      const topic = `meeting:${id}`;
      if (status === 'ENDED' || status === 'CANCELLED') this.#unfollow(topic);
      else if (!this.#followed.has(topic)) {
        const event = ({ event: name }: { event: string }): void => {
          if (name.startsWith('meeting.')) this.#reload.request();
        };
        this.#followed.set(topic, this.project.follow(topic, { snapshot: () => undefined, event }));
      }
    }
  }

  #unfollow(topic: string): void {
    this.#followed.get(topic)?.();
    this.#followed.delete(topic);
  }
}
