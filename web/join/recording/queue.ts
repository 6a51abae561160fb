// Uploads the chunks of one recording. A chunk is on this device before it is sent, and stays there until the server has
// acknowledged it; none is given up because of the network.

import { ApiError } from '$shared/api/error';
import type { Clock } from '$shared/clock';
import { cutPauses } from './cut';
import type { ChunkInfo, ChunkStore, StoredChunk, StoredRecording } from './store';
import { isStored, type RecordingStatus, type UploadTransport } from '$shared/recording/transport';

export interface QueueState {
  /** How much is not acknowledged yet. */
  unsavedMs: number;
  isOffline: boolean;
  /** Everything is saved, and the recording is stopped. */
  isDone: boolean;
  /** Why the server takes no more of it. */
  refusal: ApiError | null;
}

const AT_ONCE = 3;
const SHORTEST_MS = 1_000;
const LONGEST_MS = 30_000;
/** The server answers these otherwise when the chunk, the session, the server or what is stored there has changed. */
const RETRIED = new Set(['DigestMismatch', 'QuotaExceeded', 'Unauthorized', 'Unreadable']);

export class UploadQueue {
  readonly #unsent = new Map<number, ChunkInfo>();
  readonly #sending = new Set<number>();
  /** Chunks that could not be stored on this device, because it is full. */
  readonly #unstored = new Map<number, StoredChunk>();
  /** Chunks that were cut once already: where that did not help, all of their sound goes. */
  readonly #cut = new Set<number>();
  #failures = 0;
  #timer: unknown = null;
  #isStopping = false;
  #isStopped = false;
  #state: QueueState = { unsavedMs: 0, isOffline: false, isDone: false, refusal: null };

  constructor(
    private recording: StoredRecording,
    private readonly store: ChunkStore,
    private readonly transport: UploadTransport,
    private readonly clock: Clock,
    private readonly changed: (state: QueueState) => void,
  ) {}

