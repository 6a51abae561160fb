// What the page uses of livekit-client: the bundle in dist holds this and what it needs, and nothing else.
export { DisconnectReason, Room, RoomEvent, Track } from 'livekit-client';
