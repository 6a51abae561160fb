// Recordings and transcripts as files.

import { readFile, saveFile } from '../download';
import type { Recording } from './meeting';
import { readTranscript } from './operations';

/** More than this is not held in memory. */
export const MOST_BYTES = 200 * 1024 * 1024;

/** The formats of a transcript, each with the ending of its files. */
export const TRANSCRIPT_FORMATS = { VTT: 'vtt', SRT: 'srt', TEXT: 'txt', JSON: 'json' } as const;
export type TranscriptFormat = keyof typeof TRANSCRIPT_FORMATS;

/** The endings that are not the second half of the media type. */
const ENDINGS: Partial<Record<Recording['mimeType'], string>> = { 'audio/mpeg': 'mp3', 'audio/mp4': 'm4a', 'application/x-subrip': 'srt' };

export async function downloadRecording({ id, mimeType }: Recording, title: string): Promise<void> {
  const content = await readFile(`/api/recordings/${id}/content`);
  save(content, title, 'recording', ENDINGS[mimeType] ?? mimeType.split('/')[1] ?? 'webm');
}

export async function downloadTranscript(recordingId: string, format: TranscriptFormat, title: string): Promise<void> {
  // Of JSON the transcript itself, without the envelope of the answer.
  const content = format === 'JSON'
    ? new Blob([JSON.stringify(await readTranscript(recordingId), null, 2)], { type: 'application/json' })
    : await readFile(`/api/recordings/${recordingId}/transcript?format=${format}`);
  save(content, title, 'transcript', TRANSCRIPT_FORMATS[format]);
}

export function save(content: Blob, title: string, otherwise: string, ending: string): void {
  saveFile(content, `${title.replace(/[\\/:*?"<>|]/g, ' ').trim() || otherwise}.${ending}`);
}
