// What this browser records for its host: everybody together, or each voice for itself.

import { addressOf, api, ApiError, authorizedFetch, unwrap } from '$shared/api/client';
import { deviceFault, devices, type DeviceFault } from '../room/devices.svelte';
import type { MediaRoom } from '../room/room.svelte';
import type { Recording } from '$shared/recording/meeting';
import { ActiveRecording } from './active';
import { recordableType } from './recorder';
import { Uploads } from './uploads.svelte';
import { UploadTransport } from '$shared/recording/transport';

export type RecordingMode = 'together' | 'separately';
export type RecordingFault = { device: DeviceFault } | { error: ApiError } | { unsupported: true };

export class HostRecording {
  /** Whether it is recorded here, and not by another host. */
  isRecording = $state(false);
  isBusy = $state(false);
  fault = $state.raw<RecordingFault | null>(null);
  readonly uploads: Uploads;
  /** By the participant whose voice it is; null: everybody's. */
  readonly #active = new Map<string | null, ActiveRecording>();
  /** Those whose recording was asked for: once, also if the server refused it. */
  readonly #asked = new Set<string>();
  #unwatch: () => void = () => undefined;
  #microphone = $state.raw<MediaStreamTrack | null>(null);

  constructor(private readonly meetingId: string, private readonly room: MediaRoom) {
    this.uploads = new Uploads(meetingId, new UploadTransport(authorizedFetch, addressOf));
    addEventListener('beforeunload', (event) => {
      if (this.isRecording || this.uploads.unsavedMs > 0) event.preventDefault();
    });
  }

  /** Goes on with what an earlier page did not finish. */
  resume(): Promise<void> { return this.uploads.resume(); }

  start = async (mode: RecordingMode): Promise<void> => {
    const type = recordableType();
    this.fault = null;
    if (!type) {
      this.fault = { unsupported: true };
      return;
    }
    if (this.isBusy || this.isRecording) return;
    this.isBusy = true;
    this.#asked.clear();
    try {
      await this.#openMicrophone();
      if (mode === 'together') await this.#startOne(null, type);
      this.isRecording = true;
      this.#unwatch = $effect.root(() => {
        $effect(() => (mode === 'together' ? this.#active.get(null)?.hear(this.#tracks()) : this.#hearEach(type)));
      });
    } catch (error) {
      this.#releaseMicrophone();
      this.#fail(error);
    } finally {
      this.isBusy = false;
    }
  };

  /** Ends what is recorded here. */
  stop = async (): Promise<void> => {
    if (!this.isRecording) return;
    this.isRecording = false;
    this.#unwatch();
    const active = [...this.#active.values()];
    this.#active.clear();
    await Promise.all(active.map((one) => one.stop()));
    this.#releaseMicrophone();
  };

  /** Stops recordings, wherever they are made. */
  stopAll = async (recordings: readonly Recording[]): Promise<void> => {
    this.fault = null;
    if (this.isRecording) return this.stop();
    try {
      for (const { id } of recordings) {
        await unwrap(api.POST('/api/recordings/{recordingId}/stop', { params: { path: { recordingId: id } }, body: {} }));
      }
    } catch (error) {
      this.#fail(error);
    }
  };

  /** Pauses, goes on and stops as the server does. */
  follow(recordings: ReadonlyMap<string, Recording>): void {
    for (const [participantId, active] of this.#active) {
      const recording = recordings.get(active.id);
      if (!recording) continue;
      if (recording.status === 'ACTIVE') {
        active.follow(recording);
      } else {
        this.#active.delete(participantId);
        void active.stop();
        if (this.#active.size === 0) void this.stop();
      }
    }
  }

  /** Uses the microphone that is chosen now, where no room does. */
  changeMicrophone = async (): Promise<void> => {
    if (!this.#microphone) return;
    this.#releaseMicrophone();
    await this.#openMicrophone().catch((error: unknown) => { this.fault = { device: deviceFault(error) }; });
  };

  async #startOne(participantId: string | null, type: string): Promise<void> {
    const active = await ActiveRecording.start({ meetingId: this.meetingId, participantId, type }, this.uploads);
    this.#active.set(participantId, active);
  }

  /** Each voice has a recording, which begins when it is first heard. */
  #hearEach(type: string): void {
    const { voices } = this.room;
    for (const [participantId, active] of this.#active) if (participantId) active.hear(voices.get(participantId) ?? []);
    for (const participantId of voices.keys()) {
      if (!this.#asked.has(participantId)) void this.#startVoice(participantId, type);
    }
  }

  async #startVoice(participantId: string, type: string): Promise<void> {
    this.#asked.add(participantId);
    try {
      await this.#startOne(participantId, type);
      const active = this.#active.get(participantId);
      active?.hear(this.room.voices.get(participantId) ?? []);
      // It was stopped meanwhile.
      if (!this.isRecording && this.#active.delete(participantId)) await active?.stop();
    } catch (error) {
      this.#fail(error);
      if (this.#active.size === 0) await this.stop();
    }
  }

  #fail(error: unknown): void {
    this.fault = error instanceof ApiError ? { error } : { device: deviceFault(error) };
  }

  #tracks(): MediaStreamTrack[] {
    if (this.room.isThere) return [...this.room.voices.values()].flat();
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
