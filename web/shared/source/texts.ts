// The texts of documents, by their ids. A text never changes, so each is asked for once.

import { api, unwrap, type Schemas } from '../api/client';

type Text = Schemas['DocumentText'];

export class DocumentTexts {
  readonly #texts = new Map<string, Promise<Text>>();

  constructor(readonly projectId: string) {}

  read(documentId: string): Promise<Text> {
    const known = this.#texts.get(documentId);
    if (known) return known;
    const path = { projectId: this.projectId, documentId };
    const asked = unwrap(api.GET('/api/projects/{projectId}/documents/{documentId}/text', { params: { path } }));
    this.#texts.set(documentId, asked);
    asked.catch(() => this.#texts.delete(documentId));
    return asked;
  }
}
