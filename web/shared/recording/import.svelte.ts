// A recording that was made elsewhere and is uploaded as a file.

import { SvelteSet } from 'svelte/reactivity';

import { addressOf, ApiError, authorizedFetch } from '../api/client';
import { t } from '../words/text.svelte';
import * as operations from './operations';
import { announce } from '../ui/announcer.svelte';
import type { Recording } from './meeting';
import { FileUpload, recordingTypeOf, UnreadableFile } from './file-upload';
import { realClock } from '../clock';
import { UploadTransport } from './transport';

/** What is wrong with a file before anybody else looks at it; `otherFile`: another upload is to be completed first. */
export type FileFault = 'unknownType' | 'empty' | 'unreadable' | 'otherFile';

/** The server takes nothing of this file, whatever is tried. */
const HOPELESS = new Set(['PayloadTooLarge', 'UnsupportedMediaType']);

export class RecordingImport {
  /** What is being uploaded here. */
  file = $state.raw<File | null>(null);
  recordingId = $state<string | null>(null);
  sentBytes = $state(0);
  isOffline = $state(false);
  fault = $state.raw<ApiError | FileFault | null>(null);
  /** Whether the server asks for the declaration that everyone who can be heard has agreed. */
  needsDeclaration = $state(false);
  /** Recordings that were given up here, also before the event says that they are deleted. */
  readonly discarded = new SvelteSet<string>();
  #upload: FileUpload | null = null;
  #isCancelled = false;
  readonly #transport = new UploadTransport(authorizedFetch, addressOf);

  constructor(private readonly meetingId: string) {
    addEventListener('beforeunload', (event) => {
      if (this.file) event.preventDefault();
    });
  }

  /** Uploads a file, or the rest of it where `unfinished` is a recording that this device began with it. */
  async start(file: File, declaration: string | null, unfinished: Recording | undefined): Promise<void> {
    if (this.file) return;
    const mimeType = recordingTypeOf(file);
    this.fault = !mimeType ? 'unknownType' : file.size === 0 ? 'empty' : unfinished && !isRemembered(unfinished.id, file) ? 'otherFile' : null;
    if (!mimeType || this.fault) return;
    [this.file, this.sentBytes, this.isOffline, this.#isCancelled] = [file, 0, false, false];
    try {
      const { id } = unfinished ?? (await operations.startImport(this.meetingId, mimeType, declaration));
      if (this.#isCancelled) return await this.#discard(id);
      remember(id, file);
      this.recordingId = id;
      this.#upload = new FileUpload(id, file, this.#transport, realClock, ({ sentBytes, isOffline }) => {
        [this.sentBytes, this.isOffline] = [sentBytes, isOffline];
      });
      await this.#upload.run();
      if (this.#isCancelled) return;
      forget(id);
      announce(t('import.done'));
    } catch (error) {
      await this.#failed(error);
    } finally {
      [this.file, this.recordingId, this.#upload] = [null, null, null];
    }
  }

  /** Gives the upload up: nothing of it stays. */
  cancel = async (): Promise<void> => {
    this.#isCancelled = true;
    this.#upload?.cancel();
    if (this.recordingId) await this.#discard(this.recordingId);
  };

  async #failed(error: unknown): Promise<void> {
    if (error instanceof UnreadableFile) {
      this.fault = 'unreadable';
      return;
    }
    if (!(error instanceof ApiError)) throw error;
    this.fault = error;
    this.needsDeclaration ||= error.of('consentAttestation') !== undefined;
    if (this.recordingId && HOPELESS.has(error.code)) await this.#discard(this.recordingId);
  }

  async #discard(recordingId: string): Promise<void> {
    forget(recordingId);
    this.discarded.add(recordingId);
    try {
      await operations.deleteRecording(recordingId);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (error.status !== 404) this.fault ??= error;
    }
  }
}

const keyOf = (recordingId: string): string => `colloquy.import.${recordingId}`;
const print = ({ name, size, lastModified }: File): string => JSON.stringify([name, size, lastModified]);

/** So that the upload goes on when the same file is chosen again after a reload. */
function remember(recordingId: string, file: File): void {
  try {
    localStorage.setItem(keyOf(recordingId), print(file));
  } catch {
    // Storage is off: an upload that is cut off by a reload begins anew.
  }
}

function isRemembered(recordingId: string, file: File): boolean {
  try {
    return localStorage.getItem(keyOf(recordingId)) === print(file);
  } catch {
    return false;
  }
}

function forget(recordingId: string): void {
  try {
    localStorage.removeItem(keyOf(recordingId));
  } catch {
    // As above.
  }
}
