// Comments on an item: when they are read, and what is kept of one that is being written.
import { fireEvent, render, screen } from '@testing-library/svelte';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import Comments from '../console/results/Comments.svelte';
import { itemOf, type Item } from '../console/results/items';
import type { Results } from '../console/results/results.svelte';
import english from '../console/words/english';
import { startLanguage } from '../shared/words/text.svelte';

const item = itemOf({ kind: 'RISK', of: { id: 'r', code: 'RSK-1', title: 'Delay' } } as unknown as Parameters<typeof itemOf>[0]) as Item;
let details = $state.raw({ role: 'ANALYST' });
const heard = new Set<() => void>();
const project = {
  path: { projectId: 'p' }, isActive: true,
  get isAnalyst() { return details.role === 'ANALYST'; },
  on: (_: string[], wanted: () => void) => {
    heard.add(wanted);
    return () => heard.delete(wanted);
  },
};

let reads = 0;
let answer: (() => void) | null = null;
let comments: Map<string, string>;
beforeEach(async () => {
  await startLanguage(english, () => Promise.resolve({ default: {} }));
  [reads, comments, answer] = [0, new Map(), null];
  vi.stubGlobal('fetch', async (request: Request) => {
    if (request.method === 'POST') {
      await new Promise<void>((resolve) => { answer = resolve; });
      return Response.json({ isSuccess: true, data: { id: 'f', author: { name: 'Ada' }, comment: 'First', createdAt: '2026-11-01T00:00:00Z', status: 'OPEN', verdict: null, resolutionNote: null }, errors: [] });
    }
    reads += 1;
    return Response.json({ isSuccess: true, data: { items: [], nextCursor: null, totalCount: 0 }, errors: [] });
  });
  render(Comments, { results: { project, comments } as unknown as Results, item, onleave: () => undefined });
  await expect.poll(() => reads).toBe(1);
});
afterEach(() => { vi.unstubAllGlobals(); });
const past = (): Promise<void> => new Promise((resolve) => { setTimeout(resolve, 150); });

test('comments are read again when some of them changed, and not with each change of the project', async () => {
  details = { ...details };
  await past();
  expect(reads).toBe(1);
  for (const wanted of heard) wanted();
  await past();
  expect(reads).toBe(2);
});

test.each([['First', ''], ['First, and more', 'First, and more']])('of what was sent as First, and is %s by then, stays: %s', async (now, left) => {
  const field = screen.getByRole<HTMLTextAreaElement>('textbox');
  await fireEvent.input(field, { target: { value: 'First' } });
  await fireEvent.keyDown(field, { key: 'Enter', ctrlKey: true });
  await expect.poll(() => answer).not.toBeNull();
  await fireEvent.input(field, { target: { value: now } });
  answer?.();
  await screen.findByText('First', { selector: 'p' });
  expect([field.value, comments.get('r') ?? '']).toEqual([left, left]);
});
