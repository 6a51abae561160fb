// How loud a microphone is, for the meter beside it.

/** Calls `changed` with a level from 0 to 1 some times a second. Returns what ends it. */
export function measureLevel(track: MediaStreamTrack, changed: (level: number) => void): () => void {
  const context = new AudioContext();
  const analyser = context.createAnalyser();
  analyser.fftSize = 512;
  context.createMediaStreamSource(new MediaStream([track])).connect(analyser);
  const samples = new Uint8Array(analyser.fftSize);
  const timer = setInterval(() => {
    analyser.getByteTimeDomainData(samples);
    const peak = samples.reduce((most, sample) => Math.max(most, Math.abs(sample - 128)), 0);
    changed(Math.min(1, peak / 64));
  }, 100);
  return () => {
    clearInterval(timer);
    void context.close();
  };
}
