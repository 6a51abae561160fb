// Sound and picture: the connection to the media room, and the own microphone, camera and screen.

import type { RemoteTrack, Room } from 'livekit-client';
import { ApiError, type Schemas } from '$shared/api/client';
import { createRoom, loadLiveKit, type LiveKit } from './connection';
import { deviceFault, devices, type DeviceFault, type DeviceKind } from './devices.svelte';
import { presencesIn, soundsIn, tilesIn, voicesIn, type Presence, type Tile } from './people';

export type RoomStatus = 'off' | 'connecting' | 'connected' | 'reconnecting' | 'unreachable' | 'none' | 'elsewhere';
export type Source = 'microphone' | 'camera' | 'screen';

interface Options {
  credentials: () => Promise<Schemas['RoomCredentials']>;
  /** The meeting gives no credentials: it has to be read what it has become. */
  refused: () => void;
}

const SHORTEST_MS = 2_000;
const LONGEST_MS = 30_000;

export class MediaRoom {
  status = $state<RoomStatus>('off');
  canPublish = $state(false);
  canPlay = $state(true);
  on = $state.raw<Record<Source, boolean>>({ microphone: false, camera: false, screen: false });
  fault = $state.raw<{ source: Source; fault: DeviceFault } | null>(null);
  tiles = $state.raw<Tile[]>([]);
  sounds = $state.raw<RemoteTrack[]>([]);
  /** The sound of each participant that is to be in a recording. */
  voices = $state.raw<ReadonlyMap<string, MediaStreamTrack[]>>(new Map());
  presences = $state.raw<ReadonlyMap<string, Presence>>(new Map());
  readonly isThere = $derived(this.status === 'connected' || this.status === 'reconnecting');

  /** What is to be on when the room is reached, and again after a break. */
  readonly wanted = { microphone: false, camera: false };
  readonly #options: Options;
  #room: Room | null = null;
  #livekit: LiveKit | null = null;
  /** Which stay this is: an older one notices that it is over. */
  #stay = 0;
  #hurry = (): void => undefined;

  constructor(options: Options) {
    this.#options = options;
    addEventListener('online', () => this.#hurry());
  }

  /** Goes to the room and stays there, whatever breaks, until `stop`. */
  start = async (): Promise<void> => {
    const stay = ++this.#stay;
    let tries = 0;
    this.status = 'connecting';
    while (stay === this.#stay) {
      try {
        const { serverUrl, token, grants } = await this.#options.credentials();
        this.#livekit = await loadLiveKit();
        if (stay !== this.#stay) return;
        this.canPublish = grants.canPublish;
        const reason = await this.#hold(this.#livekit, serverUrl, token, stay, () => { tries = 0; });
        if (stay === this.#stay && reason === this.#livekit.DisconnectReason.DUPLICATE_IDENTITY) {
          this.status = 'elsewhere';
          return;
        }
      } catch (error) {
        if (stay !== this.#stay) return;
        if (error instanceof ApiError && error.code.endsWith('NotConfigured')) {
          this.status = 'none';
          return;
        }
        if (error instanceof ApiError && !error.passes) this.#options.refused();
      }
      if (stay !== this.#stay) return;
      this.status = 'unreachable';
      await this.#pause(Math.min(LONGEST_MS, SHORTEST_MS * 2 ** tries++));
    }
  };

  /** Leaves the room; the microphone and the camera are let go. */
  stop(): void {
    this.#stay += 1;
    this.#hurry();
    Object.assign(this.wanted, { microphone: false, camera: false });
    this.#clear();
    this.status = 'off';
  }

  toggle = async (source: Source): Promise<void> => {
    if (this.#room) await this.#turn(source, !this.on[source]);
  };

  /** Uses another device, now and whenever the room is reached. */
  choose = async (kind: DeviceKind, id: string): Promise<void> => {
    devices.choose(kind, id);
    const native = ({ microphone: 'audioinput', camera: 'videoinput', speaker: 'audiooutput' } as const)[kind];
    try {
      await this.#room?.switchActiveDevice(native, id);
    } catch (error) {
      if (kind !== 'speaker') this.fault = { source: kind, fault: deviceFault(error) };
    }
  };

  startSound = async (): Promise<void> => {
    if (this.status === 'elsewhere') void this.start();
    else await this.#room?.startAudio();
  };

  async #hold(livekit: LiveKit, url: string, token: string, stay: number, connected: () => void): Promise<number | undefined> {
    const isCurrent = (): boolean => this.#room === room;
    const { room, ended } = createRoom(livekit, {
      changed: () => isCurrent() && this.#update(),
      reconnecting: (is) => { if (isCurrent()) this.status = is ? 'reconnecting' : 'connected'; },
    });
    try {
      await room.connect(url, token);
      if (stay !== this.#stay) return undefined;
      this.#room = room;
      connected();
      this.status = 'connected';
      this.#update();
      const { speaker } = devices.chosen;
      if (speaker) await room.switchActiveDevice('audiooutput', speaker).catch(() => undefined);
      for (const source of ['microphone', 'camera'] as const) {
        if (this.wanted[source] && this.canPublish) await this.#turn(source, true);
      }
      void devices.list();
      return await ended;
    } finally {
      void room.disconnect();
      if (stay === this.#stay) this.#clear();
    }
  }

  async #turn(source: Source, on: boolean): Promise<void> {
    const local = this.#room?.localParticipant;
    if (!local) return;
    this.fault = null;
    try {
      if (source === 'microphone') await local.setMicrophoneEnabled(on, devices.constraints('microphone'));
      else if (source === 'camera') await local.setCameraEnabled(on, devices.constraints('camera'));
      else await local.setScreenShareEnabled(on, { audio: true });
      if (source !== 'screen') this.wanted[source] = on;
      void devices.list();
    } catch (error) {
      if (source !== 'screen') this.wanted[source] = false;
      this.fault = { source, fault: deviceFault(error) };
    }
    this.#update();
  }

  #update(): void {
    const [room, livekit] = [this.#room, this.#livekit];
    if (!room || !livekit) return;
    const local = room.localParticipant;
    this.on = { microphone: local.isMicrophoneEnabled, camera: local.isCameraEnabled, screen: local.isScreenShareEnabled };
    this.canPlay = room.canPlaybackAudio;
    this.tiles = tilesIn(livekit, room);
    this.sounds = soundsIn(livekit, room);
    this.voices = voicesIn(livekit, room);
    this.presences = presencesIn(room);
  }

  #clear(): void {
    const room = this.#room;
    this.#room = null;
    void room?.disconnect();
    this.on = { microphone: false, camera: false, screen: false };
    this.fault = null;
    this.tiles = [];
    this.sounds = [];
    this.voices = new Map();
    this.presences = new Map();
  }

  #pause(ms: number): Promise<void> {
    return new Promise((over) => {
      const timer = setTimeout(over, ms);
      this.#hurry = () => {
        clearTimeout(timer);
        over();
      };
    });
  }
}
