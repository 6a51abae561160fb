// Decisions about items: an edit whose answer comes when another item is open already, and what of many is undone.
import { fireEvent, render, screen } from '@testing-library/svelte';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Project } from '../console/project/project.svelte';
import Decide from '../console/results/Decide.svelte';
import { Decisions } from '../console/results/decisions.svelte';
import { itemOf, type Reviewed } from '../console/results/items';
import ItemPane from '../console/results/ItemPane.svelte';
import { Results } from '../console/results/results.svelte';
import english from '../console/words/english';
import { startLanguage } from '../shared/words/text.svelte';
import { toasts } from '../shared/ui/toasts.svelte';

const requirement = (id: string, more: object = {}): Reviewed => itemOf({
  kind: 'REQUIREMENT',
  of: {
    id, code: id.toUpperCase(), title: id, statement: `The portal shall ${id}.`, type: 'FUNCTIONAL', category: null, priority: 'HIGH', workflowStatus: 'NEEDS_REVIEW',
    confidence: 1, qualityIssues: [], sources: [], duplicateOf: null, conflictsWith: [], version: 1, revisionSource: 'AI_GENERATED', suspect: false, runId: 'run',
    createdAt: '2026-11-01T00:00:00Z', updatedAt: '2026-11-01T00:00:00Z', pattern: null, original: null, deferredUntil: null, ...more,
  },
} as unknown as Parameters<typeof itemOf>[0]) as Reviewed;
const project = { id: 'p', path: { projectId: 'p' }, canWork: true, isActive: true, isAnalyst: true, details: { signedApprovals: false }, on: () => () => undefined } as unknown as Project;
const settled = (): Promise<void> => new Promise((resolve) => { setTimeout(resolve, 5); });

/** Any list, and what the newest run found. */
const nothing = { items: [], nextCursor: null, totalCount: 0, risks: [], openQuestions: [], actionItems: [], decisions: [] };

let answer: (response: Response) => Promise<void>;
let results: Results;
const onleave = vi.fn();

beforeEach(async () => {
  await startLanguage(english, () => Promise.resolve({ default: {} }));
  onleave.mockClear();
  vi.stubGlobal('fetch', (request: Request) => (request.method === 'PATCH'
    ? new Promise<Response>((resolve) => { answer = (response) => { resolve(response); return settled(); }; })
    : Promise.resolve(Response.json({ isSuccess: true, data: nothing, errors: [] }))));
  results = new Results(project);
  for (const id of ['second', 'first']) results.put(requirement(id));
});
afterEach(() => {
  for (const id of ['first', 'second']) results.drafts.end(id);
  toasts.length = 0;
  // The server stays: what was refused is read again a moment later.
});

const propsOf = (item: Reviewed) => ({
  results, decisions: new Decisions(results), item, hrefOf: (id: string) => id, onleave,
  onfollow: () => undefined, onapprove: () => undefined, onreopen: () => undefined, onask: () => undefined,
});

/** Both items are edited; the first one is on its way to the server. */
async function savesTheFirst() {
  const [first, second] = [results.find('first') as Reviewed, results.find('second') as Reviewed];
  results.drafts.begin(second);
  results.drafts.begin(first);
  results.chosen = 'first';
  const { rerender, unmount } = render(ItemPane, propsOf(first));
  const field = screen.getByLabelText<HTMLTextAreaElement>('Statement');
  await fireEvent.input(field, { target: { value: 'The portal shall wait.' } });
  await fireEvent.keyDown(field, { key: 'Enter', ctrlKey: true });
  await settled();
  const open = async (item: Reviewed): Promise<void> => {
    results.chosen = item.id;
    await rerender(propsOf(item));
  };
  return { first, second, open, unmount };
}
const saved = (): Response => Response.json({ isSuccess: true, data: requirement('first', { version: 2, statement: 'The portal shall wait.' }).of, errors: [] });

test('the edit of an item that is open no more ends, and the one that is open now goes on', async () => {
  const { second, open } = await savesTheFirst();
  await open(second);
  await answer(saved());
  expect([results.drafts.has('first'), results.drafts.has('second')]).toEqual([false, true]);
  expect(onleave).not.toHaveBeenCalled();
});

