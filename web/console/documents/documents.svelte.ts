// The documents of a project, as the address filters them, kept up to date by events.

import { api, type Schemas } from '$shared/api/client';
import { LiveList } from '../live-list.svelte';
import type { Project } from '../project/project.svelte';
import { query } from '../route.svelte';

export type Document = Schemas['Document'];
export const STATUSES = ['PENDING', 'PROCESSING', 'READY', 'FAILED'] as const;
export type Status = (typeof STATUSES)[number];
export const TONES = { PENDING: 'plain', PROCESSING: 'accent', READY: 'good', FAILED: 'grave' } as const;

export const chosenStatus = (): Status | '' => STATUSES.find((status) => status === query().get('status')) ?? '';
export const searched = (): string => query().get('search') ?? '';

export class Documents {
  readonly list: LiveList<Document>;

  constructor(readonly project: Project) {
    this.list = new LiveList<Document>((cursor, limit) => {
      const [status, search] = [chosenStatus(), searched()];
      const filter = { limit, ...(cursor && { cursor }), ...(status && { status }), ...(search && { search }) };
      return api.GET('/api/projects/{projectId}/documents', { params: { path: project.path, query: filter } });
    });
  }

  /** Follows the documents; returns what ends that. */
  start(): () => void {
    const end = this.project.on(['document.'], () => this.list.request());
    return () => {
      end();
      this.list.cancel();
    };
  }
}
