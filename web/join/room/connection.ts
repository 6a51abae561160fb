// One connection to the media room: the events of livekit-client that matter here.

import type { Room } from 'livekit-client';

export type LiveKit = typeof import('livekit-client');

export interface RoomListener {
  /** Who is there, what they send, and who speaks may have changed. */
  changed: () => void;
  reconnecting: (isReconnecting: boolean) => void;
}

/** Makes a room that is not connected yet. `ended` gives why the connection ended for good. */
export function createRoom(livekit: LiveKit, listener: RoomListener): { room: Room; ended: Promise<number | undefined> } {
  const { Room, RoomEvent } = livekit;
  const room = new Room({ adaptiveStream: true, dynacast: true, disconnectOnPageLeave: true });
  const ended = new Promise<number | undefined>((end) => {
    room.on(RoomEvent.Disconnected, (reason) => end(reason));
  });
  room.on(RoomEvent.Reconnecting, () => listener.reconnecting(true));
  room.on(RoomEvent.Reconnected, () => listener.reconnecting(false));
  const changes = [
    RoomEvent.ParticipantConnected, RoomEvent.ParticipantDisconnected, RoomEvent.ActiveSpeakersChanged,
    RoomEvent.TrackPublished, RoomEvent.TrackUnpublished, RoomEvent.TrackSubscribed, RoomEvent.TrackUnsubscribed,
    RoomEvent.TrackMuted, RoomEvent.TrackUnmuted, RoomEvent.LocalTrackPublished, RoomEvent.LocalTrackUnpublished,
    RoomEvent.AudioPlaybackStatusChanged, RoomEvent.ActiveDeviceChanged,
  ] as const;
  for (const event of changes) room.on(event, listener.changed);
  return { room, ended };
}

let loading: Promise<LiveKit> | null = null;

/** Loads livekit-client, once there is a room to go to: it is larger than all else here together. */
export function loadLiveKit(): Promise<LiveKit> {
  loading ??= import('livekit-client').catch((error: unknown) => {
    loading = null;
    throw error;
  });
  return loading;
}
