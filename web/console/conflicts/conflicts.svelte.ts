// The pairs of a project's requirements that are to be settled.

import { attempt } from '$shared/account.svelte';
import { api, ApiError, unwrap } from '$shared/api/client';
import { notify } from '$shared/ui/toasts.svelte';
import { t } from '$shared/words/text.svelte';
import { LiveList } from '../live-list.svelte';
import type { Project } from '../project/project.svelte';
import { pairsOf, type Pair, type Requirement } from './pairs';

export class ConflictsState {
  readonly list = new LiveList<Requirement>((cursor, limit) =>
    api.GET('/api/projects/{projectId}/requirements', { params: { path: this.project.path, query: { limit, ...(cursor && { cursor }) } } }), { whole: true });
  readonly pairs = $derived(pairsOf(this.list.items));

  constructor(readonly project: Project) {}

  start(): () => void {
    void this.list.load();
    const end = this.project.on(['item.', 'run.completed', 'run.partial'], () => this.list.request());
    return () => {
      end();
      this.list.cancel();
    };
  }

  /** Rejects one of a pair. Throws ApiError, also when it was changed since it was shown. */
  async reject(pair: Pair, { id, code, version }: Requirement, comment: string): Promise<void> {
    try {
      await unwrap(api.PATCH('/api/projects/{projectId}/requirements/{requirementId}/status', {
        params: { path: { ...this.project.path, requirementId: id }, header: { 'If-Match': `"${version}"` } },
        body: { workflowStatus: 'REJECTED', comment, reasonCode: pair.kind === 'DUPLICATE' ? 'DUPLICATE' : 'OTHER' },
      }));
      notify(t('conflicts.rejected', { code }));
    } catch (thrown) {
      if (!(thrown instanceof ApiError && thrown.status === 412)) throw thrown;
      notify(t('conflicts.stale', { code }), 'fault');
    }
    await this.list.load();
  }

  /** Approves both of a pair, each with a comment that names the other. */
  readonly keepBoth = ({ one, other }: Pair): Promise<void> => attempt(async () => {
    for (const [kept, beside] of [[one, other], [other, one]] as const) {
      const { items: [outcome] } = await unwrap(api.POST('/api/projects/{projectId}/items/status', {
        params: { path: this.project.path },
        body: {
          items: [{ targetType: 'REQUIREMENT', id: kept.id, version: kept.version }],
          workflowStatus: 'APPROVED', comment: t('conflicts.kept', { code: beside.code }),
        },
      }));
      const isApproved = outcome?.ok || (outcome?.errorCode === 'InvalidState' && kept.workflowStatus === 'APPROVED');
      if (!isApproved) {
        notify(t('conflicts.stale', { code: kept.code }), 'fault');
        return this.list.load();
      }
    }
    notify(t('conflicts.keptBoth', { one: one.code, other: other.code }));
    await this.list.load();
  });
}
