// Leaves out of a chunk what was recorded while somebody's consent was missing.

import type { StoredChunk } from './store';
import { filterBlocks } from './webm';

export interface Interval { from: string; to: string | null }
interface Span { fromMs: number; toMs: number }

/** The clocks of the server and of this device, and the encoder, may differ by so much. */
const MARGIN_MS = 150;

/** The parts of a span that are in no pause. `pauses` in their order. */
function freeSpans({ fromMs, toMs }: Span, pauses: readonly Span[]): Span[] {
  const spans: Span[] = [];
  let start = fromMs;
  for (const pause of pauses) {
    if (pause.fromMs > start) spans.push({ fromMs: start, toMs: Math.min(pause.fromMs, toMs) });
    start = Math.max(start, pause.toMs);
  }
  spans.push({ fromMs: start, toMs });
  return spans.filter((span) => span.toMs > span.fromMs);
}

/** The longest part of the chunk that is in no pause; without sound if there is none, or if it can't be told apart. */
export function cutPauses(
  chunk: Pick<StoredChunk, 'bytes' | 'fromMs' | 'toMs'>, intervals: readonly Interval[], startedAt: number,
): Pick<StoredChunk, 'bytes' | 'fromMs' | 'toMs'> {
  const pauses = intervals.map(({ from, to }) => ({
    fromMs: Date.parse(from) - startedAt, toMs: to === null ? Infinity : Date.parse(to) - startedAt,
  }));
  const overlapping = pauses.filter((pause) => pause.fromMs < chunk.toMs && pause.toMs > chunk.fromMs);
  const [first] = overlapping;
  if (!first) return chunk;
  const before = Math.floor(Math.min(first.fromMs, chunk.fromMs));
  const span = freeSpans(chunk, overlapping).sort((one, other) => other.toMs - other.fromMs - (one.toMs - one.fromMs))[0]
    ?? { fromMs: before, toMs: before };
  const length = chunk.toMs - chunk.fromMs;
  const isKept = (start: number, end: number): boolean =>
    chunk.fromMs + start * length >= span.fromMs + (span.fromMs > chunk.fromMs ? MARGIN_MS : 0) &&
    chunk.fromMs + end * length <= span.toMs - (span.toMs < chunk.toMs ? MARGIN_MS : 0);
  const bytes = filterBlocks(chunk.bytes, isKept) ?? new ArrayBuffer(0);
  return { bytes, fromMs: Math.ceil(span.fromMs), toMs: Math.floor(span.toMs) };
}
