// How much of a project waits for its reader: it is counted for the menu, once the project is followed, and after what changes it.

import { reportFailure } from '$shared/account.svelte';
import { api, ApiError, unwrap } from '$shared/api/client';
import type { TopicEvent } from '$shared/topics/socket';
import { coalesce } from './coalesce';
import type { Project } from './project.svelte';

/** It is counted at most so often: somebody may be approving one item a second. */
const COUNT_MS = 1_500;

/** A list whose open entries wait. */
class Count {
  value = $state(0);
  readonly #count = coalesce(() => this.#read(), COUNT_MS);

  constructor(readonly project: Project, readonly events: RegExp, readonly ask: () => Promise<{ totalCount: number }>) {}

  tell(event: TopicEvent | null): void {
    if (event === null || this.events.test(event.event)) this.#count.request();
  }

  cancel(): void { this.#count.cancel(); }

  async #read(): Promise<void> {
    if (!this.project.canWork) {
      this.value = 0;
      return;
    }
    try {
      this.value = (await this.ask()).totalCount;
    } catch (thrown) {
      // The next event has them counted again.
      if (!(thrown instanceof ApiError && thrown.passes)) reportFailure(thrown);
    }
  }
}

export class Waiting {
  readonly #pairs: Count;
  readonly #proposals: Count;
  readonly #feedback: Count;

  constructor(project: Project) {
    const path = () => project.path;
    // The weaker pairs do not wait.
    this.#pairs = new Count(project, /^(pairs|item)\./, () =>
      unwrap(api.GET('/api/projects/{projectId}/item-pairs', { params: { path: path(), query: { status: 'OPEN', strength: 'HIGH', limit: 1 } } })));
    this.#proposals = new Count(project, /^(item|run|import|proposal)\./, () =>
      unwrap(api.GET('/api/projects/{projectId}/proposals', { params: { path: path(), query: { status: 'OPEN', limit: 1 } } })));
    this.#feedback = new Count(project, /^feedback\./, () =>
      unwrap(api.GET('/api/projects/{projectId}/feedback', { params: { path: path(), query: { status: 'OPEN', limit: 1 } } })));
  }

  /** Pairs of requirements that may repeat or contradict each other. */
  get pairs(): number { return this.#pairs.value; }
  get proposals(): number { return this.#proposals.value; }
  get feedback(): number { return this.#feedback.value; }

  /** Counts what an event concerns; all of it where events may have been missed. */
  tell(event: TopicEvent | null): void {
    for (const count of [this.#pairs, this.#proposals, this.#feedback]) count.tell(event);
  }

  cancel(): void {
    for (const count of [this.#pairs, this.#proposals, this.#feedback]) count.cancel();
  }
}
