// The transcript of a recording: read once it is ready; until then, how far it is, or why there is none.

import { ApiError, type Schemas } from '../api/client';
import { explain } from '../words/errors';
import { t } from '../words/text.svelte';
import { newestTranscriptVersion, readTranscript } from './operations';
import type { Recording } from './meeting';

export type Transcript = Schemas['Transcript'];
export type TranscriptVersion = Schemas['TranscriptVersion'];
export type TranscriptSegment = Schemas['TranscriptSegment'];

/** Each change of the status comes as an event; how far it is does not. */
const POLL_MS = 5_000;
/** Less sure than this, a segment is marked as uncertain. */
const UNCERTAIN_BELOW = 0.5;

export const isUncertain = ({ confidence, correctedAt }: TranscriptSegment): boolean =>
  confidence < UNCERTAIN_BELOW && correctedAt === null;

/** Whom nobody named is called by a number, in the reader's language. */
export function speakerName({ participantId, name }: TranscriptSegment['speaker']): string {
  const number = participantId === null ? name.match(/^Speaker (\d+)$/)?.[1] : undefined;
  return number ? t('transcript.speaker', { number }) : name;
}

/** The speaker of a quote, of whom the name alone is told. */
export const quotedSpeakerName = (name: string): string => speakerName({ participantId: null, name });

export class RecordingTranscript {
  transcript = $state.raw<Transcript | null>(null);
  /** The version that is being made or failed. */
  version = $state.raw<TranscriptVersion | null>(null);
  fault = $state('');

  /** Reads what the status promises, or an earlier version, again and again while it may change without an event. Gives what ends it. */
  follow(recordingId: string, status: Recording['transcriptStatus'], version: number | null = null): () => void {
    const ended = new AbortController();
    if (status !== 'NONE') void this.#read(recordingId, status, version, ended.signal);
    return () => ended.abort();
  }

  /** Shows a segment as it was corrected. */
  readonly replace = (segment: TranscriptSegment): void => {
    if (!this.transcript) return;
    const segments = this.transcript.segments.map((one) => (one.index === segment.index ? segment : one));
    this.transcript = { ...this.transcript, segments };
  };

  async #read(recordingId: string, status: Recording['transcriptStatus'], version: number | null, ended: AbortSignal): Promise<void> {
    while (!ended.aborted) {
      let passes = false;
      try {
        const transcript = status === 'READY' || version !== null ? await readTranscript(recordingId, version) : null;
        const underWay = transcript ? null : await newestTranscriptVersion(recordingId);
        if (ended.aborted) return;
        [this.transcript, this.version, this.fault] = [transcript, underWay, ''];
      } catch (error) {
        if (ended.aborted) return;
        if (!(error instanceof ApiError)) throw error;
        passes = error.passes;
        this.fault = explain(error);
        // What may not be read any more is not shown any more.
        if (!passes) this.transcript = null;
      }
      const isUnderWay = status === 'QUEUED' || status === 'PROCESSING';
      if (!isUnderWay && !passes) return;
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  }
}
