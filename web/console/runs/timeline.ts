// The steps of an analysis and when each began, from the events of its run.

import type { Schemas } from '$shared/api/client';

export type Run = Schemas['AiAnalysisRun'];

/** The steps that are shown, in their order. */
export const NODES = [
  'prepare_sources', 'transcribe_recordings', 'build_source_index', 'extract_requirements', 'classify_requirements',
  'evidence_grounding', 'generate_user_stories', 'quality_checks', 'summarize', 'finalize',
] as const;
export type NodeName = (typeof NODES)[number];
export type StepState = 'waiting' | 'current' | 'done' | 'failed' | 'skipped';
export interface Step { node: NodeName; state: StepState; tookMs: number | null }

export const isUnderWay = ({ status }: Pick<Run, 'status'>): boolean => status === 'QUEUED' || status === 'PROCESSING';
export const canRetry = ({ status }: Pick<Run, 'status'>): boolean => status === 'FAILED' || status === 'CANCELLED' || status === 'PARTIAL';
export const isSuccessful = ({ status }: Pick<Run, 'status'>): boolean => status === 'COMPLETED' || status === 'PARTIAL';

/** When each step of one attempt began, in milliseconds since the epoch, by its name. */
export type Beginnings = ReadonlyMap<string, number>;

/** With what a state of the run tells; `attempt` is the one that is shown. */
export function withState(known: Beginnings, run: Run, attempt: number): Beginnings {
  const at = Date.parse(run.updatedAt);
  const before = known.get(run.currentNode);
  // Progress within a step tells of the step again: the first time counts.
  if (run.attempt !== attempt || Number.isNaN(at) || (before !== undefined && before <= at)) return known;
  return new Map(known).set(run.currentNode, at);
}

/** Each step with its state, and how long it took where both its beginning and its end are known. */
export function stepsOf(run: Run, beginnings: Beginnings, now: number): Step[] {
  const last = run.completedAt === null ? now : Date.parse(run.completedAt);
  const reached = lastReached(run, beginnings);
  return NODES.map((node, index) => {
    const state = stateOf(run, index, reached);
    const began = beginnings.get(node);
    const ended = NODES.slice(index + 1).map((next) => beginnings.get(next)).find((at) => at !== undefined) ?? last;
    const hasTime = began !== undefined && state !== 'waiting' && state !== 'skipped';
    return { node, state, tookMs: hasTime ? Math.max(0, ended - began) : null };
  });
}

/** The index of the step that the run is in, or was in when it ended; −1 before the first. */
function lastReached(run: Run, beginnings: Beginnings): number {
  const named = NODES.indexOf(run.currentNode as NodeName);
  if (named >= 0) return named;
  if (run.currentNode === 'done') return NODES.length;
  return NODES.findLastIndex((node) => beginnings.has(node));
}

function stateOf(run: Run, index: number, reached: number): StepState {
  if (isSuccessful(run)) return 'done';
  if (index < reached) return 'done';
  if (isUnderWay(run)) return index === reached && run.status === 'PROCESSING' ? 'current' : 'waiting';
  if (index > reached) return 'skipped';
  return run.status === 'CANCELLED' ? 'skipped' : 'failed';
}
