// One run: its newest state, told by the socket; while that is broken, asked for every two seconds.

import { reportFailure } from '$shared/account.svelte';
import { api, ApiError, unwrap } from '$shared/api/client';
import type { Project } from '../project/project.svelte';
import { readEvents } from './events';
import { isUnderWay, withState, type Beginnings, type Run } from './timeline';

const POLL_MS = 2_000;

export class RunState {
  run = $state.raw<Run | null>(null);
  isMissing = $state(false);
  beginnings = $state.raw<Beginnings>(new Map());

  #etag: string | null = null;
  #readAttempt = 0;

  constructor(readonly project: Project, readonly id: string) {}

  /** Whether the state is asked for, since the socket does not tell it. */
  get isPolling(): boolean { return this.run !== null && isUnderWay(this.run) && !this.project.isConnected; }

  get params(): { path: { projectId: string; runId: string } } { return { path: { ...this.project.path, runId: this.id } }; }

  /** Loads the run and follows it; returns what ends that. */
  start(): () => void {
    void this.load();
    const end = this.project.on(['run.'], (event) => {
      if (event === null) void this.load();
      else if ((event.data as Run).id === this.id) this.take(event.data as Run);
    });
    const polling = setInterval(() => {
      if (this.isPolling && navigator.onLine) void this.load();
    }, POLL_MS);
    return () => {
      end();
      clearInterval(polling);
    };
  }

  async load(): Promise<void> {
    try {
      const headers = this.#etag ? { 'If-None-Match': this.#etag } : {};
      const call = api.GET('/api/projects/{projectId}/ai/runs/{runId}', { params: this.params, headers });
      const { response } = await call;
      if (response.status === 304) return;
      this.take(await unwrap(call));
      this.#etag = response.headers.get('ETag');
    } catch (thrown) {
      if (thrown instanceof ApiError && [400, 404].includes(thrown.status)) this.isMissing = true;
      // While asking again and again, a call that is not answered is no news: the frame says that the connection is gone.
      else if (!(thrown instanceof ApiError && thrown.passes && this.run)) reportFailure(thrown);
    }
  }

  /** Shows a state, unless a newer one is shown. */
  take(run: Run): void {
    if (this.run && Date.parse(run.updatedAt) < Date.parse(this.run.updatedAt)) return;
    if (run.attempt !== this.run?.attempt) this.beginnings = new Map();
    this.run = run;
    this.beginnings = withState(this.beginnings, run, run.attempt);
    // Once when it comes, and once when it has ended, for what was missed meanwhile.
    const wanted = isUnderWay(run) ? run.attempt * 2 - 1 : run.attempt * 2;
    if (this.#readAttempt >= wanted) return;
    this.#readAttempt = wanted;
    void this.#readEvents(run);
  }

  async #readEvents(run: Run): Promise<void> {
    try {
      await readEvents(run, (state) => { this.beginnings = withState(this.beginnings, state, this.run?.attempt ?? run.attempt); });
    } catch {
      // The times of the steps are missing then, and nothing else.
    }
  }
}
