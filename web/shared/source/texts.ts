// The texts of documents, by their ids and versions. The text of a version never changes, so each is asked for once.

import { api, unwrap, type Schemas } from '../api/client';

type Text = Schemas['DocumentText'];

export class DocumentTexts {
  readonly #texts = new Map<string, Promise<Text>>();

  constructor(readonly projectId: string) {}

  read(documentId: string, version: number): Promise<Text> {
    const key = `${documentId}/${version}`;
    const known = this.#texts.get(key);
    if (known) return known;
    const path = { projectId: this.projectId, documentId };
    const asked = unwrap(api.GET('/api/projects/{projectId}/documents/{documentId}/text', { params: { path, query: { version } } }));
    this.#texts.set(key, asked);
    asked.catch(() => this.#texts.delete(key));
    return asked;
  }
}
