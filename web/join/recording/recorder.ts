// Records a stream in slices, and says of each when it was recorded.

import { completeLength } from './webm';

const SLICE_MS = 5_000;
const TYPES = ['audio/webm;codecs=opus', 'audio/webm', 'audio/ogg;codecs=opus', 'audio/mp4'];
const BITS_PER_SECOND = 64_000;

export interface Slice {
  bytes: ArrayBuffer;
  /** In milliseconds since the recording began. */
  fromMs: number;
  toMs: number;
}

/** What this browser can record, in the order of what is best here; undefined: nothing. */
export const recordableType = (): string | undefined =>
  typeof MediaRecorder === 'undefined' ? undefined : TYPES.find((type) => MediaRecorder.isTypeSupported(type));

/** Without parameters, as the interface names it. */
export const plainType = (type: string): string => type.split(';')[0] ?? type;

export class SliceRecorder {
  readonly #recorder: MediaRecorder;
  readonly #elapsed: () => number;
  readonly #taken: (slice: Slice) => Promise<void>;
  #fromMs = 0;
  #recordedMs = 0;
  /** The beginning of an element that goes on in the next slice. */
  #rest = new ArrayBuffer(0);
  /** Slices are given on in their order. */
  #last: Promise<void> = Promise.resolve();
  readonly #ended: Promise<void>;

  /** `elapsed`: milliseconds since the recording began, by the server's clock as far as it is known. */
  constructor(stream: MediaStream, type: string, elapsed: () => number, taken: (slice: Slice) => Promise<void>) {
    this.#elapsed = elapsed;
    this.#taken = taken;
    this.#recorder = new MediaRecorder(stream, { mimeType: type, audioBitsPerSecond: BITS_PER_SECOND });
    this.#recorder.ondataavailable = ({ data }) => this.#slice(data);
    this.#ended = new Promise((end) => { this.#recorder.onstop = () => end(); });
  }

  start(): void {
    this.#fromMs = this.#elapsed();
    this.#recorder.start(SLICE_MS);
  }

  /** The slice ends here. */
  pause(): void {
    if (this.#recorder.state !== 'recording') return;
    this.#recorder.requestData();
    this.#recorder.pause();
  }

  /** `afterMs`: when the pause was over. */
  resume(afterMs: number): void {
    if (this.#recorder.state !== 'paused') return;
    this.#fromMs = Math.max(this.#elapsed(), afterMs);
    this.#recorder.resume();
  }

  /** Returns how many seconds were recorded, once the last slice is taken. */
  async stop(): Promise<number> {
    if (this.#recorder.state !== 'inactive') {
      this.#recorder.stop();
      await this.#ended;
    }
    await this.#last;
    return this.#recordedMs / 1000;
  }

  #slice(data: Blob): void {
    const isFinal = this.#recorder.state === 'inactive';
    const [fromMs, toMs] = [this.#fromMs, Math.max(this.#fromMs, this.#elapsed())];
    this.#fromMs = toMs;
    this.#recordedMs += toMs - fromMs;
    this.#last = this.#last.then(async () => {
      const bytes = joined(this.#rest, await data.arrayBuffer());
      const length = isFinal ? bytes.byteLength : completeLength(bytes);
      this.#rest = bytes.slice(length);
      if (length > 0) await this.#taken({ bytes: bytes.slice(0, length), fromMs, toMs });
    });
  }
}

function joined(one: ArrayBuffer, other: ArrayBuffer): ArrayBuffer {
  const bytes = new Uint8Array(one.byteLength + other.byteLength);
  bytes.set(new Uint8Array(one));
  bytes.set(new Uint8Array(other), one.byteLength);
  return bytes.buffer;
}
