// The glossary of a project as it is edited: one version is read, and all entries are written at once over that version.

import { attempt } from '$shared/account.svelte';
import { api, ApiError, unwrap, type Schemas } from '$shared/api/client';
import type { Project } from '../project/project.svelte';

export type Entry = Schemas['GlossaryEntry'];

/** Whether others have changed meanwhile what was to be changed. */
export const isConflict = (thrown: unknown): thrown is ApiError => thrown instanceof ApiError && thrown.status === 412;
/** The glossary was read again since, so that the server would not refuse it. */
const changedMeanwhile = () => new ApiError(412, [{ code: 'PreconditionFailed', field: null, reason: null, message: 'The entry was changed.' }]);

const byTerm = new Intl.Collator(undefined, { sensitivity: 'base', numeric: true });

export class GlossaryState {
  entries = $state.raw<Entry[]>([]);
  isLoaded = $state(false);
  #version = 0;

  constructor(readonly project: Project) {}

  readonly load = (): Promise<void> => attempt(async () => {
    const { entries, version } = await unwrap(api.GET('/api/projects/{projectId}/glossary', { params: { path: this.project.path } }));
    this.#take(entries, version);
  });

  /**
   * Puts `entry` in the place of `former`, or adds it where there is none; without an entry, `former` goes. What others have
   * saved meanwhile stays: the change is made to that. Throws ApiError; 412 if they have changed the same entry, which is then
   * found in `entries` as it is now.
   */
  async save(former: Entry | null, entry: Entry | null): Promise<void> {
    try {
      await this.#write(former, entry);
    } catch (thrown) {
      if (!isConflict(thrown)) throw thrown;
      await this.load();
      await this.#write(former, entry);
    }
  }

  /** The entry of a term as it is now. */
  find(term: string): Entry | null {
    return this.entries.find((entry) => entry.term === term) ?? null;
  }

  async #write(former: Entry | null, entry: Entry | null): Promise<void> {
    if (former && JSON.stringify(former) !== JSON.stringify(this.find(former.term))) throw changedMeanwhile();
    const rest = this.entries.filter(({ term }) => term !== former?.term);
    const body = { entries: entry ? [...rest, entry] : rest };
    const params = { path: this.project.path, header: { 'If-Match': `"${this.#version}"` } };
    const { entries, version } = await unwrap(api.PUT('/api/projects/{projectId}/glossary', { params, body }));
    this.#take(entries, version);
  }

  #take(entries: Entry[], version: number): void {
    this.entries = [...entries].sort((one, other) => byTerm.compare(one.term, other.term));
    this.#version = version;
    this.isLoaded = true;
  }
}
