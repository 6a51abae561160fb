// Mixes several tracks of sound into one, while they come and go.

export class AudioMixer {
  readonly #context = new AudioContext();
  readonly #destination = this.#context.createMediaStreamDestination();
  readonly #sources = new Map<MediaStreamTrack, MediaStreamAudioSourceNode>();

  get stream(): MediaStream { return this.#destination.stream; }

  async resume(): Promise<void> {
    if (this.#context.state !== 'running') await this.#context.resume();
  }

  /** Mixes these tracks from now on, and no others. */
  set(tracks: readonly MediaStreamTrack[]): void {
    for (const [track, source] of this.#sources) {
      if (tracks.includes(track)) continue;
      source.disconnect();
      this.#sources.delete(track);
    }
    for (const track of tracks) {
      if (this.#sources.has(track) || track.readyState === 'ended') continue;
      const source = this.#context.createMediaStreamSource(new MediaStream([track]));
      source.connect(this.#destination);
      this.#sources.set(track, source);
    }
  }

  close(): void {
    this.set([]);
    void this.#context.close();
  }
}
