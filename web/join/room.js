// Sound and picture: the connection to the media room, the own microphone and camera, and what comes of others.
//
// livekit-client is loaded when there is a room to go to, not before: it is larger than all else here together.

import { Refusal } from './api.js';
import { button, element, pressed, shows, write } from './elements.js';
import { say } from './words.js';

/** @typedef {import('./people.js').Heard} Heard */
/** @typedef {typeof import('./livekit.js')} LiveKit */
/** @typedef {'microphone' | 'camera'} Device */
/**
 * @typedef {object} Surroundings
 * @property {() => Promise<import('./api.js').Credentials>} credentials
 * @property {(identity: string) => string} nameOf
 * @property {(heard: Map<string, Heard>) => void} heard
 * @property {() => void} refused the meeting gives no credentials: look at what it has become
 */

const SHORTEST_MS = 2_000;
const LONGEST_MS = 30_000;

export class MediaRoom {
  /** @param {Surroundings} surroundings */
  constructor(surroundings) {
    this.surroundings = surroundings;
    /** Which stay this is; an older one notices that it is over. */
    this.stay = 0;
    /** @type {import('livekit-client').Room | null} */
    this.room = null;
    /** @type {LiveKit | null} */
    this.livekit = null;
    this.loads = 0;
    /** A word, or '' for nothing. */
    this.state = '';
    this.mayPublish = false;
    /** What the person has turned on, to be on again after a break. @type {Record<Device, boolean>} */
    this.wanted = { microphone: false, camera: false };
    /** Ends a pause between two tries. */
    this.hurry = () => {};
    pressed('microphone', () => this.turn('microphone'));
    pressed('camera', () => this.turn('camera'));
    pressed('sound', () => this.soundOrHere());
    addEventListener('online', () => this.hurry());
  }

  /** Goes to the room and stays there, whatever breaks, until `stop`. */
  async start() {
    const stay = ++this.stay;
    let tries = 0;
    this.become('connecting');
    while (stay === this.stay) {
      try {
        const { serverUrl, token, grants } = await this.surroundings.credentials();
        const livekit = await this.load();
        if (stay !== this.stay) return;
        this.mayPublish = grants?.canPublish !== false;
        const reason = await this.hold(livekit, serverUrl, token, stay, () => {
          tries = 0;
        });
        if (stay !== this.stay) return;
        if (reason === livekit.DisconnectReason.DUPLICATE_IDENTITY) return this.become('elsewhere');
      } catch (error) {
        if (stay !== this.stay) return;
        if (error instanceof Refusal && error.code.endsWith('NotConfigured')) return this.become('none');
        if (error instanceof Refusal && !error.passes) this.surroundings.refused();
      }
      if (stay !== this.stay) return;
      this.become('unreachable');
      const pause = Math.min(LONGEST_MS, SHORTEST_MS * 2 ** tries++);
      await new Promise((over) => {
        const timer = setTimeout(over, pause);
        this.hurry = () => {
          clearTimeout(timer);
          over(undefined);
        };
      });
    }
  }

  /** Leaves the room; the microphone and the camera are let go. */
  stop() {
    this.stay += 1;
    this.hurry();
    this.wanted = { microphone: false, camera: false };
    this.clear();
    this.become('');
  }

  clear() {
    const room = this.room;
    this.room = null;
    room?.disconnect();
    element('pictures').replaceChildren();
    element('sounds').replaceChildren();
    this.surroundings.heard(new Map());
  }

  /** @returns {Promise<LiveKit>} */
  async load() {
    // A browser may remember that a module could not be loaded, under its address.
    const again = this.loads++ ? `?${this.loads}` : '';
    this.livekit ??= await import(new URL(`livekit-client.js${again}`, import.meta.url).href);
    return /** @type {LiveKit} */ (this.livekit);
  }

  /**
   * Connects, and gives why that ended.
   * @param {LiveKit} livekit @param {string} url @param {string} token @param {number} stay @param {() => void} connected
   * @returns {Promise<number | undefined>}
   */
  async hold(livekit, url, token, stay, connected) {
    const { Room, RoomEvent } = livekit;
    const room = new Room({ adaptiveStream: true, dynacast: true, disconnectOnPageLeave: true });
    const changed = () => this.room === room && this.draw();
    /** @type {Promise<number | undefined>} */
    const ended = new Promise((end) => {
      room.on(RoomEvent.Disconnected, (reason) => end(reason));
    });
    room.on(RoomEvent.Reconnecting, () => this.room === room && this.become('reconnecting'));
    room.on(RoomEvent.Reconnected, () => this.room === room && this.become('connected'));
    room.on(RoomEvent.TrackSubscribed, (track, publication, participant) =>
      this.attach(track, publication, participant.identity));
    room.on(RoomEvent.TrackUnsubscribed, (track) => detach(track));
    room.on(RoomEvent.LocalTrackPublished, (publication, participant) => {
      const { track } = publication;
      if (track?.kind === livekit.Track.Kind.Video) this.attach(track, publication, participant.identity, true);
    });
    room.on(RoomEvent.LocalTrackUnpublished, (publication) => publication.track && detach(publication.track));
    for (const event of [
      RoomEvent.ParticipantConnected, RoomEvent.ParticipantDisconnected, RoomEvent.ActiveSpeakersChanged,
      RoomEvent.TrackPublished, RoomEvent.TrackUnpublished, RoomEvent.TrackMuted, RoomEvent.TrackUnmuted,
      RoomEvent.LocalTrackPublished, RoomEvent.LocalTrackUnpublished, RoomEvent.AudioPlaybackStatusChanged,
    ]) {
      room.on(event, changed);
    }
    try {
      await room.connect(url, token);
      if (stay !== this.stay) return undefined;
      this.room = room;
      connected();
      this.become('connected');
      for (const device of /** @type {Device[]} */ (['microphone', 'camera'])) {
        if (this.wanted[device]) await this.set(device, true);
      }
      return await ended;
    } finally {
      room.disconnect();
      if (stay === this.stay) this.clear();
    }
  }

