// The baselines of a project.

import { api, unwrap, type Schemas } from '$shared/api/client';
import { notify } from '$shared/ui/toasts.svelte';
import { t } from '$shared/words/text.svelte';
import { LiveList } from '../live-list.svelte';
import type { Project } from '../project/project.svelte';

export type Baseline = Schemas['Baseline'];

export class BaselinesState {
  readonly list = new LiveList<Baseline>((cursor, limit) =>
    api.GET('/api/projects/{projectId}/baselines', { params: { path: this.project.path, query: { limit, ...(cursor && { cursor }) } } }), { whole: true });

  constructor(readonly project: Project) {}

  start(): () => void {
    void this.list.load();
    // No event tells of a baseline: others' come after a break, and when the view is opened.
    const end = this.project.on([], () => this.list.request());
    return () => {
      end();
      this.list.cancel();
    };
  }

  /** Throws ApiError. */
  async take(name: string, note: string): Promise<void> {
    this.list.put(await unwrap(api.POST('/api/projects/{projectId}/baselines', { params: { path: this.project.path }, body: { name, note: note.trim() || null } })));
    notify(t('baselines.taken', { name }));
  }

  /** What differs in another baseline, or (null) now. Throws ApiError. */
  compare(baselineId: string, other: string | null): Promise<Schemas['BaselineComparison']> {
    return unwrap(api.GET('/api/projects/{projectId}/baselines/{baselineId}/comparison', {
      params: { path: { ...this.project.path, baselineId }, query: other ? { with: other } : {} },
    }));
  }
}
