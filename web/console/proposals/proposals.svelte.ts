// What a later run, or a file that came back, would change: to be accepted or dismissed.

import { attempt, reportFailure } from '$shared/account.svelte';
import { api, ApiError, pages, unwrap, type Schemas } from '$shared/api/client';
import { notify } from '$shared/ui/toasts.svelte';
import { t } from '$shared/words/text.svelte';
import { SvelteMap, SvelteSet } from 'svelte/reactivity';
import type { Item } from '../items/fields';
import { LiveList } from '../live-list.svelte';
import type { Project } from '../project/project.svelte';

export type Proposal = Schemas['Proposal'];
export type ItemImport = Schemas['ItemImport'];
export interface ProposalFilter {
  status: Schemas['ProposalStatus'];
  kind?: Schemas['ProposalKind'];
  targetType?: Schemas['ProposalTarget'];
  importId?: string;
  runId?: string;
}
export type Decision = 'accept' | 'dismiss';

/** After so many calls in a row that failed, no further one is made. */
const MOST_FAILURES_IN_A_ROW = 2;

export class ProposalsState {
  filter = $state.raw<ProposalFilter>({ status: 'OPEN' });
  readonly list = new LiveList<Proposal>((cursor, limit) =>
    api.GET('/api/projects/{projectId}/proposals', { params: { path: this.project.path, query: { ...this.filter, limit, ...(cursor && { cursor }) } } }));
  readonly imports = new LiveList<ItemImport>((cursor, limit) =>
    api.GET('/api/projects/{projectId}/imports', { params: { path: this.project.path, query: { limit, ...(cursor && { cursor }) } } }));
  readonly chosen = new SvelteSet<string>();
  /** What stands now, of items that were changed after their proposal was made. */
  readonly changed = new SvelteMap<string, Item>();
  /** How many of a decision about several are done. */
  progress = $state.raw<{ done: number; total: number; isStopping: boolean } | null>(null);
  isUploading = $state(false);

  constructor(readonly project: Project) {}

  start(): () => void {
    void this.imports.load();
    const end = this.project.on(['import.', 'run.completed', 'run.partial', 'item.'], (event) => {
      if (!event || event.event.startsWith('import.')) this.imports.request();
      if (!this.progress) this.list.request();
    });
    return () => {
      end();
      this.list.cancel();
      this.imports.cancel();
    };
  }

  narrow(filter: ProposalFilter): void {
    this.filter = filter;
    this.chosen.clear();
    this.list.request();
  }

  /**
   * Decides about proposals one after another, until `stop` is called. Those that can't be decided stay, and say why; what could not be
   * sent stays selected.
   */
  async decide(proposals: readonly Proposal[], decision: Decision): Promise<void> {
    this.progress = { done: 0, total: proposals.length, isStopping: false };
    let decided = 0;
    const failed: ApiError[] = [];
    let failuresInARow = 0;
    for (const proposal of proposals) {
      if (this.progress.isStopping || failuresInARow === MOST_FAILURES_IN_A_ROW) break;
      try {
        await this.#decide(proposal, decision);
        decided += 1;
        failuresInARow = 0;
        this.chosen.delete(proposal.id);
      } catch (thrown) {
        if (!(thrown instanceof ApiError)) throw thrown;
        if ([409, 412].includes(thrown.status)) await attempt(() => this.#isChanged(proposal, thrown));
        else {
          failed.push(thrown);
          // What is wrong with all of them is met once.
          failuresInARow = thrown.passes ? failuresInARow + 1 : MOST_FAILURES_IN_A_ROW;
        }
      }
      this.progress = { ...this.progress, done: this.progress.done + 1 };
    }
    this.progress = null;
    if (decided > 0) notify(t(decision === 'accept' ? 'proposals.accepted' : 'proposals.dismissed', { count: decided }));
    if (failed[0]) reportFailure(failed[0]);
    await this.list.load();
  }

  /** Decides about no further one of several. */
  readonly stop = (): void => {
    if (this.progress) this.progress = { ...this.progress, isStopping: true };
  };

  async #decide({ id, before }: Proposal, decision: Decision): Promise<void> {
    const path = { ...this.project.path, proposalId: id };
    if (decision === 'dismiss') {
      await unwrap(api.POST('/api/projects/{projectId}/proposals/{proposalId}/dismiss', { params: { path } }));
    } else {
      const seen = this.changed.get(id) ?? before;
      const header = seen ? { 'If-Match': `"${seen.version}"` } : {};
      await unwrap(api.POST('/api/projects/{projectId}/proposals/{proposalId}/accept', { params: { path, header } }));
    }
    this.changed.delete(id);
  }

  /** The item is not what it was when the proposal was made: what stands now takes the place of what stood then. */
  async #isChanged(proposal: Proposal, refusal: ApiError): Promise<void> {
    const item = refusal.status === 412 ? await this.#present(proposal) : undefined;
    if (item) this.changed.set(proposal.id, item);
    else throw refusal;
  }

  async #present({ targetId, targetType }: Proposal): Promise<Item | undefined> {
    if (targetType !== 'REQUIREMENT' && targetType !== 'USER_STORY') {
      const query = { status: 'REJECTED', type: 'UNKNOWN', priority: 'UNKNOWN' } as const;
      const found = await unwrap(api.GET('/api/projects/{projectId}/ai/results-dashboard', { params: { path: this.project.path, query } }));
      return [...found.risks, ...found.openQuestions, ...found.actionItems, ...found.decisions].find(({ id }) => id === targetId);
    }
    const ask = (cursor: string | undefined) => {
      const params = { path: this.project.path, query: { limit: 100, ...(cursor && { cursor }) } };
      return targetType === 'REQUIREMENT'
        ? api.GET('/api/projects/{projectId}/requirements', { params })
        : api.GET('/api/projects/{projectId}/user-stories', { params });
    };
    for await (const { items } of pages<Item>(ask as Parameters<typeof pages<Item>>[0])) {
      const found = items.find(({ id }) => id === targetId);
      if (found) return found;
    }
    return undefined;
  }

  readonly upload = (file: File): Promise<void> => attempt(async () => {
    this.isUploading = true;
    try {
      const made = await unwrap(api.POST('/api/projects/{projectId}/imports', {
        params: { path: this.project.path },
        body: { file },
        bodySerializer: () => {
          const form = new FormData();
          form.set('file', file, file.name);
          return form;
        },
      }));
      this.imports.put(made);
      notify(t('imports.uploaded', { name: file.name }));
      this.list.request();
    } finally {
      this.isUploading = false;
    }
  });
}
