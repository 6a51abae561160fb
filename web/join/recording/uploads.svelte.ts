// All uploads of this page: of the recording that is made here, and of what earlier pages left on this device.

import type { ApiError } from '$shared/api/error';
import { realClock } from '$shared/clock';
import { IndexedStore } from './indexed-store';
import { UploadQueue, type QueueState } from './queue';
import type { ChunkStore, StoredRecording } from './store';
import type { UploadTransport } from '$shared/recording/transport';

export class Uploads {
  #states = $state.raw<ReadonlyMap<string, QueueState>>(new Map());
  /** Whether a recording ended because its page was closed or reloaded. */
  wasInterrupted = $state(false);
  readonly unsavedMs = $derived([...this.#states.values()].reduce((sum, { unsavedMs }) => sum + unsavedMs, 0));
  readonly isOffline = $derived([...this.#states.values()].some(({ isOffline }) => isOffline));
  readonly isSaved = $derived(this.#states.size > 0 && [...this.#states.values()].every(({ isDone }) => isDone));
  readonly refusal: ApiError | null = $derived([...this.#states.values()].find(({ refusal }) => refusal)?.refusal ?? null);
  readonly #queues = new Map<string, UploadQueue>();
  #store: Promise<ChunkStore> | null = null;

  constructor(private readonly meetingId: string, private readonly transport: UploadTransport) {
    addEventListener('online', () => this.#hurry());
  }

  /** Takes on a recording that begins. */
  async begin(recordingId: string): Promise<UploadQueue> {
    this.wasInterrupted = false;
    this.#states = new Map([...this.#states].filter(([, { isDone }]) => !isDone));
    const recording = { id: recordingId, meetingId: this.meetingId, nextIndex: 0, stoppedAfterSeconds: null };
    const store = await this.#openStore();
    await store.putRecording(recording).catch(() => undefined);
    const queue = this.#queue(recording, store);
    void claim(recordingId);
    return queue;
  }

  /** Goes on with what earlier pages left, unless another tab does. */
  async resume(): Promise<void> {
    this.#hurry();
    const store = await this.#openStore();
    for (const recording of await store.recordings(this.meetingId)) {
      if (this.#queues.has(recording.id)) continue;
      const queue = this.#queue(recording, store);
      if (!(await claim(recording.id))) {
        this.#forget(recording.id);
        continue;
      }
      this.wasInterrupted ||= recording.stoppedAfterSeconds === null;
      await queue.resume();
    }
  }

  /** Gives up what the server does not take. */
  discard = async (): Promise<void> => {
    for (const queue of this.#queues.values()) if (queue.state.refusal) await queue.discard();
  };

  #queue(recording: StoredRecording, store: ChunkStore): UploadQueue {
    const queue = new UploadQueue(recording, store, this.transport, realClock, (state) => {
      this.#states = new Map(this.#states).set(recording.id, state);
    });
    this.#queues.set(recording.id, queue);
    return queue;
  }

  #forget(id: string): void {
    this.#queues.delete(id);
    this.#states = new Map([...this.#states].filter(([other]) => other !== id));
  }

  #hurry(): void {
    for (const queue of this.#queues.values()) queue.hurry();
  }

  #openStore(): Promise<ChunkStore> {
    this.#store ??= IndexedStore.open();
    return this.#store;
  }
}

/** Makes the upload this tab's own until the tab is closed. Returns whether it is. */
function claim(recordingId: string): Promise<boolean> {
  if (!('locks' in navigator)) return Promise.resolve(true);
  return new Promise((claimed) => {
    void navigator.locks.request(`colloquy.upload.${recordingId}`, { ifAvailable: true }, (lock) => {
      claimed(lock !== null);
      return lock === null ? undefined : new Promise<void>(() => undefined);
    });
  });
}
