// What the parts of recordings need of the page that they stand in.

import type { Corrections } from './corrections.svelte';
import type { RecordingImport } from './import.svelte';
import type { MeetingState } from './meeting';

export interface RecordingPage {
  readonly meeting: MeetingState | null;
  /** The meeting's. */
  readonly title: string | null;
  readonly corrections: Corrections;
  readonly mayCorrect: boolean;
  readonly importing: RecordingImport;
  /** A call was refused because the access has ended. */
  turnedAway(error: unknown): void;
}
