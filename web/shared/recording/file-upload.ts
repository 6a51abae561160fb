// Uploads a file as a recording, in slices. It goes on where the part that the server has ends: after a lost connection at
// once, after a reload when the same file is chosen again.

import { ApiError } from '../api/error';
import type { Recording } from './meeting';
import type { Clock } from '../clock';
import type { UploadTransport } from './transport';

const LEAST_BYTES = 1024 * 1024;
const MOST_BYTES = 8 * 1024 * 1024;
/** A slice that took less is followed by a larger one. */
const SHORT_MS = 2_000;
const SHORTEST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 30_000;
/** Refusals that another try may answer otherwise. */
const RETRIED = new Set(['DigestMismatch', 'Unreadable', 'Unauthorized']);

export interface UploadState { sentBytes: number; isOffline: boolean }

/** It was moved, changed or deleted since it was chosen. */
export class UnreadableFile extends Error {
  override readonly name = 'UnreadableFile';
}

export class FileUpload {
  #isCancelled = false;

  constructor(
    private readonly recordingId: string,
    private readonly file: Blob,
    private readonly transport: UploadTransport,
    private readonly clock: Clock,
    private readonly changed: (state: UploadState) => void,
  ) {}

  cancel(): void { this.#isCancelled = true; }

  /** Ends once all is stored and the recording is stopped, or it is cancelled. Throws what the server refuses, and UnreadableFile. */
  async run(): Promise<void> {
    let failures = 0;
    let sentBytes = 0;
    while (!this.#isCancelled) {
      try {
        return await this.#send((bytes) => {
          sentBytes = bytes;
          this.changed({ sentBytes, isOffline: false });
        }, () => { failures = 0; });
      } catch (error) {
        if (this.#isCancelled) return;
        if (!mayPass(error, failures)) throw error;
        const known = error instanceof ApiError ? error : null;
        this.changed({ sentBytes, isOffline: known === null || known.status === 0 });
        await this.#wait(failures++, known?.retryAfter);
      }
    }
  }

  async #send(stored: (bytes: number) => void, progressed: () => void): Promise<void> {
    let { sizeBytes } = await this.transport.status(this.recordingId);
    let sliceBytes = LEAST_BYTES;
    stored(sizeBytes);
    while (sizeBytes < this.file.size && !this.#isCancelled) {
      const bytes = await this.#read(sizeBytes, sliceBytes);
      const begun = performance.now();
      ({ sizeBytes } = await this.transport.putPart(this.recordingId, bytes, sizeBytes, this.file.size));
      if (performance.now() - begun < SHORT_MS) sliceBytes = Math.min(MOST_BYTES, sliceBytes * 2);
      progressed();
      stored(sizeBytes);
    }
    if (!this.#isCancelled) await this.transport.complete(this.recordingId);
  }

  async #read(start: number, length: number): Promise<ArrayBuffer> {
    try {
      return await this.file.slice(start, start + length).arrayBuffer();
    } catch (reason) {
      throw new UnreadableFile('', { cause: reason });
    }
  }

  #wait(failures: number, retryAfterSeconds = 0): Promise<void> {
    const pause = Math.min(LONGEST_WAIT_MS, SHORTEST_WAIT_MS * 2 ** failures) * (0.5 + this.clock.random() / 2);
    return new Promise((over) => void this.clock.setTimeout(over, Math.max(pause, retryAfterSeconds * 1000)));
  }
}

function mayPass(error: unknown, failures: number): boolean {
  if (error instanceof UnreadableFile) return false;
  if (!(error instanceof ApiError)) return true;
  // An answer that was lost: the server has more than this page knows.
  const isBehind = error.code === 'InvalidState' && failures === 0;
  return error.passes || RETRIED.has(error.code) || isBehind;
}

type MimeType = Recording['mimeType'];

/** What browsers call the types that the API names, and the endings of files of which they know no type. */
const TYPES: Record<string, MimeType> = {
  'audio/webm': 'audio/webm', 'audio/ogg': 'audio/ogg', 'audio/opus': 'audio/ogg', 'application/ogg': 'audio/ogg',
  'audio/mp4': 'audio/mp4', 'audio/x-m4a': 'audio/mp4', 'audio/m4a': 'audio/mp4', 'audio/mpeg': 'audio/mpeg', 'audio/mp3': 'audio/mpeg',
  'audio/wav': 'audio/wav', 'audio/x-wav': 'audio/wav', 'audio/wave': 'audio/wav', 'audio/vnd.wave': 'audio/wav',
  'audio/flac': 'audio/flac', 'audio/x-flac': 'audio/flac', 'video/webm': 'video/webm', 'video/mp4': 'video/mp4',
  weba: 'audio/webm', webm: 'video/webm', ogg: 'audio/ogg', oga: 'audio/ogg', opus: 'audio/ogg', m4a: 'audio/mp4',
  mp3: 'audio/mpeg', wav: 'audio/wav', flac: 'audio/flac', mp4: 'video/mp4',
};

/** The endings, for the browser's own choice of files. */
export const ACCEPTED = Object.keys(TYPES).map((type) => (type.includes('/') ? type : `.${type}`)).join();

/** The type of a recording; undefined for one that the server does not take. */
export const recordingTypeOf = ({ name, type }: { name: string; type: string }): MimeType | undefined =>
  TYPES[type.split(';')[0]?.trim().toLowerCase() ?? ''] ?? TYPES[name.split('.').at(-1)?.toLowerCase() ?? ''];
