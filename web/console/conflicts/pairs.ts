// Pairs of requirements that may repeat or contradict each other: claims to be checked, and in what order they are.

import type { Schemas } from '$shared/api/client';
import { stringPositions } from '$shared/source/quotes';

export type Pair = Schemas['ItemPair'];
export type Requirement = Schemas['Requirement'];

export const FILTERS = ['open', 'CONFLICT', 'DUPLICATE', 'settled'] as const;
export type Filter = (typeof FILTERS)[number];

/** A pair has two requirements. */
export const bothOf = ({ items }: Pair): [Requirement, Requirement] => items as [Requirement, Requirement];

/** The codes of both, as sentences name them. */
export function codesOf(pair: Pair): { one: string; other: string } {
  const [one, other] = bothOf(pair);
  return { one: one.code, other: other.code };
}

/** Whether something that is to be reviewed may contradict, or repeat, what was approved. */
export function isAgainstApproved(pair: Pair): boolean {
  const statuses = bothOf(pair).map(({ workflowStatus }) => workflowStatus);
  return statuses.includes('APPROVED') && statuses.includes('NEEDS_REVIEW');
}

/** Which of both stays unless somebody chooses otherwise: the approved one, else the first. */
export function keptOf(pair: Pair): Requirement {
  const [one, other] = bothOf(pair);
  return one.workflowStatus !== 'APPROVED' && other.workflowStatus === 'APPROVED' ? other : one;
}

/** The one of both that is not this one. */
export function otherOf(pair: Pair, id: string): Requirement {
  const [one, other] = bothOf(pair);
  return one.id === id ? other : one;
}

const byCode = (one: Requirement, other: Requirement): number => one.code.localeCompare(other.code, 'en', { numeric: true });

/** What may contradict or repeat the approved first, then the stronger ones, the surer ones, and by codes. */
export function ordered(pairs: readonly Pair[]): Pair[] {
  const compare = (pair: Pair, next: Pair): number =>
    Number(isAgainstApproved(next)) - Number(isAgainstApproved(pair))
    || Number(pair.strength === 'LOW') - Number(next.strength === 'LOW')
    || next.confidence - pair.confidence
    || byCode(bothOf(pair)[0], bothOf(next)[0])
    || byCode(bothOf(pair)[1], bothOf(next)[1]);
  return [...pairs].sort(compare);
}

export interface Piece { text: string; isMarked: boolean }

/** A text in pieces, those at the spans marked; the spans are in Unicode scalar values, and may overlap or reach beyond the end. */
export function piecesOf(text: string, spans: readonly Schemas['TextSpan'][]): Piece[] {
  const position = stringPositions(text);
  const pieces: Piece[] = [];
  const add = (from: number, to: number, isMarked: boolean): void => {
    if (to > from) pieces.push({ text: text.slice(from, to), isMarked });
  };
  let at = 0;
  for (const { startOffset, endOffset } of [...spans].sort((span, next) => span.startOffset - next.startOffset)) {
    const [from, to] = [Math.max(at, position(startOffset)), Math.min(text.length, position(endOffset))];
    if (to <= from) continue;
    add(at, from, false);
    add(from, to, true);
    at = to;
  }
  add(at, text.length, false);
  return pieces;
}
