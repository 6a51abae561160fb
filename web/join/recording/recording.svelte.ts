// The recording that this browser makes for its host: from the microphones to the queue that uploads it.

import { addressOf, api, ApiError, authorizedFetch, unwrap } from '$shared/api/client';
import { deviceFault, devices, type DeviceFault } from '../room/devices.svelte';
import type { MediaRoom } from '../room/room.svelte';
import type { Recording } from '../state/meeting';
import { AudioMixer } from './mixer';
import { plainType, recordableType, SliceRecorder } from './recorder';
import { Uploads } from './uploads.svelte';
import { UploadTransport } from './transport';

export type RecordingFault = { device: DeviceFault } | { error: ApiError } | { unsupported: true };

/** What is in use while it is being recorded here. */
interface Running {
  id: string;
  mixer: AudioMixer;
  recorder: SliceRecorder;
  finish: (seconds: number) => Promise<void>;
  unfollow: () => void;
}

export class HostRecording {
  /** Whether it is recorded here, and not by another host. */
  isRecording = $state(false);
  isBusy = $state(false);
  fault = $state.raw<RecordingFault | null>(null);
  readonly uploads: Uploads;
  #running: Running | null = null;
  #microphone = $state.raw<MediaStreamTrack | null>(null);

  constructor(private readonly meetingId: string, private readonly room: MediaRoom) {
    this.uploads = new Uploads(meetingId, new UploadTransport(authorizedFetch, addressOf));
    addEventListener('beforeunload', (event) => {
      if (this.isRecording || this.uploads.unsavedMs > 0) event.preventDefault();
    });
  }

  /** Goes on with what an earlier page did not finish. */
  resume(): Promise<void> { return this.uploads.resume(); }

  start = async (): Promise<void> => {
    const type = recordableType();
    this.fault = null;
    if (!type) {
      this.fault = { unsupported: true };
      return;
    }
    if (this.isBusy || this.isRecording) return;
    this.isBusy = true;
    let mixer: AudioMixer | undefined;
    try {
      await this.#openMicrophone();
      mixer = new AudioMixer();
      await mixer.resume();
      await this.#record(mixer, type);
    } catch (error) {
      mixer?.close();
      this.#releaseMicrophone();
      this.fault = error instanceof ApiError ? { error } : { device: deviceFault(error) };
    } finally {
      this.isBusy = false;
    }
  };

  /** Ends what is recorded here; the rest is uploaded, and the server told that it is complete. */
  stop = async (): Promise<void> => {
    const running = this.#running;
    if (!running) return;
    this.#running = null;
    this.isRecording = false;
    const seconds = await running.recorder.stop();
    running.unfollow();
    running.mixer.close();
    this.#releaseMicrophone();
    await running.finish(seconds);
  };

  /** Stops a recording, wherever it is made. */
  stopAny = async (recording: Recording | undefined): Promise<void> => {
    this.fault = null;
    if (this.#running) return this.stop();
    if (!recording) return;
    try {
      const path = { recordingId: recording.id };
      await unwrap(api.POST('/api/recordings/{recordingId}/stop', { params: { path }, body: {} }));
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      this.fault = { error };
    }
  };

  /** Pauses, goes on and stops as the server does. */
  follow(recordings: ReadonlyMap<string, Recording>): void {
    const running = this.#running;
    const recording = running && recordings.get(running.id);
    if (!running || !recording) return;
    if (recording.status !== 'ACTIVE') return void this.stop();
    if (recording.paused) return running.recorder.pause();
    const last = recording.pausedIntervals.at(-1)?.to;
    running.recorder.resume(last ? Date.parse(last) - Date.parse(recording.startedAt) : 0);
  }

  /** Uses the microphone that is chosen now, where no room does. */
  changeMicrophone = async (): Promise<void> => {
    if (!this.#microphone) return;
    this.#releaseMicrophone();
    await this.#openMicrophone().catch((error: unknown) => { this.fault = { device: deviceFault(error) }; });
  };

  async #record(mixer: AudioMixer, type: string): Promise<void> {
    // Before the server's `startedAt`, never after it: a slice must not seem to end before a pause in which it ended.
    const startedAt = performance.now();
    const recording = await unwrap(api.POST('/api/meetings/{meetingId}/recordings/start', {
      params: { path: { meetingId: this.meetingId } }, body: { uploadMode: 'CHUNKED', mimeType: plainType(type) },
    }));
    const queue = await this.uploads.begin(recording.id);
    const recorder = new SliceRecorder(mixer.stream, type, () => performance.now() - startedAt,
      ({ bytes, fromMs, toMs }) => queue.add(bytes, fromMs, toMs));
    const unfollow = $effect.root(() => {
      $effect(() => mixer.set(this.#tracks()));
    });
    this.#running = { id: recording.id, mixer, recorder, unfollow, finish: (seconds) => queue.finish(seconds) };
    recorder.start();
    this.isRecording = true;
  }

  #tracks(): MediaStreamTrack[] {
    if (this.room.isThere) return this.room.on ? this.room.audioTracks() : [];
    return this.#microphone ? [this.#microphone] : [];
  }

  /** The room has the microphone, where there is one. */
  async #openMicrophone(): Promise<void> {
    if (!this.room.isThere) this.#microphone = await devices.open('microphone');
  }

  #releaseMicrophone(): void {
    this.#microphone?.stop();
    this.#microphone = null;
  }
}
