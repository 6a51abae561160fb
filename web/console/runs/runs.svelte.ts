// The runs of a project, newest first, kept up to date by events.

import { api } from '$shared/api/client';
import { LiveList } from '../live-list.svelte';
import type { Project } from '../project/project.svelte';
import { isUnderWay, type Run } from './timeline';

export const TONES = { QUEUED: 'plain', PROCESSING: 'accent', COMPLETED: 'good', PARTIAL: 'warn', REJECTED: 'grave', FAILED: 'grave', CANCELLED: 'plain' } as const;
const POLL_MS = 2_000;

export class Runs {
  readonly list: LiveList<Run>;

  constructor(readonly project: Project) {
    this.list = new LiveList<Run>((cursor, limit) =>
      api.GET('/api/projects/{projectId}/ai/runs', { params: { path: project.path, query: { limit, ...(cursor && { cursor }) } } }));
  }

  /** Loads the runs and follows them; returns what ends that. */
  start(): () => void {
    void this.list.load();
    const end = this.project.on(['run.'], (event) => {
      if (event === null) this.list.request();
      else this.#take(event.data as Run);
    });
    const polling = setInterval(() => {
      if (!this.project.isConnected && navigator.onLine && this.list.items.some(isUnderWay)) this.list.request();
    }, POLL_MS);
    return () => {
      end();
      clearInterval(polling);
      this.list.cancel();
    };
  }

  #take(run: Run): void {
    const known = this.list.items.find(({ id }) => id === run.id);
    if (!known || Date.parse(known.updatedAt) <= Date.parse(run.updatedAt)) this.list.put(run);
  }
}
