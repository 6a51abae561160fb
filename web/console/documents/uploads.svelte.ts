// The files on their way into a project. They go on while the reader looks at other views, and stop when the session ends.
//
// checked ─ refused | duplicate | namesake ─(anyway, or as its new version)─ waiting ─ sending ─ stored (gone from here) | failed ─(retry)─ waiting

import { currentUser, reportFailure, whenSignedOut } from '$shared/account.svelte';
import { api, ApiError, unwrap, type Schemas } from '$shared/api/client';
import { notify } from '$shared/ui/toasts.svelte';
import { explain } from '$shared/words/errors';
import { t } from '$shared/words/text.svelte';
import { refusalOf, sha256, type Refusal } from './acceptance';
import { sendDocument, type ToSend } from './send';

type Document = Schemas['Document'];
export type UploadState =
  | { kind: 'checking' | 'waiting' }
  | { kind: 'sending'; sentBytes: number }
  | { kind: 'refused'; why: Refusal }
  | { kind: 'duplicate' | 'namesake'; of: Document }
  | { kind: 'failed'; why: string };

export class Upload {
  state = $state.raw<UploadState>({ kind: 'checking' });
  abort = new AbortController();
  /** `versionOf`: the document that it is a new version of. */
  constructor(readonly id: string, readonly file: File, public versionOf: Document | null = null) {}
}

export const isUnderWay = ({ state: { kind } }: Upload): boolean => kind === 'checking' || kind === 'waiting' || kind === 'sending';

/** Not randomUUID, which there is on pages with TLS alone. */
const newKey = (): string => [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('');

/** How many files are sent at once. */
const LANES = 2;

export interface Transport {
  send(toSend: ToSend): Promise<Document>;
  /** A document of the project with this name, and whether it has the same content; null if there is none. */
  namesake(file: File): Promise<{ of: Document; isSame: boolean } | null>;
}

export class Uploads {
  entries = $state.raw<readonly Upload[]>([]);
  /** Called for each file that has become a document. */
  stored: (document: Document) => void = () => undefined;

  #sending = 0;
  #storedNames: string[] = [];

  constructor(readonly projectId: string, private readonly transport: Transport = overHttp(projectId)) {
    addEventListener('beforeunload', (event) => {
      if (this.isBusy) event.preventDefault();
    });
  }

  get isBusy(): boolean { return this.entries.some(isUnderWay); }

  /** `versionOf`: the document that the files are new versions of, if they are. */
  add(files: Iterable<File>, versionOf: Document | null = null): void {
    const added = [...files].map((file) => new Upload(newKey(), file, versionOf));
    this.entries = [...this.entries, ...added];
    for (const upload of added) void this.#check(upload);
  }

  /** Sends a file all the same, or once more. */
  retry(upload: Upload): void {
    upload.abort = new AbortController();
    upload.state = { kind: 'waiting' };
    this.#next();
  }

  /** Sends a file as a new version of the document that has its name. */
  asVersion(upload: Upload): void {
    if (upload.state.kind === 'namesake') upload.versionOf = upload.state.of;
    this.retry(upload);
  }

  /** Stops a file, or takes one away that was refused. */
  remove(upload: Upload): void {
    upload.abort.abort();
    this.entries = this.entries.filter((entry) => entry !== upload);
  }

  /** Stops all that is on its way: the next session may be somebody else's. */
  stop(): void {
    for (const upload of this.entries) {
      if (!isUnderWay(upload)) continue;
      upload.abort.abort();
      upload.state = { kind: 'failed', why: t('documents.signedOut') };
    }
  }

  async #check(upload: Upload): Promise<void> {
    const why = refusalOf(upload.file);
    if (why) {
      upload.state = { kind: 'refused', why };
      return;
    }
    // To find no duplicate is no reason not to send the file.
    const found = upload.versionOf ? null : await this.transport.namesake(upload.file).catch(() => null);
    if (upload.state.kind !== 'checking') return;
    upload.state = found ? { kind: found.isSame ? 'duplicate' : 'namesake', of: found.of } : { kind: 'waiting' };
    this.#next();
  }

  #next(): void {
    while (this.#sending < LANES) {
      const upload = this.entries.find(({ state }) => state.kind === 'waiting');
      if (!upload) break;
      void this.#send(upload);
    }
    if (this.#sending === 0 && this.#storedNames.length > 0) this.#tell();
  }

  async #send(upload: Upload): Promise<void> {
    this.#sending += 1;
    upload.state = { kind: 'sending', sentBytes: 0 };
    const { signal } = upload.abort;
    const progress = (sentBytes: number): void => { upload.state = { kind: 'sending', sentBytes }; };
    try {
      const document = await this.transport.send({ projectId: this.projectId, file: upload.file, versionOf: upload.versionOf?.id, key: upload.id, signal, progress });
      this.entries = this.entries.filter((entry) => entry !== upload);
      this.#storedNames.push(document.fileName);
      // A version becomes the present one of its document when it has been read, which events tell.
      if (!upload.versionOf) this.stored(document);
    } catch (thrown) {
      if (!signal.aborted) this.#fail(upload, thrown);
    } finally {
      this.#sending -= 1;
      this.#next();
    }
  }

  #fail(upload: Upload, thrown: unknown): void {
    const isSignedOut = thrown instanceof ApiError && thrown.status === 401;
    upload.state = { kind: 'failed', why: isSignedOut ? t('documents.signedOut') : explain(thrown) };
    if (isSignedOut) reportFailure(thrown);
  }

  /** Many files are one message. */
  #tell(): void {
    const [name = ''] = this.#storedNames;
    const count = this.#storedNames.length;
    notify(count === 1 ? t('documents.uploaded', { name }) : t('documents.uploadedMany', { count }));
    this.#storedNames = [];
  }
}

function overHttp(projectId: string): Transport {
  return {
    send: sendDocument,
    async namesake(file) {
      const params = { path: { projectId }, query: { search: file.name, limit: 100 } };
      const { items } = await unwrap(api.GET('/api/projects/{projectId}/documents', { params }));
      const alike = items.filter(({ sizeBytes }) => sizeBytes === file.size);
      const hash = alike.length > 0 ? await sha256(file) : null;
      const same = alike.find((document) => document.sha256 === hash);
      if (same) return { of: same, isSame: true };
      const of = items.find(({ fileName }) => fileName === file.name);
      return of ? { of, isSame: false } : null;
    },
  };
}

const known = new Map<string, Uploads>();
whenSignedOut(() => { for (const uploads of known.values()) uploads.stop(); });

/** The present user's files on their way into a project: one list, whoever asks. */
export function uploadsOf(projectId: string): Uploads {
  const key = `${currentUser()?.email} ${projectId}`;
  const found = known.get(key) ?? new Uploads(projectId);
  known.set(key, found);
  return found;
}
