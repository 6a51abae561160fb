// The files that the caller's project was exported to.

import { attempt } from '$shared/account.svelte';
import { api, unwrap, type Schemas } from '$shared/api/client';
import { readFile, saveFile } from '$shared/download';
import { notify } from '$shared/ui/toasts.svelte';
import { t } from '$shared/words/text.svelte';
import { coalesce } from '../project/coalesce';
import type { Project } from '../project/project.svelte';
import { SvelteSet } from 'svelte/reactivity';

export type FileExport = Schemas['DashboardExport'];
export const FORMATS = ['XLSX', 'DOCX', 'PDF', 'HTML', 'MARKDOWN', 'CSV', 'JSON', 'REQIF'] as const;

export class ExportsState {
  files = $state.raw<FileExport[]>([]);
  isLoaded = $state(false);
  readonly downloading = new SvelteSet<string>();
  readonly #reload = coalesce(() => this.reload());

  constructor(readonly project: Project) {}

  start(): () => void {
    void this.reload();
    const end = this.project.on(['dashboardExport.'], this.#reload.request);
    return () => {
      end();
      this.#reload.cancel();
    };
  }

  readonly reload = (): Promise<void> => attempt(async () => {
    // The dashboard lists the exports, with all items beside them: those of a source that no project has are none.
    const query = { source: this.project.id };
    const { exports } = await unwrap(api.GET('/api/projects/{projectId}/ai/results-dashboard', { params: { path: this.project.path, query } }));
    this.files = exports;
    this.isLoaded = true;
  });

  /** Throws ApiError. */
  async make(body: Schemas['ExportDashboard']): Promise<void> {
    const made = await unwrap(api.POST('/api/projects/{projectId}/ai/results-dashboard/exports', { params: { path: this.project.path }, body }));
    this.files = [made, ...this.files.filter(({ id }) => id !== made.id)];
    notify(t(made.status === 'READY' ? 'exports.made' : 'exports.begun'));
  }

  async download({ id, url, fileName }: FileExport): Promise<void> {
    this.downloading.add(id);
    await attempt(async () => saveFile(await readFile(url), fileName));
    this.downloading.delete(id);
  }
}
