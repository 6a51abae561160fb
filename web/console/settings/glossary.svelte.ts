// The glossary of a project as it is edited: one version is read, and all entries are written at once over that version.

import { attempt } from '$shared/account.svelte';
import { api, ApiError, unwrap, type Schemas } from '$shared/api/client';
import { notify } from '$shared/ui/toasts.svelte';
import { t } from '$shared/words/text.svelte';
import type { Project } from '../project/project.svelte';

export type Entry = Schemas['GlossaryEntry'];

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
   * saved meanwhile stays: the change is made to that, unless they have changed the same entry.
   */
  async save(former: Entry | null, entry: Entry | null): Promise<void> {
    try {
      await this.#write(former, entry);
    } catch (thrown) {
      if (!(thrown instanceof ApiError && thrown.status === 412)) throw thrown;
      const before = former && JSON.stringify(former);
      await this.load();
      const now = former && this.entries.find(({ term }) => term === former.term);
      if (before !== (now ? JSON.stringify(now) : null)) {
        notify(t('settings.termChanged', { term: former?.term ?? '' }), 'fault');
        return;
      }
      await this.#write(now ?? null, entry);
    }
  }

  async #write(former: Entry | null, entry: Entry | null): Promise<void> {
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
