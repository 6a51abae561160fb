// Which passage of a transcript is heard, who speaks how long in it, and where what somebody looks for is.

import type { TranscriptSegment } from './transcript.svelte';

/** In a longer silence after a passage none is lit. */
const SILENCE_MS = 2_000;

/** The index of the passage that is heard at a time; -1 for none. The segments are in the order of their beginnings. */
export function heardAt(segments: readonly Pick<TranscriptSegment, 'startMs' | 'endMs'>[], ms: number): number {
  let [low, high] = [0, segments.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((segments[middle]?.startMs ?? Infinity) <= ms) low = middle + 1;
    else high = middle;
  }
  const last = segments[low - 1];
  return last && ms < last.endMs + SILENCE_MS ? low - 1 : -1;
}

const patternOf = (wanted: string): RegExp => new RegExp(wanted.trim().replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replace(/\s+/g, '\\s+'), 'giu');

/** The positions of the passages that have the words in them. */
export function found(segments: readonly Pick<TranscriptSegment, 'text'>[], wanted: string): number[] {
  if (wanted.trim() === '') return [];
  const pattern = patternOf(wanted);
  return segments.flatMap(({ text }, position) => (text.search(pattern) >= 0 ? [position] : []));
}

/** The text in pieces, each either what is looked for or not. */
export function pieces(text: string, wanted: string): { text: string; isFound: boolean }[] {
  if (wanted.trim() === '') return [{ text, isFound: false }];
  const all: { text: string; isFound: boolean }[] = [];
  let from = 0;
  for (const match of text.matchAll(patternOf(wanted))) {
    if (match.index > from) all.push({ text: text.slice(from, match.index), isFound: false });
    all.push({ text: match[0], isFound: true });
    from = match.index + match[0].length;
  }
  if (from < text.length) all.push({ text: text.slice(from), isFound: false });
  return all;
}

/** How long each speaks, longest first, under the name that `nameOf` gives. */
export function speakingTimes<Segment extends Pick<TranscriptSegment, 'startMs' | 'endMs' | 'speaker'>>(
  segments: readonly Segment[], nameOf: (speaker: Segment['speaker']) => string,
): [string, number][] {
  const times = new Map<string, number>();
  for (const { startMs, endMs, speaker } of segments) {
    const name = nameOf(speaker);
    times.set(name, (times.get(name) ?? 0) + endMs - startMs);
  }
  return [...times].sort(([, one], [, other]) => other - one);
}
