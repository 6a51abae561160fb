import { beforeEach, expect, test, vi } from 'vitest';
import { ApiError } from '../../shared/api/error';
import { MediaRoom } from '../../join/room/room.svelte';

const livekit = vi.hoisted(() => {
  class Room {
    static all: Room[] = [];
    listeners = new Map<string, ((value?: unknown) => void)[]>();
    remoteParticipants = new Map();
    canPlaybackAudio = true;
    localParticipant = {
      identity: 'me', isLocal: true, isSpeaking: false, isMicrophoneEnabled: false, isCameraEnabled: false, isScreenShareEnabled: false,
      getTrackPublication: () => undefined,
      setMicrophoneEnabled: async (on: boolean) => { this.localParticipant.isMicrophoneEnabled = on; },
      setCameraEnabled: () => Promise.reject(new DOMException('', 'NotAllowedError')),
    };
    constructor() { Room.all.push(this); }
    on(event: string, listener: (value?: unknown) => void): void { this.listeners.set(event, [...(this.listeners.get(event) ?? []), listener]); }
    emit(event: string, value?: unknown): void { for (const listener of this.listeners.get(event) ?? []) listener(value); }
    connect = () => Promise.resolve();
    disconnect = () => { this.emit('Disconnected'); };
    switchActiveDevice = () => Promise.resolve(true);
  }
  const names = new Proxy({}, { get: (_, name) => name });
  return { Room, RoomEvent: names, DisconnectReason: { DUPLICATE_IDENTITY: 2 }, Track: { Source: names, Kind: names } };
});
vi.mock('livekit-client', () => livekit);

const credentials = () => Promise.resolve({ serverUrl: 'ws://media', token: 't', grants: { canPublish: true } } as never);
const settled = async () => { for (let turn = 0; turn < 10; turn += 1) await new Promise((over) => setTimeout(over, 0)); };
beforeEach(() => { livekit.Room.all = []; });

test('what was on before the meeting is on in the room, and is off again once it is left', async () => {
  const room = new MediaRoom({ credentials, refused: vi.fn() });
  room.wanted.microphone = true;
  void room.start();
  await settled();
  expect([room.status, room.on.microphone, room.tiles.length]).toEqual(['connected', true, 1]);
  room.stop();
  expect([room.status, room.tiles.length, room.wanted.microphone]).toEqual(['off', 0, false]);
});

test('a device that is refused is said, and the room goes on', async () => {
  const room = new MediaRoom({ credentials, refused: vi.fn() });
  void room.start();
  await settled();
  await room.toggle('camera');
  expect([room.fault, room.status]).toEqual([{ source: 'camera', fault: 'refused' }, 'connected']);
  room.stop();
});

test('without a media server it says so, and does not try again', async () => {
  const refusal = new ApiError(503, [{ code: 'MediaNotConfigured', field: null, reason: null, message: '' }]);
  const room = new MediaRoom({ credentials: () => Promise.reject(refusal), refused: vi.fn() });
  await room.start();
  expect(room.status).toBe('none');
});

test('where the meeting was opened in another window, this one does not take it back', async () => {
  const room = new MediaRoom({ credentials, refused: vi.fn() });
  void room.start();
  await settled();
  livekit.Room.all[0]?.emit('Disconnected', 2);
  await settled();
  expect([room.status, livekit.Room.all.length]).toEqual(['elsewhere', 1]);
});
