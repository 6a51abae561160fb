// Corrections of transcripts: what somebody is writing, until it is saved. The drafts belong to the page, so that neither a
// transcript that is read again nor a log-in that comes between loses what was typed.

import { SvelteMap } from 'svelte/reactivity';
import type { Schemas } from '../api/client';
import type { Participant } from './meeting';
import type { Transcript, TranscriptSegment } from './transcript.svelte';

type Speaker = TranscriptSegment['speaker'];
/** A speaker as the value of an option. */
export type SpeakerKey = `participant:${string}` | `name:${string}` | 'other';

/** What is being written about one segment. Null: that part is as the transcript has it. */
export class Draft {
  text = $state<string | null>(null);
  speaker = $state<SpeakerKey | null>(null);
  /** The name, where the speaker is `other`. */
  name = $state('');
  everywhere = $state(false);
  /** Whether it was opened just now, and is to have the focus. */
  isNew = true;
  /** What the segment said when its text was first changed here. */
  #before: string | null = null;

  constructor(readonly version: number, readonly segment: TranscriptSegment) {}

  write(text: string, current: TranscriptSegment): void {
    this.#before ??= current.text;
    this.text = text;
  }

  /** Whether somebody else changed the text after it was changed here. */
  isOvertaken(current: TranscriptSegment): boolean {
    return this.text !== null && current.text !== this.#before && current.text !== this.text.trim();
  }
}

export type Incomplete = 'transcript.textRequired' | 'transcript.nameRequired';

/** What to ask for, and null for nothing; or what is missing. */
export function correctionOf(draft: Draft, current: TranscriptSegment): Schemas['CorrectSegment'] | Incomplete | null {
  const text = draft.text?.trim() ?? current.text;
  if (text === '') return 'transcript.textRequired';
  const key = draft.speaker ?? keyOf(current.speaker);
  const name = draft.name.trim();
  if (key === 'other' && name === '') return 'transcript.nameRequired';
  const correction: Schemas['CorrectSegment'] = {};
  if (text !== current.text) correction.text = text;
  if (key !== keyOf(current.speaker)) {
    const [kind, value] = key === 'other' ? ['name', name] : split(key);
    const speaker = kind === 'participant' ? { participantId: value } : { name: value };
    correction.speaker = { ...speaker, everywhere: draft.everywhere };
  }
  return Object.keys(correction).length > 0 ? { ...correction, version: draft.version } : null;
}

const split = (key: string): [string, string] => [key.slice(0, key.indexOf(':')), key.slice(key.indexOf(':') + 1)];

export const keyOf = ({ participantId, name }: Speaker): SpeakerKey =>
  participantId === null ? `name:${name}` : `participant:${participantId}`;

/** Who may have said it: the participants, and whoever else is named in the transcript. */
export function speakersOf(segments: readonly TranscriptSegment[], participants: Iterable<Participant>): Map<SpeakerKey, Speaker> {
  const people = [...participants].map(({ id, displayName }) => ({ participantId: id, name: displayName }));
  const speakers = [...people, ...segments.map(({ speaker }) => speaker)];
  const found = new Map<SpeakerKey, Speaker>();
  for (const speaker of speakers) if (!found.has(keyOf(speaker))) found.set(keyOf(speaker), speaker);
  return found;
}

const address = (version: number, { recordingId, index }: TranscriptSegment): string => `${recordingId} ${version} ${index}`;

export class Corrections {
  readonly #drafts = new SvelteMap<string, Draft>();
  /** How often each transcript has changed, as far as the meeting told. */
  readonly #changes = new SvelteMap<string, number>();
  /** How often any of them may have, because something was missed. */
  #missed = $state(0);

  constructor() {
    addEventListener('beforeunload', (event) => {
      if ([...this.#drafts.values()].some(({ text }) => text !== null)) event.preventDefault();
    });
  }

  draft(version: number, segment: TranscriptSegment): Draft | undefined {
    return this.#drafts.get(address(version, segment));
  }

  begin(version: number, segment: TranscriptSegment): void {
    this.#drafts.set(address(version, segment), new Draft(version, segment));
  }

  end({ version, segment }: Draft): void {
    this.#drafts.delete(address(version, segment));
  }

  /** Those that were written for another version of a transcript: the segments are others. */
  leftOver({ recordingId, version }: Transcript): Draft[] {
    return [...this.#drafts.values()].filter((draft) =>
      draft.segment.recordingId === recordingId && draft.text !== null && draft.version !== version);
  }

  clear(): void { this.#drafts.clear(); }

  /** Rises with each change of a transcript. */
  changesOf(recordingId: string): number { return this.#missed + (this.#changes.get(recordingId) ?? 0); }
  changed(recordingId: string): void { this.#changes.set(recordingId, (this.#changes.get(recordingId) ?? 0) + 1); }
  missedChanges(): void { this.#missed += 1; }
}