test('the edit of the open item ends, and the focus goes on', async () => {
  await savesTheFirst();
  await answer(saved());
  expect([results.drafts.has('first'), results.drafts.has('second')]).toEqual([false, true]);
  expect(onleave).toHaveBeenCalledTimes(1);
});

test('an edit that is refused when another item is open is said, and kept', async () => {
  const { second, open } = await savesTheFirst();
  await open(second);
  await answer(Response.json({ isSuccess: false, data: null, errors: [{ code: 'PreconditionFailed', message: 'changed', field: null, reason: null }] }, { status: 412 }));
  expect(results.drafts.has('first')).toBe(true);
  expect(toasts.map(({ text }) => text)).toEqual([expect.stringContaining('FIRST')]);
});

test('an edit that is refused when the results are shown no more is said, and kept', async () => {
  const { unmount } = await savesTheFirst();
  unmount();
  await answer(Response.json({ isSuccess: false, data: null, errors: [{ code: 'PreconditionFailed', message: 'changed', field: null, reason: null }] }, { status: 412 }));
  expect(results.drafts.has('first')).toBe(true);
  expect(toasts.map(({ text }) => text)).toEqual([expect.stringContaining('FIRST')]);
});

/** Decides about both items, and undoes it: the server refuses those in `refused` then. */
async function undoesBoth(refused: readonly string[]) {
  const decisions = new Decisions(results);
  const sent: { workflowStatus: string; items: { id: string }[] }[] = [];
  const elsewhere = fetch;
  vi.stubGlobal('fetch', async (request: Request) => {
    if (request.method !== 'POST') return elsewhere(request);
    const body = (await request.json()) as (typeof sent)[number];
    sent.push(body);
    const items = body.items.map(({ id }) => ({ id, ok: sent.length === 1 || !refused.includes(id) }));
    return Response.json({ isSuccess: true, data: { items }, errors: [] });
  });
  await decisions.decideAll([results.find('first') as Reviewed, results.find('second') as Reviewed], { decision: 'APPROVED' });
  await decisions.undo();
  expect(sent.map(({ workflowStatus, items }) => [workflowStatus, items.length])).toEqual([['APPROVED', 2], ['NEEDS_REVIEW', 2]]);
  return toasts.map(({ kind, text }) => `${kind}: ${text}`);
}

test('many are undone', async () => {
  expect(await undoesBoth([])).toEqual(['news: 2 items need a review again']);
});

test('of many, those that were changed meanwhile are said not to be undone', async () => {
  expect(await undoesBoth(['second'])).toEqual(['fault: 1 item was not changed: somebody else changed it meanwhile', 'news: 1 item needs a review again']);
});

test('where none of many is undone, none is said to be', async () => {
  expect(await undoesBoth(['first', 'second'])).toEqual(['fault: 2 items were not changed: somebody else changed them meanwhile']);
});

/** Many items, all of them selected, and a server that answers each call about them with what `answers` gives for its number, from 1. */
function many(count: number, answers: (call: number) => Response | null) {
  const items = Array.from({ length: count }, (_, index) => requirement(`m${index}`, index % 3 === 0 ? { conflictsWith: ['m1'] } : {}));
  for (const item of items) results.put(item);
  for (const { id } of items) results.marked.add(id);
  const calls: number[] = [];
  const elsewhere = fetch;
  vi.stubGlobal('fetch', async (request: Request) => {
    if (request.method !== 'POST') return elsewhere(request);
    const body = (await request.json()) as { items: { id: string }[] };
    calls.push(body.items.length);
    await settled();
    return answers(calls.length) ?? Response.json({ isSuccess: true, data: { items: body.items.map(({ id }) => ({ id, ok: true })) }, errors: [] });
  });
  return { items, calls, decisions: new Decisions(results) };
}
const failed = (status: number, code: string): Response =>
  Response.json({ isSuccess: false, data: null, errors: [{ code, message: code, field: null, reason: null }] }, { status });
const said = (): string[] => toasts.map(({ kind, text }) => `${kind}: ${text.replace(/[\u2068\u2069]/g, '')}`);

