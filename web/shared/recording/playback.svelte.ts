// Plays a recording: where it is, and whether it sounds. Player.svelte shows it.
//
// An audio element can't send the access token. It plays a link, which is asked for when the first sound is wanted and again
// once it has expired; the browser reads the content in ranges as it is heard, never the whole. To play the quote of an item:
//
//   const playback = new Playback(recordingId, durationMs);      // null, where the duration is not known
//   void playback.play({ from: source.startMs, until: source.endMs });
//   <Player {playback} />                                        // optional: it sounds without any controls, too
//   onDestroy(() => playback.close());                           // whoever makes one ends it
//
// A page has one sound: what begins to play pauses what played before.

import { addressOf, ApiError } from '../api/client';
import { createPlaybackLink } from './operations';

export const RATES = [0.75, 1, 1.25, 1.5, 1.75, 2] as const;
/** How far the buttons and keys go. */
export const STEP_MS = 10_000;
/** A link that expires sooner is not begun with. */
const LEAST_VALID_MS = 10_000;
/** So many failures without any sound between them are no expired link. */
const MOST_FAILURES = 2;

export class Playback {
  /** Whether it is to sound, also while the sound is waited for. */
  isPlaying = $state(false);
  isWaiting = $state(false);
  positionMs = $state(0);
  rate = $state(1);
  durationMs = $state<number | null>(null);
  fault = $state.raw<ApiError | 'unplayable' | null>(null);

  static #sounding: Playback | null = null;
  readonly #audio = new Audio();
  #validUntil = 0;
  #until: number | null = null;
  #failures = 0;
  /** Each load has a number, so that what an earlier one brings late is left alone. */
  #load = 0;

  constructor(readonly recordingId: string, durationMs: number | null) {
    this.durationMs = durationMs;
    const audio = this.#audio;
    audio.preload = 'metadata';
    audio.ontimeupdate = () => this.#moved();
    audio.ondurationchange = () => {
      // What a browser records has no duration of its own: there the server's stays.
      if (Number.isFinite(audio.duration)) this.durationMs = audio.duration * 1000;
    };
    audio.onplaying = () => [this.isWaiting, this.#failures] = [false, 0];
    audio.onwaiting = () => { this.isWaiting = this.isPlaying; };
    audio.onended = () => this.#ended();
    audio.onerror = () => void this.#failed();
    // By the keys of a headset, or by the system.
    audio.onpause = () => { if (!audio.ended && !audio.error && audio.src && !this.#isLoading) this.isPlaying = false; };
  }

  #isLoading = false;

  /** Plays on, or from a time in milliseconds; until another one, if it is given. */
  async play({ from, until = null }: { from?: number | null; until?: number | null } = {}): Promise<void> {
    if (Playback.#sounding !== this) Playback.#sounding?.pause();
    Playback.#sounding = this;
    [this.fault, this.#failures] = [null, 0];
    const isAtEnd = this.durationMs !== null && this.positionMs >= this.durationMs - 250;
    if (from !== undefined && from !== null) this.seek(from);
    else if (isAtEnd) this.seek(0);
    this.#until = until;
    this.isPlaying = true;
    await this.#sound();
  }

  pause(): void {
    [this.isPlaying, this.isWaiting] = [false, false];
    this.#audio.pause();
  }

  toggle(): void {
    if (this.isPlaying) this.pause();
    else void this.play();
  }

  seek(ms: number): void {
    this.positionMs = Math.max(0, Math.min(ms, this.durationMs ?? Infinity));
    this.#until = null;
    if (this.#audio.readyState >= HTMLMediaElement.HAVE_METADATA) this.#audio.currentTime = this.positionMs / 1000;
  }

  skip(ms: number): void { this.seek(this.positionMs + ms); }

  setRate(rate: number): void {
    this.rate = rate;
    // A new source begins with the default.
    [this.#audio.playbackRate, this.#audio.defaultPlaybackRate] = [rate, rate];
  }

  /** Ends it: nothing sounds, and nothing is read any more. */
  close(): void {
    this.#load += 1;
    this.pause();
    this.#audio.removeAttribute('src');
    this.#audio.load();
    if (Playback.#sounding === this) Playback.#sounding = null;
  }

  async #sound(): Promise<void> {
    if (this.#validUntil - Date.now() < LEAST_VALID_MS && !(await this.#begin())) return;
    try {
      await this.#audio.play();
    } catch (reason) {
      // A pause or another source came between; what is wrong with the source is told by its error.
      if (reason instanceof DOMException && reason.name === 'NotAllowedError') this.pause();
    }
  }

  /** Takes a new link for its source. Returns whether it was given. */
  async #begin(): Promise<boolean> {
    const load = ++this.#load;
    [this.isWaiting, this.#isLoading] = [true, true];
    try {
      const { url, expiresAt } = await createPlaybackLink(this.recordingId);
      if (load !== this.#load) return false;
      this.#validUntil = Date.parse(expiresAt);
      const audio = this.#audio;
      audio.onloadedmetadata = () => {
        if (this.positionMs > 0) audio.currentTime = this.positionMs / 1000;
      };
      audio.src = addressOf(url);
      return this.isPlaying;
    } catch (thrown) {
      if (load === this.#load) this.#stop(thrown);
      return false;
    } finally {
      if (load === this.#load) this.#isLoading = false;
    }
  }

  /** The link has expired, the connection broke, or the content can't be played: another link tells which. */
  async #failed(): Promise<void> {
    if (!this.#audio.src) return;
    this.#validUntil = 0;
    if (!this.isPlaying) return;
    this.#failures += 1;
    if (this.#failures > MOST_FAILURES) return this.#stop('unplayable');
    await this.#sound();
  }

  #stop(fault: unknown): void {
    this.pause();
    this.#validUntil = 0;
    if (fault !== 'unplayable' && !(fault instanceof ApiError)) throw fault;
    this.fault = fault;
  }

  #moved(): void {
    // While it loads, the element says zero.
    if (this.#audio.readyState < HTMLMediaElement.HAVE_CURRENT_DATA || this.#audio.seeking) return;
    this.positionMs = this.#audio.currentTime * 1000;
    if (this.#until === null || this.positionMs < this.#until) return;
    this.#until = null;
    this.pause();
  }

  #ended(): void {
    this.durationMs = this.#audio.currentTime * 1000;
    this.positionMs = this.durationMs;
    this.pause();
  }
}
