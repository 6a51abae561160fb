// The steps of an analysis with their states and times.
import { afterEach, expect, test, vi } from 'vitest';
import { readEvents } from '../../console/runs/events';
import { stepsOf, withState, type Beginnings, type Run } from '../../console/runs/timeline';

const at = (second: number): string => new Date(Date.UTC(2026, 10, 24, 10, 0, second)).toISOString();
const run = (status: Run['status'], currentNode: string, second: number, more: Partial<Run> = {}): Run =>
  ({ id: 'r', status, currentNode, updatedAt: at(second), completedAt: null, attempt: 1, eventsUrl: '/api/events', ...more }) as Run;
const begun = (...states: Run[]): Beginnings => states.reduce<Beginnings>((known, state) => withState(known, state, 1), new Map());
const now = Date.parse(at(9));
const shown = (last: Run, beginnings: Beginnings): string[] => stepsOf(last, beginnings, now).map(({ node, state, tookMs }) => `${node} ${state} ${tookMs}`);

test('a step under way counts on, those before it have their times, and those after it wait', () => {
  const last = run('PROCESSING', 'build_source_index', 4);
  const steps = shown(last, begun(run('PROCESSING', 'prepare_sources', 1), run('PROCESSING', 'transcribe_recordings', 3), last));
  expect(steps.slice(0, 4)).toEqual(['prepare_sources done 2000', 'transcribe_recordings done 1000', 'build_source_index current 5000', 'extract_requirements waiting null']);
});

test('progress within a step does not begin it anew', () => {
  const beginnings = begun(run('PROCESSING', 'prepare_sources', 1), run('PROCESSING', 'prepare_sources', 2), run('PROCESSING', 'prepare_sources', 8));
  expect(beginnings.get('prepare_sources')).toBe(Date.parse(at(1)));
});

test('a step whose beginning nobody told has no time, and none of another attempt', () => {
  const last = run('PROCESSING', 'build_source_index', 4);
  expect(shown(last, begun(run('PROCESSING', 'prepare_sources', 1, { attempt: 2 }), last)).slice(0, 3)).toEqual(['prepare_sources done null', 'transcribe_recordings done null', 'build_source_index current 5000']);
});

test('a failed run shows where it failed; what came after was not reached', () => {
  const last = run('FAILED', 'transcribe_recordings', 6, { completedAt: at(6) });
  const steps = shown(last, begun(run('PROCESSING', 'prepare_sources', 1), run('PROCESSING', 'transcribe_recordings', 3), last));
  expect(steps.slice(0, 3)).toEqual(['prepare_sources done 2000', 'transcribe_recordings failed 3000', 'build_source_index skipped null']);
});

test('every step of a completed run is done', () => {
  const states = stepsOf(run('COMPLETED', 'done', 8, { completedAt: at(8) }), new Map(), now).map(({ state }) => state);
  expect(new Set(states)).toEqual(new Set(['done']));
});

afterEach(() => { vi.unstubAllGlobals(); });

test('events are read over the end of an attempt, up to the newest state, in whatever pieces they come', async () => {
  const states = [run('FAILED', 'finalize', 2), run('QUEUED', 'queued', 3, { attempt: 2 }), run('PROCESSING', 'finalize', 5, { attempt: 2 })];
  const record = (id: number): string => `id: ${id}\nevent: run.progressed\ndata: ${JSON.stringify(states[id - 1])}\n\n`;
  const streams = new Map([['0', [record(1).slice(0, 20), record(1).slice(20)]], ['1', [`: still here\n\n${record(2)}${record(3)}`]]]);
  const asked: string[] = [];
  vi.stubGlobal('fetch', (request: Request) => {
    const after = request.headers.get('Last-Event-ID') ?? '';
    asked.push(after);
    const encoder = new TextEncoder();
    return Promise.resolve(new Response(new ReadableStream({
      start(stream) {
        for (const piece of streams.get(after) ?? []) stream.enqueue(encoder.encode(piece));
        stream.close();
      },
    })));
  });
  const seen: string[] = [];
  const newest = states[2];
  if (newest) await readEvents(newest, ({ status, attempt }) => seen.push(`${status} ${attempt}`));
  expect(seen).toEqual(['FAILED 1', 'QUEUED 2', 'PROCESSING 2']);
  expect(asked).toEqual(['0', '1']);
});
