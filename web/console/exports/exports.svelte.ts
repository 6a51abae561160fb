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
export type ExportFormat = Schemas['DashboardFormat'];
const FORMATS: readonly ExportFormat[] = ['XLSX', 'DOCX', 'PDF', 'HTML', 'MARKDOWN', 'CSV', 'JSON', 'REQIF'];
/** What people read; where nobody chooses, they have what is approved. */
export const DOCUMENTS: readonly ExportFormat[] = ['DOCX', 'PDF', 'HTML', 'MARKDOWN'];

export class ExportsState {
  files = $state.raw<FileExport[]>([]);
  isLoaded = $state(false);
  /** Those that the server makes; PDF only once it says so. */
  formats = $state.raw<readonly ExportFormat[]>(FORMATS.filter((format) => format !== 'PDF'));
  readonly downloading = new SvelteSet<string>();
  readonly #reload = coalesce(() => this.reload());

  constructor(readonly project: Project) {}

  start(): () => void {
    void this.reload();
    void this.#askFormats();
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

  readonly #askFormats = (): Promise<void> => attempt(async () => {
    const { formats } = await unwrap(api.GET('/api/projects/{projectId}/ai/results-dashboard/exports/formats', { params: { path: this.project.path } }));
    this.formats = FORMATS.filter((format) => formats.includes(format));
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
