// What changed between two versions of a document, in entries: a sentence that was changed is one of two sides.

import type { Schemas } from '$shared/api/client';
import { stringPositions } from '$shared/source/quotes';

type Span = Schemas['DocumentComparison']['spans'][number];

export interface Change {
  kind: Span['change'];
  /** What stood there; empty where nothing did. */
  before: string;
  /** What stands there now; empty where nothing does. */
  after: string;
  /** Where it stands in the later text, in scalar values. */
  at: Schemas['TextSpan'];
}

export function changesOf({ spans }: Schemas['DocumentComparison'], former: string, later: string): Change[] {
  const [before, after] = [stringPositions(former), stringPositions(later)];
  const of = (text: string, position: (offset: number) => number, { startOffset, endOffset }: Schemas['TextSpan']): string =>
    text.slice(position(startOffset), position(endOffset));
  const changes: Change[] = [];
  for (const { change: kind, former: from, later: to } of spans) {
    const last = changes.at(-1);
    const isReplaced = kind === 'ADDED' && last?.kind === 'REMOVED' && last.after === '' && last.at.startOffset === to.startOffset;
    if (isReplaced) Object.assign(last, { after: of(later, after, to), at: to });
    else changes.push({ kind, before: kind === 'REMOVED' ? of(former, before, from) : '', after: of(later, after, to), at: to });
  }
  return changes;
}
