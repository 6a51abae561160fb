// Pairs of requirements that may repeat or contradict each other.

import type { Schemas } from '$shared/api/client';

export type Requirement = Schemas['Requirement'];
export type PairKind = 'CONFLICT' | 'DUPLICATE';
export interface Pair {
  /** The ids of both. */
  id: string;
  kind: PairKind;
  /** Of a duplicate, the one that it repeats; else the one that came first. */
  one: Requirement;
  other: Requirement;
  /** Why the analysis holds them for a contradiction. */
  reason: string | null;
  isSettled: boolean;
}

/** A pair is settled when one of the two was rejected, or both were approved beside each other. */
const settled = (one: Requirement, other: Requirement): boolean =>
  one.workflowStatus === 'REJECTED' || other.workflowStatus === 'REJECTED' || (one.workflowStatus === 'APPROVED' && other.workflowStatus === 'APPROVED');

/** Each pair once, by the codes of its requirements; who contradict each other and repeat each other contradict. */
export function pairsOf(requirements: readonly Requirement[]): Pair[] {
  const known = new Map(requirements.map((requirement) => [requirement.id, requirement]));
  const pairs = new Map<string, Pair>();
  const note = (kind: PairKind, one: Requirement, other: Requirement): void => {
    const id = [one.id, other.id].sort().join();
    if (pairs.has(id)) return;
    const quoted = `“${other.title}”`;
    const issue = kind === 'CONFLICT' ? one.qualityIssues.find(({ code, message }) => code === 'CONFLICT' && message.includes(quoted)) : undefined;
    pairs.set(id, { id, kind, one, other, reason: issue?.message.split(`${quoted}. `)[1] ?? null, isSettled: settled(one, other) });
  };
  const byCode = [...requirements].sort((one, other) => one.code.localeCompare(other.code, 'en', { numeric: true }));
  for (const one of byCode) {
    for (const id of one.conflictsWith) {
      const other = known.get(id);
      if (other && other !== one) note('CONFLICT', one, other);
    }
  }
  for (const other of byCode) {
    const one = other.duplicateOf ? known.get(other.duplicateOf) : undefined;
    if (one && one !== other) note('DUPLICATE', one, other);
  }
  return [...pairs.values()];
}
