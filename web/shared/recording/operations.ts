// The operations of recordings and transcripts that the pages use.

import { api, unwrap, type Schemas } from '../api/client';

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
/** A transcript of another program, as a file. */
export const attachTranscript = (meetingId: string, file: File, declaration: string | null): Promise<Schemas['Recording']> =>
  unwrap(api.POST('/api/meetings/{meetingId}/transcripts', {
    params: { path: { meetingId } },
    body: { file },
    bodySerializer: () => {
      const form = new FormData();
      form.set('file', file, file.name);
      if (declaration !== null) form.set('consentAttestation', declaration);
      return form;
    },
  }));
export const deleteRecording = (recordingId: string) =>
  unwrap(api.DELETE('/api/recordings/{recordingId}', { params: { path: { recordingId } } }));

export const correctSegment = (recordingId: string, segmentIndex: number, body: Schemas['CorrectSegment']): Promise<Schemas['TranscriptSegment']> =>
  unwrap(api.PATCH('/api/recordings/{recordingId}/transcript/segments/{segmentIndex}', { params: { path: { recordingId, segmentIndex } }, body }));

/** A link that an audio element plays, and a browser saves, without any header: path and query on this server. */
export const createPlaybackLink = (recordingId: string): Promise<Schemas['PlaybackLink']> =>
  unwrap(api.POST('/api/recordings/{recordingId}/playback-links', { params: { path: { recordingId } } }));
