// The text of a document in parts that are shown one below the other: its pages, or where there are none, stretches of it.

import type { Schemas } from '$shared/api/client';
import { stringPositions } from '$shared/source/quotes';

export interface Part {
  /** The page; null in documents without pages. */
  page: number | null;
  /** The text before, in and after the place that is looked for; all of it is in `before` where the place is elsewhere. */
  before: string;
  lit: string;
  after: string;
}
/** A place in scalar values, as the interface counts; the end is exclusive. */
export interface Place { start: number; end: number }

/** About how long a stretch is. */
const STRETCH = 20_000;

export function partsOf({ text, pages }: Schemas['DocumentText'], place: Place | null): Part[] {
  const position = stringPositions(text);
  const lit = place && { start: position(place.start), end: position(place.end) };
  const spans = pages.length > 0
    ? pages.map(({ page, startOffset, endOffset }) => ({ page, start: position(startOffset), end: position(endOffset) }))
    : stretches(text).map((span) => ({ page: null, ...span }));
  return spans.map(({ page, start, end }) => {
    const [from, to] = lit ? [Math.max(start, lit.start), Math.min(end, lit.end)] : [end, end];
    if (from >= to) return { page, before: text.slice(start, end), lit: '', after: '' };
    return { page, before: text.slice(start, from), lit: text.slice(from, to), after: text.slice(to, end) };
  });
}

/** Cuts a text at the ends of lines. */
function stretches(text: string): { start: number; end: number }[] {
  const found: { start: number; end: number }[] = [];
  for (let start = 0; start < text.length;) {
    const line = text.indexOf('\n', start + STRETCH);
    const end = line < 0 ? text.length : line + 1;
    found.push({ start, end });
    start = end;
  }
  return found;
}

/** The place that an address names by `start` and `end`; null where it names none. */
export function placeOf(query: URLSearchParams): Place | null {
  const [start, end] = [Number(query.get('start') ?? NaN), Number(query.get('end') ?? NaN)];
  return Number.isInteger(start) && Number.isInteger(end) && start >= 0 && end > start ? { start, end } : null;
}