  /** @param {Device} device */
  async turn(device) {
    if (this.room) await this.set(device, !this.isOn(device));
  }

  /** @param {Device} device @param {boolean} on */
  async set(device, on) {
    const local = this.room?.localParticipant;
    if (!local) return;
    write('room-fault', '');
    try {
      await (device === 'microphone' ? local.setMicrophoneEnabled(on) : local.setCameraEnabled(on));
      this.wanted[device] = on;
    } catch (error) {
      this.wanted[device] = false;
      write('room-fault', say(`device.${device}.${trouble(error)}`));
    }
    this.draw();
  }

  /** @param {Device} device */
  isOn(device) {
    const local = this.room?.localParticipant;
    return (device === 'microphone' ? local?.isMicrophoneEnabled : local?.isCameraEnabled) ?? false;
  }

  soundOrHere() {
    if (this.state === 'elsewhere') {
      this.start();
      element('room-heading').focus();
      return undefined;
    }
    return this.room?.startAudio();
  }

  /** @param {string} state */
  become(state) {
    this.state = state;
    this.draw();
  }

  draw() {
    const { room, state } = this;
    const isThere = room !== null && (state === 'connected' || state === 'reconnecting');
    const said = state === 'connected' && !this.mayPublish ? 'observer' : state;
    write('room-state', said && say(`room.${said}`));
    for (const device of /** @type {Device[]} */ (['microphone', 'camera'])) {
      const on = this.isOn(device);
      shows(device, isThere && this.mayPublish);
      write(device, say(`room.${device}${on ? 'Off' : 'On'}`));
      button(device).classList.toggle('quiet', !on);
    }
    shows('sound', (isThere && !room.canPlaybackAudio) || state === 'elsewhere');
    write('sound', say(state === 'elsewhere' ? 'room.here' : 'room.soundOn'));
    if (!isThere && state !== 'elsewhere') write('room-fault', '');
    shows('pictures', element('pictures').childElementCount > 0);
    this.label();
    this.surroundings.heard(room ? heard(room) : new Map());
  }

  /**
   * @param {import('livekit-client').Track} track
   * @param {{source: string}} publication
   * @param {string} identity
   * @param {boolean} [isOwn]
   */
  attach(track, publication, identity, isOwn = false) {
    const playing = track.attach();
    if (playing instanceof HTMLVideoElement) {
      const item = document.createElement('li');
      const isScreen = publication.source === this.livekit?.Track.Source.ScreenShare;
      item.dataset.identity = isOwn ? '' : identity;
      item.dataset.shown = isScreen ? 'screenOf' : 'pictureOf';
      item.classList.toggle('own', isOwn && !isScreen);
      const caption = document.createElement('span');
      item.append(playing, caption);
      element('pictures').append(item);
    } else {
      element('sounds').append(playing);
    }
    this.draw();
  }

  /** Whose picture each is, in today's language and under today's name. */
  label() {
    for (const item of element('pictures').children) {
      const { identity = '', shown = '' } = /** @type {HTMLElement} */ (item).dataset;
      const name = identity ? this.surroundings.nameOf(identity) : say('room.you');
      const label = identity ? say(`room.${shown}`, { name }) : say(`room.own.${shown}`);
      item.querySelector('video')?.setAttribute('aria-label', label);
      const caption = item.querySelector('span');
      if (caption && caption.textContent !== name) caption.textContent = name;
    }
  }
}

/** @param {import('livekit-client').Track} track */
function detach(track) {
  for (const playing of track.detach()) (playing.closest('li') ?? playing).remove();
  shows('pictures', element('pictures').childElementCount > 0);
}

/** @param {import('livekit-client').Room} room @returns {Map<string, Heard>} */
function heard(room) {
  const all = [room.localParticipant, ...room.remoteParticipants.values()];
  return new Map(
    all.map((one) => [one.identity, { microphone: one.isMicrophoneEnabled, speaking: one.isSpeaking }]),
  );
}

/** Why a device could not be had, as the browser names it. @param {unknown} error */
function trouble(error) {
  const name = error instanceof Error || error instanceof DOMException ? error.name : '';
  if (name === 'NotAllowedError' || name === 'SecurityError') return 'refused';
  if (name === 'NotFoundError' || name === 'OverconstrainedError') return 'missing';
  if (name === 'NotReadableError' || name === 'AbortError') return 'busy';
  return 'failed';
}
