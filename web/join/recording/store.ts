// Where the chunks of a recording are kept until the server has them: on this device, so that they outlast a reload, a
// crash and a closed tab.

import type { StoredChunk } from '$shared/recording/transport';

export type { StoredChunk } from '$shared/recording/transport';

export interface StoredRecording {
  id: string;
  meetingId: string;
  /** The index of the chunk that comes next. */
  nextIndex: number;
  /** How much was recorded; set once the recording was stopped here. */
  stoppedAfterSeconds: number | null;
}

export type ChunkInfo = Omit<StoredChunk, 'bytes'>;

export interface ChunkStore {
  putRecording(recording: StoredRecording): Promise<void>;
  recordings(meetingId: string): Promise<StoredRecording[]>;
  /** With its chunks. */
  removeRecording(id: string): Promise<void>;
  putChunk(chunk: StoredChunk): Promise<void>;
  chunk(recordingId: string, index: number): Promise<StoredChunk | undefined>;
  chunks(recordingId: string): Promise<ChunkInfo[]>;
  removeChunk(recordingId: string, index: number): Promise<void>;
}

/** Outlasts nothing: for browsers that give the page no storage. */
export class MemoryStore implements ChunkStore {
  readonly #recordings = new Map<string, StoredRecording>();
  readonly #chunks = new Map<string, StoredChunk>();

  async putRecording(recording: StoredRecording): Promise<void> {
    this.#recordings.set(recording.id, recording);
  }

  async recordings(meetingId: string): Promise<StoredRecording[]> {
    return [...this.#recordings.values()].filter((one) => one.meetingId === meetingId);
  }

  async removeRecording(id: string): Promise<void> {
    this.#recordings.delete(id);
    for (const { recordingId, index } of this.#chunks.values()) if (recordingId === id) await this.removeChunk(id, index);
  }

  async putChunk(chunk: StoredChunk): Promise<void> {
    this.#chunks.set(`${chunk.recordingId} ${chunk.index}`, chunk);
  }

  async chunk(recordingId: string, index: number): Promise<StoredChunk | undefined> {
    return this.#chunks.get(`${recordingId} ${index}`);
  }

  async chunks(recordingId: string): Promise<ChunkInfo[]> {
    return [...this.#chunks.values()].filter((one) => one.recordingId === recordingId).map(({ bytes: _, ...info }) => info);
  }

  async removeChunk(recordingId: string, index: number): Promise<void> {
    this.#chunks.delete(`${recordingId} ${index}`);
  }
}
