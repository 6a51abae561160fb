// The requirements of the project in the address, and which of them is open.

import { attempt } from '$shared/account.svelte';
import { api, ApiError, pages, unwrap, type Schemas } from '$shared/api/client';

export type Requirement = Schemas['Requirement'];
export type SourceReference = Schemas['SourceReference'];

const byCode = new Intl.Collator('en', { numeric: true });
const address = new URLSearchParams(location.search);

export class Review {
  readonly projectId = address.get('project') ?? '';
  project = $state.raw<Schemas['Project'] | null>(null);
  documents = $state.raw<Schemas['Document'][]>([]);
  requirements = $state.raw<Requirement[]>([]);
  /** The id of the requirement that the reader chose. */
  chosen = $state(address.get('requirement'));
  isLoaded = $state(false);
  /** Whether the project does not exist, or is not open to this user. */
  isMissing = $state(false);

  readonly #path = { projectId: this.projectId };
  readonly #texts = new Map<string, Promise<Schemas['DocumentText']>>();

  load = (): Promise<void> => attempt(async () => {
    const params = { path: this.#path };
    try {
      const [project, documents] = await Promise.all([
        unwrap(api.GET('/api/projects/{projectId}', { params })),
        unwrap(api.GET('/api/projects/{projectId}/documents', { params: { ...params, query: { limit: 100 } } })),
      ]);
      this.project = project;
      this.documents = documents.items;
      const found: Requirement[] = [];
      const list = (cursor: string | undefined) =>
        api.GET('/api/projects/{projectId}/requirements', { params: { ...params, query: { limit: 100, ...(cursor && { cursor }) } } });
      for await (const page of pages(list)) {
        found.push(...page.items);
        // The newest come first from the server; people read from REQ-001 on.
        this.requirements = [...found].sort((one, other) => byCode.compare(one.code, other.code));
      }
      this.isLoaded = true;
    } catch (thrown) {
      if (!(thrown instanceof ApiError && [400, 403, 404].includes(thrown.status))) throw thrown;
      this.isMissing = true;
    }
  });

  choose(id: string): void {
    this.chosen = id;
    history.replaceState(null, '', this.hrefOf(id));
  }

  hrefOf(id: string): string {
    return `?${new URLSearchParams({ project: this.projectId, requirement: id })}`;
  }

  /** The text of a document never changes, so it is asked for once. */
  textOf(documentId: string): Promise<Schemas['DocumentText']> {
    const known = this.#texts.get(documentId);
    if (known) return known;
    const path = { ...this.#path, documentId };
    const asked = unwrap(api.GET('/api/projects/{projectId}/documents/{documentId}/text', { params: { path } }));
    this.#texts.set(documentId, asked);
    asked.catch(() => this.#texts.delete(documentId));
    return asked;
  }

  fileNameOf(documentId: string | null): string {
    return this.documents.find(({ id }) => id === documentId)?.fileName ?? '';
  }
}
