// The operations of recordings and transcripts that the pages use.

import { addressOf, api, ApiError, authorizedFetch, unwrap, type Schemas } from '../api/client';
import type { Failure } from '../api/error';

/** The current version, or another one. */
export const readTranscript = (recordingId: string, version: number | null = null): Promise<Schemas['Transcript']> =>
  unwrap(api.GET('/api/recordings/{recordingId}/transcript', { params: { path: { recordingId }, query: version === null ? {} : { version } } }));
/** The version of a transcript that was begun last. */
export const newestTranscriptVersion = async (recordingId: string): Promise<Schemas['TranscriptVersion'] | null> => {
  const params = { path: { recordingId }, query: { limit: 1 } };
  return (await unwrap(api.GET('/api/recordings/{recordingId}/transcripts', { params }))).items[0] ?? null;
};
export const startImport = (meetingId: string, mimeType: Schemas['RecordingMimeType'], declaration: string | null): Promise<Schemas['Recording']> => {
  const body = { uploadMode: 'SINGLE_FILE' as const, mimeType, ...(declaration !== null && { consentAttestation: { text: declaration } }) };
  return unwrap(api.POST('/api/meetings/{meetingId}/recordings/start', { params: { path: { meetingId } }, body }));
};
export const deleteRecording = (recordingId: string) =>
  unwrap(api.DELETE('/api/recordings/{recordingId}', { params: { path: { recordingId } } }));

export const correctSegment = (recordingId: string, segmentIndex: number, body: Schemas['CorrectSegment']): Promise<Schemas['TranscriptSegment']> =>
  unwrap(api.PATCH('/api/recordings/{recordingId}/transcript/segments/{segmentIndex}', { params: { path: { recordingId, segmentIndex } }, body }));

export interface PlaybackLink {
  /** Path and query on this server. */
  url: string;
  expiresAt: string;
}

/** A link that an audio element plays, and a browser saves, without any header. */
export async function createPlaybackLink(recordingId: string): Promise<PlaybackLink> {
  const response = await authorizedFetch(new Request(addressOf(`/api/recordings/${recordingId}/playback-links`), { method: 'POST' }));
  const envelope = (await response.json().catch(() => undefined)) as { data: PlaybackLink } | Failure | undefined;
  if (response.ok && envelope) return envelope.data as PlaybackLink;
  throw ApiError.of(response, envelope as Failure | undefined);
}
