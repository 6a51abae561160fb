// What changed between two versions of a document.
import { expect, test } from 'vitest';
import { changesOf } from '../../console/documents/changes';
import type { Schemas } from '../../shared/api/client';

type Comparison = Schemas['DocumentComparison'];
const span = (startOffset: number, endOffset: number): Schemas['TextSpan'] => ({ startOffset, endOffset });

test('a sentence that was changed is one entry, also behind letters of two units', () => {
  const [former, later] = ['😀 Scope. Two seconds. Grey.', '😀 Scope. Five seconds. New.'];
  const spans: Comparison['spans'] = [
    { change: 'REMOVED', former: span(9, 27), later: span(9, 9) },
    { change: 'ADDED', former: span(27, 27), later: span(9, 22) },
    { change: 'ADDED', former: span(27, 27), later: span(23, 27) },
  ];
  const comparison: Comparison = { documentId: 'd', version: 2, formerVersion: 1, spans };
  expect(changesOf(comparison, former, later)).toEqual([
    { kind: 'REMOVED', before: 'Two seconds. Grey.', after: 'Five seconds.', at: span(9, 22) },
    { kind: 'ADDED', before: '', after: 'New.', at: span(23, 27) },
  ]);
});

test('what moved and what was removed are entries of their own', () => {
  const spans: Comparison['spans'] = [
    { change: 'MOVED', former: span(5, 9), later: span(0, 4) },
    { change: 'REMOVED', former: span(0, 4), later: span(4, 4) },
  ];
  const comparison: Comparison = { documentId: 'd', version: 2, formerVersion: 1, spans };
  expect(changesOf(comparison, 'One. Two.', 'Two.').map(({ kind, before, after }) => [kind, before, after])).toEqual([['MOVED', '', 'Two.'], ['REMOVED', 'One.', '']]);
});
