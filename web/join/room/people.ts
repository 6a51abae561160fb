// What is seen and heard of those in the media room.

import type { Participant, RemoteTrack, Room, Track } from 'livekit-client';
import type { LiveKit } from './connection';

export interface Tile {
  key: string;
  /** The id of the participant in the meeting. */
  identity: string;
  isOwn: boolean;
  isScreen: boolean;
  /** `null` while there is no picture. */
  video: Track | null;
  isSpeaking: boolean;
  isMuted: boolean;
}

/** What the room says of somebody who is connected to it. */
export interface Presence { microphone: boolean; speaking: boolean }

function tilesOf(livekit: LiveKit, participant: Participant): Tile[] {
  const { Camera, ScreenShare } = livekit.Track.Source;
  const shown = (source: Track.Source): Track | null => {
    const publication = participant.getTrackPublication(source);
    return publication && !publication.isMuted ? (publication.track ?? null) : null;
  };
  const base = {
    identity: participant.identity, isOwn: participant.isLocal,
    isSpeaking: participant.isSpeaking, isMuted: !participant.isMicrophoneEnabled,
  };
  const tiles: Tile[] = [{ ...base, key: `${participant.identity} camera`, isScreen: false, video: shown(Camera) }];
  const screen = shown(ScreenShare);
  if (screen) tiles.unshift({ ...base, key: `${participant.identity} screen`, isScreen: true, video: screen });
  return tiles;
}

const everybody = (room: Room): Participant[] => [...room.remoteParticipants.values(), room.localParticipant];

/** Screens first, then the others, then this person. */
export function tilesIn(livekit: LiveKit, room: Room): Tile[] {
  const tiles = everybody(room).flatMap((participant) => tilesOf(livekit, participant));
  return tiles.sort((one, other) => Number(other.isScreen) - Number(one.isScreen));
}

/** By identity. */
export const presencesIn = (room: Room): Map<string, Presence> =>
  new Map(everybody(room).map((one) => [one.identity, { microphone: one.isMicrophoneEnabled, speaking: one.isSpeaking }]));

/** The sound of somebody else, screens included. */
const soundsOf = (livekit: LiveKit, participant: Participant): RemoteTrack[] =>
  [...participant.trackPublications.values()].flatMap(({ track }) => (track?.kind === livekit.Track.Kind.Audio ? [track as RemoteTrack] : []));

export const soundsIn = (livekit: LiveKit, room: Room): RemoteTrack[] =>
  [...room.remoteParticipants.values()].flatMap((one) => soundsOf(livekit, one));

/** The sound of everybody, by identity: of this person only while the microphone is on. */
export function voicesIn(livekit: LiveKit, room: Room): Map<string, MediaStreamTrack[]> {
  const voices = new Map<string, MediaStreamTrack[]>();
  for (const one of room.remoteParticipants.values()) {
    const tracks = soundsOf(livekit, one).map((track) => track.mediaStreamTrack);
    if (tracks.length > 0) voices.set(one.identity, tracks);
  }
  const own = room.localParticipant.getTrackPublication(livekit.Track.Source.Microphone);
  if (own?.track && !own.isMuted) voices.set(room.localParticipant.identity, [own.track.mediaStreamTrack]);
  return voices;
}