  get state(): QueueState { return this.#state; }
  get recordingId(): string { return this.recording.id; }

  /** Takes the next chunk. It is sent once it is stored. */
  async add(bytes: ArrayBuffer, fromMs: number, toMs: number): Promise<void> {
    const info = { recordingId: this.recording.id, index: this.recording.nextIndex, fromMs, toMs };
    this.recording = { ...this.recording, nextIndex: info.index + 1 };
    this.#unsent.set(info.index, info);
    this.#sending.add(info.index);
    this.#update();
    try {
      await this.store.putChunk({ ...info, bytes });
      await this.store.putRecording(this.recording);
    } catch {
      this.#unstored.set(info.index, { ...info, bytes });
    }
    this.#sending.delete(info.index);
    this.#send();
  }

  /**
   * Nothing more is recorded. The server hears it at once, so that nobody takes what is still on its way for a recording that
   * goes on.
   */
  async finish(seconds: number): Promise<void> {
    this.recording = { ...this.recording, stoppedAfterSeconds: seconds };
    await this.store.putRecording(this.recording).catch(() => undefined);
    this.#send();
  }

  /** Goes on with what an earlier page left on this device. A recording that it did not stop ends with what is there. */
  async resume(): Promise<void> {
    const stored = await this.store.chunks(this.recording.id);
    for (const info of stored) this.#unsent.set(info.index, info);
    const nextIndex = Math.max(this.recording.nextIndex, ...stored.map(({ index }) => index + 1));
    const longest = Math.max(0, ...stored.map(({ toMs }) => toMs)) / 1000;
    this.recording = { ...this.recording, nextIndex, stoppedAfterSeconds: this.recording.stoppedAfterSeconds ?? longest };
    this.#update();
    await this.#attempt(async () => {
      const status = await this.transport.status(this.recording.id);
      for (const { index } of stored) if (isStored(status, index)) await this.#acknowledged(index);
    });
    this.#send();
  }

  /** The network is back: nothing waits for its time. */
  hurry(): void {
    this.#failures = 0;
    if (this.#timer !== null) this.clock.clearTimeout(this.#timer);
    this.#timer = null;
    this.#send();
  }

  /** Gives up what the server does not take. */
  async discard(): Promise<void> {
    await this.#end();
  }

  #send(): void {
    if (this.#timer !== null || this.#state.refusal || this.#state.isDone) return;
    const seconds = this.recording.stoppedAfterSeconds;
    if (seconds !== null && !this.#isStopped) void this.#stop(seconds);
    for (const { index } of [...this.#unsent.values()].sort((one, other) => one.index - other.index)) {
      if (this.#sending.size >= AT_ONCE) return;
      if (!this.#sending.has(index)) void this.#sendChunk(index);
    }
    if (this.#unsent.size === 0 && this.#isStopped) void this.#end();
  }

  async #sendChunk(index: number): Promise<void> {
    this.#sending.add(index);
    await this.#attempt(async () => {
      const chunk = this.#unstored.get(index) ?? (await this.store.chunk(this.recording.id, index));
      if (chunk) await this.#put(chunk);
      await this.#acknowledged(index);
    });
    this.#sending.delete(index);
    this.#send();
  }

  async #put(chunk: StoredChunk): Promise<void> {
    try {
      await this.transport.putChunk(chunk);
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 409) throw error;
      // An answer that was lost may have said yes already: the status tells.
      const status = await this.transport.status(chunk.recordingId);
      if (isStored(status, chunk.index)) return;
      if (error.code !== 'RecordingPaused') throw error;
      await this.transport.putChunk(await this.#withoutPauses(chunk, status));
    }
  }

  /** The chunk without what was recorded while consent was missing; all of it goes if that can't be told apart. */
  async #withoutPauses(chunk: StoredChunk, { pausedIntervals, startedAt }: RecordingStatus): Promise<StoredChunk> {
    const isSecond = this.#cut.has(chunk.index);
    this.#cut.add(chunk.index);
    const parts = isSecond ? { bytes: new ArrayBuffer(0) } : cutPauses(chunk, pausedIntervals, Date.parse(startedAt));
    const kept = { ...chunk, ...parts };
    if (this.#unstored.has(chunk.index)) this.#unstored.set(chunk.index, kept);
    else await this.store.putChunk(kept);
    return kept;
  }

  async #stop(seconds: number): Promise<void> {
    if (this.#isStopping) return;
    this.#isStopping = true;
    await this.#attempt(async () => {
      const { nextIndex } = this.recording;
      await this.transport.stop(this.recording.id, seconds, nextIndex > 0 ? nextIndex - 1 : null);
      this.#isStopped = true;
    });
    this.#isStopping = false;
    this.#send();
  }

  async #end(): Promise<void> {
    this.#unsent.clear();
    await this.store.removeRecording(this.recording.id);
    this.#state = { ...this.#state, refusal: null, isDone: true };
    this.#update();
  }

  async #acknowledged(index: number): Promise<void> {
    this.#unsent.delete(index);
    this.#unstored.delete(index);
    await this.store.removeChunk(this.recording.id, index);
    this.#update();
  }

  /** Makes a call, and arranges the next try if it failed. */
  async #attempt(call: () => Promise<void>): Promise<void> {
    try {
      await call();
      this.#failures = 0;
      this.#state = { ...this.#state, isOffline: false };
    } catch (error) {
      const known = error instanceof ApiError ? error : null;
      if (known && !known.passes && !RETRIED.has(known.code)) {
        // Deleted: there is nothing left to add to.
        if (known.status === 404) return this.#end();
        this.#state = { ...this.#state, refusal: known };
      } else {
        this.#state = { ...this.#state, isOffline: known === null || known.status === 0 };
        this.#wait(known?.retryAfter);
      }
    }
    this.#update();
  }

  #wait(retryAfterSeconds = 0): void {
    if (this.#timer !== null) return;
    const pause = Math.min(LONGEST_MS, SHORTEST_MS * 2 ** this.#failures++) * (0.5 + this.clock.random() / 2);
    this.#timer = this.clock.setTimeout(() => {
      this.#timer = null;
      this.#send();
    }, Math.max(pause, retryAfterSeconds * 1000));
  }

  #update(): void {
    const unsavedMs = [...this.#unsent.values()].reduce((sum, { fromMs, toMs }) => sum + toMs - fromMs, 0);
    this.#state = { ...this.#state, unsavedMs };
    this.changed(this.#state);
  }
}
