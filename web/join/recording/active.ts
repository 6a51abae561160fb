// One recording that is made here: what is heard, in slices, on its way to the queue that uploads it.

import { api, unwrap } from '$shared/api/client';
import type { Recording } from '$shared/recording/meeting';
import { AudioMixer } from './mixer';
import type { UploadQueue } from './queue';
import { plainType, SliceRecorder } from './recorder';
import type { Uploads } from './uploads.svelte';

export interface RecordingPlan {
  meetingId: string;
  /** The participant whose voice alone is recorded; null: everybody's. */
  participantId: string | null;
  /** What this browser can record. */
  type: string;
}

export class ActiveRecording {
  private constructor(
    readonly id: string,
    private readonly mixer: AudioMixer,
    private readonly recorder: SliceRecorder,
    private readonly queue: UploadQueue,
  ) {}

  static async start({ meetingId, participantId, type }: RecordingPlan, uploads: Uploads): Promise<ActiveRecording> {
    const mixer = new AudioMixer();
    try {
      await mixer.resume();
      // Before the server's `startedAt`, never after it: a slice must not seem to end before a pause in which it ended.
      const startedAt = performance.now();
      const body = { uploadMode: 'CHUNKED' as const, mimeType: plainType(type), ...(participantId && { trackParticipantId: participantId }) };
      const { id } = await unwrap(api.POST('/api/meetings/{meetingId}/recordings/start', { params: { path: { meetingId } }, body }));
      const queue = await uploads.begin(id);
      const recorder = new SliceRecorder(mixer.stream, type, () => performance.now() - startedAt,
        ({ bytes, fromMs, toMs }) => queue.add(bytes, fromMs, toMs));
      recorder.start();
      return new ActiveRecording(id, mixer, recorder, queue);
    } catch (error) {
      mixer.close();
      throw error;
    }
  }

  /** Records these tracks from now on, and no others. */
  hear(tracks: readonly MediaStreamTrack[]): void {
    this.mixer.set(tracks);
  }

  /** Pauses and goes on as the server does. */
  follow({ paused, pausedIntervals, startedAt }: Recording): void {
    if (paused) return this.recorder.pause();
    const last = pausedIntervals.at(-1)?.to;
    this.recorder.resume(last ? Date.parse(last) - Date.parse(startedAt) : 0);
  }

  /** The rest is uploaded, and the server told that it is complete. */
  async stop(): Promise<void> {
    const seconds = await this.recorder.stop();
    this.mixer.close();
    await this.queue.finish(seconds);
  }
}
