// Where the places are that a warning of a run names.

import type { Schemas } from '$shared/api/client';
import type { Run } from './timeline';

type Warning = Schemas['RunWarning'];
export type Place = { page: number } | { start: number; end: number } | { ms: number };
/** A part of a project's address, with its query; the place is null for the source as a whole. */
export interface WarningLink { path: readonly string[]; query: string; place: Place | null }

/** The places that a warning names: the server writes them into its sentence. In a document with times, the stretch of its text counts. */
export const placesIn = (message: string): Place[] =>
  [...message.matchAll(/\bpage (\d+)|\bcharacters (\d+) to (\d+)|\b(\d+):(\d\d) minutes from the start(?! \(characters)/g)].map(([, page, start, end, minutes, seconds]) => {
    if (page) return { page: Number(page) };
    return start ? { start: Number(start), end: Number(end) } : { ms: (Number(minutes) * 60 + Number(seconds)) * 1000 };
  });

/** The links of a warning; `recordingIds` are the meeting's recordings that were analysed. */
export function linksOf({ message, sourceId }: Warning, { documentIds, documentVersions, meetingId }: Pick<Run, 'documentIds' | 'documentVersions' | 'meetingId'>, recordingIds: readonly string[]): WarningLink[] {
  if (sourceId === null) return [];
  const version = documentVersions[documentIds.indexOf(sourceId)];
  if (version !== undefined) return linksTo(['documents', sourceId], placesIn(message).filter((place) => !('ms' in place)), `&version=${version}`);
  if (meetingId === null) return [];
  // What was said in a meeting is one source: times in it are a recording's only where there is no other.
  const [only, ...others] = sourceId === meetingId ? recordingIds : [sourceId];
  if (only === undefined || others.length > 0) return linksTo(['meetings', meetingId], []);
  return linksTo(['meetings', meetingId, 'recordings', only], placesIn(message).filter((place) => 'ms' in place));
}

/** `more` is what the query of a place has besides. */
const linksTo = (path: readonly string[], places: readonly Place[], more = ''): WarningLink[] =>
  (places.length === 0 ? [{ path, query: '', place: null }] : places.map((place) => ({ path, query: queryOf(place) + more, place })));

function queryOf(place: Place): string {
  if ('page' in place) return `?page=${place.page}`;
  return 'ms' in place ? `?at=${place.ms}` : `?start=${place.start}&end=${place.end}`;
}
