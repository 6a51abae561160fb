// The calls of an upload, and what their answers mean. The caller gives the fetch.

import type { Schemas } from '../api/client';
import { ApiError, type Failure } from '../api/error';

/** A connection may die without a word; a chunk is small, and what arrived twice does no harm. */
const PATIENCE_MS = 60_000;

export interface StoredChunk {
  recordingId: string;
  index: number;
  bytes: ArrayBuffer;
  /** When it was recorded, in milliseconds since the start of the recording. */
  fromMs: number;
  toMs: number;
}

export type Fetch = (request: Request) => Promise<Response>;
export type RecordingStatus = Schemas['Recording'];

/** `Content-Digest` of RFC 9530. */
export async function digestOf(bytes: ArrayBuffer): Promise<string> {
  const sum = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
  return `sha-256=:${btoa(String.fromCharCode(...sum))}:`;
}

export class UploadTransport {
  constructor(private readonly fetch: Fetch, private readonly addressOf: (path: string) => string) {}

  async putChunk({ recordingId, index, bytes, fromMs, toMs }: StoredChunk): Promise<void> {
    const headers = {
      'Content-Type': 'application/octet-stream', 'Content-Digest': await digestOf(bytes),
      'X-Chunk-Started-Ms': String(Math.round(fromMs)), 'X-Chunk-Ended-Ms': String(Math.round(toMs)),
    };
    await this.#call(`/api/recordings/${recordingId}/chunks/${index}`, { method: 'PUT', headers, body: bytes });
  }

  /** A part of a file, from the byte `start` on. */
  async putPart(recordingId: string, bytes: ArrayBuffer, start: number, total: number): Promise<RecordingStatus> {
    const headers = {
      'Content-Type': 'application/octet-stream', 'Content-Digest': await digestOf(bytes),
      'Content-Range': `bytes ${start}-${start + bytes.byteLength - 1}/${total}`,
    };
    return this.#call(`/api/recordings/${recordingId}/file`, { method: 'PUT', headers, body: bytes });
  }

  /** The whole file is there. */
  complete(recordingId: string): Promise<RecordingStatus> {
    return this.#call(`/api/recordings/${recordingId}/stop`, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: '{}' });
  }

  status(recordingId: string): Promise<RecordingStatus> {
    return this.#call(`/api/recordings/${recordingId}`, {});
  }

  /** Without a last chunk: nothing was recorded. */
  stop(recordingId: string, durationSeconds: number, lastChunkIndex: number | null): Promise<RecordingStatus> {
    const body = JSON.stringify({ durationSeconds, ...(lastChunkIndex !== null && { lastChunkIndex }) });
    return this.#call(`/api/recordings/${recordingId}/stop`, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body });
  }

  async #call<Data>(path: string, init: RequestInit): Promise<Data> {
    const response = await this.fetch(new Request(this.addressOf(path), { ...init, signal: AbortSignal.timeout(PATIENCE_MS) }));
    const envelope = (await response.json().catch(() => undefined)) as { data: Data } | Failure | undefined;
    if (response.ok && envelope && 'data' in envelope && envelope.data) return envelope.data as Data;
    throw ApiError.of(response, envelope && 'errors' in envelope ? (envelope as Failure) : undefined);
  }
}

/** Whether the server has a chunk. It names the missing ones up to the highest that it has, or expects. */
export const isStored = ({ nextChunkIndex, missingChunks, chunkCount }: RecordingStatus, index: number): boolean =>
  index < nextChunkIndex || (index < chunkCount + missingChunks.length && !missingChunks.includes(index));