test('a change of many says how far it is', async () => {
  const { items, decisions } = many(450, () => null);
  const seen: string[] = [];
  const done = decisions.decideAll(items, { decision: 'APPROVED' });
  while (decisions.bulk) {
    const words = `${decisions.bulk.done} of ${decisions.bulk.total}`;
    if (seen.at(-1) !== words) seen.push(words);
    await new Promise((resolve) => { setTimeout(resolve, 1); });
  }
  await done;
  expect([seen, said(), results.marked.size]).toEqual([['0 of 450', '200 of 450', '400 of 450'], ['news: 450 items are approved'], 0]);
});

test('a change of many is stopped between two calls; what was not sent stays selected, and what was can be undone', async () => {
  const { items, calls, decisions } = many(450, (call) => { if (call === 2) decisions.stop(); return null; });
  await decisions.decideAll(items, { decision: 'APPROVED' });
  expect([calls, said(), results.marked.size]).toEqual([[200, 200], ['news: Stopped: 50 items stay as they were', 'news: 400 items are approved'], 50]);
  expect(decisions.canUndo).toBe(true);
});

test('a part that fails does not keep the others from being sent, and stays selected', async () => {
  const { items, calls, decisions } = many(450, (call) => (call === 2 ? failed(503, 'ServiceUnavailable') : null));
  await decisions.decideAll(items, { decision: 'APPROVED' });
  expect([calls, said(), results.marked.size]).toEqual([
    [200, 200, 50], [expect.stringMatching(/^fault: 200 items were not changed, and are still selected\. /), 'news: 250 items are approved'], 200,
  ]);
});

test('what is refused for all of them is asked for once, and a server that takes nothing twice', async () => {
  const refused = many(450, () => failed(403, 'Forbidden'));
  await expect(refused.decisions.decideAll(refused.items, { decision: 'APPROVED' })).rejects.toMatchObject({ status: 403 });
  const busy = many(650, () => failed(503, 'ServiceUnavailable'));
  await expect(busy.decisions.decideAll(busy.items, { decision: 'APPROVED' })).rejects.toMatchObject({ status: 503 });
  expect([refused.calls, busy.calls, said()]).toEqual([[200], [200, 200], []]);
});

test('before many are approved, it is said how many may contradict others', () => {
  HTMLDialogElement.prototype.showModal ??= () => undefined;
  const { items, decisions } = many(9, () => null);
  const props = { decisions, items, onclose: () => undefined, onsettle: () => Promise.resolve(true) };
  const { unmount } = render(Decide, { ...props, decision: 'APPROVED' });
  expect(screen.getByText('3 of them may contradict other requirements; that stays to be settled')).toBeTruthy();
  unmount();
  render(Decide, { ...props, decision: 'DEFERRED' });
  expect(screen.queryByText(/contradict/)).toBeNull();
});

test('confidence is said in words, and a finding names its word', () => {
  const qualityIssues = [{ code: 'VAGUE_WORD', message: '"suitable" can be read in more than one way.' }, { code: 'TOO_LONG', message: 'It has more than 40 words.' }];
  results.put(requirement('vague', { confidence: 0.6, qualityIssues }));
  render(ItemPane, propsOf(results.find('vague') as Reviewed));
  expect(screen.getByTitle('How often findings like this one are right').textContent).toBe('Confidence: Medium');
  const findings = screen.getByRole('list', { name: 'Findings' });
  expect(findings.textContent.replace(/[\u2068\u2069]/g, '')).toMatch(/“suitable” can be read in more than one way\.\s*It is too long/);
});

test('a requirement says which others it may repeat or contradict, and leads to the pair', () => {
  results.put(requirement('third', { duplicateOf: 'second', conflictsWith: ['first'] }));
  render(ItemPane, propsOf(results.find('third') as Reviewed));
  const links = ['SECOND', 'FIRST'].map((code) => screen.getByRole('link', { name: code }));
  expect(links.map((link) => `${link.parentElement?.firstElementChild?.textContent} ${link.getAttribute('href')}`)).toEqual([
    'May repeat /projects/p/conflicts?pair=THIRD,SECOND', 'May contradict /projects/p/conflicts?pair=THIRD,FIRST',
  ]);
});
