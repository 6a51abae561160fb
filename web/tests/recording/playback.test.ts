import { beforeEach, expect, test, vi, type MockInstance } from 'vitest';
import { ApiError } from '../../shared/api/client';
import * as operations from '../../shared/recording/operations';
import { Playback } from '../../shared/recording/playback.svelte';

/** An audio element as far as a player uses it: it sounds when it is told to. */
class FakeAudio {
  static last: FakeAudio;
  preload = '';
  src = '';
  currentTime = 0;
  duration = NaN;
  readyState = 0;
  seeking = false;
  ended = false;
  error: object | null = null;
  playbackRate = 1;
  defaultPlaybackRate = 1;
  isSounding = false;
  [handler: `on${string}`]: (() => unknown) | undefined;
  constructor() { FakeAudio.last = this; }
  async play(): Promise<void> { this.isSounding = true; }
  pause(): void { this.isSounding = false; }
  load(): void { this.readyState = 0; }
  removeAttribute(): void { this.src = ''; }
  /** The beginning of the content is here. */
  begins(duration = Infinity): void {
    [this.duration, this.readyState] = [duration, 4];
    this.ondurationchange?.();
    this.onloadedmetadata?.();
    this.onplaying?.();
  }
  hears(seconds: number): void {
    this.currentTime = seconds;
    this.ontimeupdate?.();
  }
  async breaks(): Promise<void> {
    this.error = { code: 4 };
    await this.onerror?.();
    this.error = null;
  }
}

const link = (name: string, seconds = 900) => ({ url: `/api/recordings/r/content?playback=${name}`, expiresAt: new Date(Date.now() + seconds * 1000).toISOString() });
let links: MockInstance<typeof operations.createPlaybackLink>;

beforeEach(() => {
  vi.stubGlobal('Audio', FakeAudio);
  links = vi.spyOn(operations, 'createPlaybackLink').mockResolvedValue(link('one'));
});

test('a link is asked for with the first sound, and not before', async () => {
  const playback = new Playback('r', 60_000);
  playback.seek(5_000);
  expect(links).not.toHaveBeenCalled();
  await playback.play();
  const audio = FakeAudio.last;
  expect(audio.src).toMatch(/\/api\/recordings\/r\/content\?playback=one$/);
  audio.begins();
  expect([audio.currentTime, playback.durationMs, playback.isPlaying, playback.isWaiting]).toEqual([5, 60_000, true, false]);
  playback.pause();
  await playback.play();
  expect(links).toHaveBeenCalledTimes(1);
});

test('what a browser recorded tells no duration: the server does; else the content', async () => {
  const recorded = new Playback('r', 60_000);
  await recorded.play();
  FakeAudio.last.begins(Infinity);
  expect(recorded.durationMs).toBe(60_000);
  const unknown = new Playback('r', null);
  await unknown.play();
  FakeAudio.last.begins(12.5);
  expect(unknown.durationMs).toBe(12_500);
});

test('when the link has expired another one plays on where it stood', async () => {
  const playback = new Playback('r', 60_000);
  await playback.play();
  const audio = FakeAudio.last;
  audio.begins();
  audio.hears(20);
  links.mockResolvedValue(link('two'));
  await audio.breaks();
  expect(audio.src).toMatch(/two$/);
  audio.currentTime = 0;
  audio.begins();
  expect([audio.currentTime, playback.isPlaying, audio.isSounding]).toEqual([20, true, true]);
});

test('a link that expires while it is paused is replaced before it is used', async () => {
  links.mockResolvedValueOnce(link('one', 1));
  const playback = new Playback('r', 60_000);
  await playback.play();
  playback.pause();
  links.mockResolvedValue(link('two'));
  await playback.play();
  expect(FakeAudio.last.src).toMatch(/two$/);
});

test('what can not be played is said, and not tried for ever', async () => {
  const playback = new Playback('r', 60_000);
  await playback.play();
  for (let times = 0; times < 5; times += 1) await FakeAudio.last.breaks();
  expect([playback.fault, playback.isPlaying]).toEqual(['unplayable', false]);
  expect(links).toHaveBeenCalledTimes(3);
});

test('whoever may not hear it any more is told why', async () => {
  const playback = new Playback('r', 60_000);
  await playback.play();
  FakeAudio.last.begins();
  links.mockRejectedValue(new ApiError(403, [{ code: 'Forbidden', field: null, reason: null, message: 'No.' }]));
  await FakeAudio.last.breaks();
  expect([playback.fault, playback.isPlaying]).toEqual([expect.objectContaining({ code: 'Forbidden' }), false]);
});

test('a passage ends where it was said to; a seek plays on', async () => {
  const playback = new Playback('r', 60_000);
  await playback.play({ from: 10_000, until: 12_000 });
  const audio = FakeAudio.last;
  audio.begins();
  audio.hears(11.9);
  expect(playback.isPlaying).toBe(true);
  audio.hears(12.1);
  expect([playback.isPlaying, audio.isSounding]).toEqual([false, false]);
  await playback.play({ from: 10_000, until: 12_000 });
  playback.seek(11_000);
  audio.hears(12.5);
  expect(playback.isPlaying).toBe(true);
});

test('what begins to play pauses what played before, and the end of one is the beginning of the next time', async () => {
  const one = new Playback('r', 60_000);
  await one.play();
  const first = FakeAudio.last;
  const other = new Playback('q', 30_000);
  await other.play();
  expect([one.isPlaying, first.isSounding, other.isPlaying]).toEqual([false, false, true]);
  const audio = FakeAudio.last;
  audio.begins(30);
  audio.hears(30);
  audio.onended?.();
  expect([other.isPlaying, other.positionMs]).toEqual([false, 30_000]);
  await other.play();
  expect(other.positionMs).toBe(0);
});

test('once closed nothing sounds, whatever comes late', async () => {
  let arrive: (value: Awaited<ReturnType<typeof operations.createPlaybackLink>>) => void = () => undefined;
  links.mockReturnValue(new Promise((resolve) => { arrive = resolve; }));
  const playback = new Playback('r', 60_000);
  const playing = playback.play();
  playback.close();
  arrive(link('late'));
  await playing;
  expect([FakeAudio.last.src, FakeAudio.last.isSounding]).toEqual(['', false]);
});
