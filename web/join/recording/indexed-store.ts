// The chunks of recordings in IndexedDB. A write has succeeded when its transaction is complete.

import { MemoryStore, type ChunkInfo, type ChunkStore, type StoredChunk, type StoredRecording } from './store';

const NAME = 'colloquy.recordings';
const VERSION = 1;

export class IndexedStore implements ChunkStore {
  private constructor(private readonly db: IDBDatabase) {}

  /** In memory, if the browser gives the page no storage. */
  static async open(): Promise<ChunkStore> {
    try {
      return new IndexedStore(await openDatabase());
    } catch {
      return new MemoryStore();
    }
  }

  async putRecording(recording: StoredRecording): Promise<void> {
    await this.#run('recordings', 'readwrite', (store) => store.put(recording));
  }

  async recordings(meetingId: string): Promise<StoredRecording[]> {
    const all = await this.#run<StoredRecording[]>('recordings', 'readonly', (store) => store.getAll());
    return all.filter((one) => one.meetingId === meetingId);
  }

  async removeRecording(id: string): Promise<void> {
    await this.#run('chunks', 'readwrite', (store) => store.delete(ofRecording(id)));
    await this.#run('recordings', 'readwrite', (store) => store.delete(id));
  }

  async putChunk(chunk: StoredChunk): Promise<void> {
    await this.#run('chunks', 'readwrite', (store) => store.put(chunk));
  }

  chunk(recordingId: string, index: number): Promise<StoredChunk | undefined> {
    return this.#run('chunks', 'readonly', (store) => store.get([recordingId, index]));
  }

  async chunks(recordingId: string): Promise<ChunkInfo[]> {
    const all = await this.#run<StoredChunk[]>('chunks', 'readonly', (store) => store.getAll(ofRecording(recordingId)));
    return all.map(({ bytes: _, ...info }) => info);
  }

  async removeChunk(recordingId: string, index: number): Promise<void> {
    await this.#run('chunks', 'readwrite', (store) => store.delete([recordingId, index]));
  }

  #run<Result>(name: string, mode: IDBTransactionMode, act: (store: IDBObjectStore) => IDBRequest): Promise<Result> {
    return new Promise((resolve, reject) => {
      const transaction = this.db.transaction(name, mode, { durability: 'strict' });
      const request = act(transaction.objectStore(name));
      transaction.oncomplete = () => resolve(request.result as Result);
      transaction.onabort = () => reject(transaction.error ?? request.error);
    });
  }
}

const ofRecording = (id: string): IDBKeyRange => IDBKeyRange.bound([id, 0], [id, Infinity]);

function openDatabase(): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open(NAME, VERSION);
    request.onupgradeneeded = () => {
      request.result.createObjectStore('recordings', { keyPath: 'id' });
      request.result.createObjectStore('chunks', { keyPath: ['recordingId', 'index'] });
    };
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
    request.onblocked = () => reject(new Error('blocked'));
  });
}
