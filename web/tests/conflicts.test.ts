// The pairs of a project: listed, settled by keys and by buttons, one and many, and taken back.
import { cleanup, fireEvent, render, screen } from '@testing-library/svelte';
import { tick } from 'svelte';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import Conflicts from '../console/conflicts/Conflicts.svelte';
import type { Project } from '../console/project/project.svelte';
import { goTo } from '../console/route.svelte';
import english from '../console/words/english';
import { toasts } from '../shared/ui/toasts.svelte';
import { startLanguage } from '../shared/words/text.svelte';
import { PairServer, pairOf } from './pairs';

type Wanted = (event: { event: string; data: object } | null) => void;
let tell: Wanted;
const project = (canWork = true): Project => ({
  id: 'p', path: { projectId: 'p' }, canWork, details: { name: 'Clinic' }, on: (_: readonly string[], wanted: Wanted) => { tell = wanted; return () => undefined; },
} as unknown as Project);

beforeEach(async () => {
  await startLanguage(english, () => Promise.resolve({ default: {} }));
  goTo('/projects/p/conflicts');
});
afterEach(() => {
  cleanup();
  vi.useRealTimers();
  toasts.length = 0;
});

const rows = (): string[] => screen.queryAllByRole('option').map((row) => row.querySelector('.code')?.textContent ?? '');
const said = (): string[] => toasts.map(({ kind, text }) => `${kind}: ${text.replace(/[\u2068\u2069]/g, '')}`);
const press = (key: string): Promise<unknown> => fireEvent.keyDown(document.body, { key });
const looksAt = (): string => screen.getByRole('heading', { level: 2 }).textContent.replace(/[\u2068\u2069]/g, '');

async function shows(server: PairServer, { canWork = true } = {}): Promise<void> {
  vi.stubGlobal('fetch', server.fetch);
  render(Conflicts, { project: project(canWork) });
  await expect.poll(() => rows().length + screen.queryAllByText(/All pairs are settled|No possible/).length).toBeGreaterThan(0);
}
const three = (): PairServer => new PairServer([
  pairOf('1', '2', { confidence: 0.95 }),
  pairOf('3', '4', { confidence: 0.8, kind: 'DUPLICATE' }, ['NEEDS_REVIEW', 'APPROVED']),
  pairOf('5', '6', { confidence: 0.85 }),
]);

test('the strong ones that are open are listed, with what is against the approved first and named', async () => {
  const server = three();
  server.pairs.push(pairOf('7', '8', { strength: 'LOW', confidence: 0.6 }), pairOf('1', '9', { status: 'SETTLED', settlement: 'NOT_ONE' }));
  await shows(server);
  expect(rows()).toEqual(['REQ-3 · REQ-4', 'REQ-1 · REQ-2', 'REQ-5 · REQ-6']);
  expect(screen.getByText('1 with an approved requirement')).toBeTruthy();
  expect(screen.getAllByText('Possible contradiction')).toHaveLength(2);
  for (const name of [/^Possible ?3$/, /^Contradictions ?2$/, /^Repetitions ?1$/]) expect(screen.getByRole('button', { name })).toBeTruthy();

  await fireEvent.click(screen.getByLabelText('Show weaker ones too'));
  await expect.poll(rows).toEqual(['REQ-3 · REQ-4', 'REQ-1 · REQ-2', 'REQ-5 · REQ-6', 'REQ-7 · REQ-8']);
  expect([location.search, screen.getAllByText('weak').length]).toEqual(['?weak=1', 1]);

  await fireEvent.click(screen.getByRole('button', { name: /^Settled ?1$/ }));
  await expect.poll(rows).toEqual(['REQ-1 · REQ-9']);
  await fireEvent.click(screen.getByRole('button', { name: 'Open it again' }));
  await expect.poll(() => server.settled).toEqual([{ pairs: [{ id: '1-9' }], settlement: null }]);
});

test('the words that clash are marked in both', async () => {
  await shows(new PairServer([pairOf('1', '2', { spans: [[{ startOffset: 0, endOffset: 9 }], [{ startOffset: 10, endOffset: 11 }]] })]));
  expect([...document.querySelectorAll('mark')].map(({ textContent }) => textContent)).toEqual(['Statement', '2']);
});

test('keys go through the pairs and settle them; the next takes the place, and the last is undone', async () => {
  const server = three();
  await shows(server);
  await press('j');
  expect(looksAt()).toBe('Possible contradiction: REQ-1 and REQ-2');
  await press('n');
  expect(looksAt()).toBe('Possible contradiction: REQ-5 and REQ-6');
  await expect.poll(said).toEqual(['news: REQ-1 and REQ-2: not a contradiction']);
  await press('b');
  await expect.poll(said).toEqual(['news: REQ-5 and REQ-6 both stay']);
  expect(looksAt()).toBe('Possible repetition: REQ-3 and REQ-4');
  await press('u');
  await expect.poll(said).toEqual(['news: REQ-5 and REQ-6 are open again']);
  await expect.poll(looksAt).toBe('Possible contradiction: REQ-5 and REQ-6');
  expect(server.settled).toEqual([
    { pairs: [{ id: '1-2' }], settlement: 'NOT_ONE' }, { pairs: [{ id: '5-6' }], settlement: 'KEPT_BOTH' }, { pairs: [{ id: '5-6' }], settlement: null },
  ]);
  await press('u');
  await expect.poll(said).toContain('news: There is nothing to undo');
  // Nothing is approved, and no item touched: this server knows nothing else.
  expect(server.asked.every((call) => call.includes('/api/projects/p/item-pairs'))).toBe(true);
});

test('what is undone before it was answered is undone once it was', async () => {
  const server = three();
  await shows(server);
  await press('n');
  await press('u');
  await expect.poll(() => server.settled.map(({ settlement }) => settlement)).toEqual(['NOT_ONE', null]);
  await expect.poll(rows).toHaveLength(3);
});

test('where the last was refused, what was settled before it is undone', async () => {
  const server = three();
  server.refusals.set('1-2', 'InvalidState');
  await shows(server);
  await press('n');
  await press('n');
  await expect.poll(() => server.settled.length).toBe(2);
  await expect.poll(rows).toHaveLength(2);
  await press('u');
  await expect.poll(() => server.settled.at(-1)).toEqual({ pairs: [{ id: '3-4' }], settlement: null });
});

test('a merge goes into the approved one, or into the one that is chosen', async () => {
  const server = three();
  await shows(server);
  await press('m');
  await expect.poll(said).toEqual(['news: REQ-3 was merged into REQ-4']);
  await fireEvent.click(screen.getByRole('button', { name: 'REQ-2' }));
  await fireEvent.click(screen.getByRole('button', { name: /^Merge into .REQ-2.$/ }));
  await expect.poll(() => server.settled).toEqual([{ pairs: [{ id: '3-4', keptId: '4' }], settlement: 'MERGED' }, { pairs: [{ id: '1-2', keptId: '2' }], settlement: 'MERGED' }]);
});

test('one is rejected with a reason that can be changed, and the other stays', async () => {
  const server = three();
  await shows(server);
  HTMLDialogElement.prototype.showModal ??= () => undefined;
  await fireEvent.click(screen.getByRole('button', { name: /^Reject .REQ-3.$/ }));
  const field = await screen.findByLabelText<HTMLTextAreaElement>('Reason');
  expect(field.value).toBe('REQ-4 says the same and stays.');
  await fireEvent.input(field, { target: { value: '  ' } });
  await fireEvent.click(screen.getByRole('button', { name: 'Reject' }));
  await expect.poll(() => server.settled).toEqual([{ pairs: [{ id: '3-4', keptId: '4' }], settlement: 'REJECTED_ONE' }]);
  await expect.poll(said).toEqual(['news: REQ-3 was rejected; REQ-4 stays']);
});

test('a pair that stays as it was is named with the reason, and is in the list again', async () => {
  const server = three();
  server.refusals.set('3-4', 'PreconditionFailed');
  await shows(server);
  await press('m');
  await expect.poll(said).toEqual(['fault: The words of one have changed since. Look at it again: REQ-3 and REQ-4']);
  await expect.poll(rows).toHaveLength(3);
});

const many = (count: number, kind: 'CONFLICT' | 'DUPLICATE'): PairServer =>
  new PairServer(Array.from({ length: count }, (_, index) => pairOf(`${2 * index + 1}`, `${2 * index + 2}`, { kind })));

test('many are settled in portions, those that stay are named, and all that were settled are undone at once', async () => {
  const server = many(150, 'CONFLICT');
  server.refusals.set('1-2', 'InvalidState');
  await shows(server);
  await press('x');
  expect(screen.queryByRole('button', { name: 'Merge' })).toBeNull();
  await fireEvent.click(screen.getByRole('button', { name: 'Select all listed' }));
  await fireEvent.click(screen.getByRole('button', { name: 'Not a conflict' }));
  await expect.poll(said).toEqual(['fault: It was settled elsewhere, or one was rejected: REQ-1 and REQ-2', 'news: 149 pairs were settled']);
  expect(server.settled.map(({ pairs, settlement }) => [pairs.length, settlement])).toEqual([[100, 'NOT_ONE'], [50, 'NOT_ONE']]);
  await press('u');
  await expect.poll(() => server.settled.slice(2).map(({ pairs, settlement }) => [pairs.length, settlement])).toEqual([[100, null], [49, null]]);
  await expect.poll(said).toContain('news: 149 pairs are open again');
});

test('what is selected and not listed by the filter is not settled', async () => {
  const server = three();
  await shows(server);
  await press('x');
  await fireEvent.click(screen.getByRole('button', { name: 'Select all listed' }));
  await fireEvent.click(screen.getByRole('button', { name: /^Contradictions/ }));
  await fireEvent.click(screen.getByRole('button', { name: 'Keep both of each' }));
  await expect.poll(() => server.settled.map(({ pairs }) => pairs.map(({ id }) => id).join())).toEqual(['1-2,5-6']);
});

test('where a portion fails, what was settled before it stays settled and can be undone', async () => {
  const server = many(150, 'DUPLICATE');
  server.failingSettlement = 2;
  await shows(server);
  await press('x');
  await fireEvent.click(screen.getByRole('button', { name: 'Select all listed' }));
  await fireEvent.click(screen.getByRole('button', { name: 'Merge' }));
  await expect.poll(said).toEqual([expect.stringContaining('fault: '), 'news: 100 pairs were settled']);
  expect(server.settled[0]?.pairs[0]).toEqual({ id: '1-2', keptId: '1' });
  await press('u');
  await expect.poll(() => server.settled.map(({ settlement }) => settlement)).toEqual(['MERGED', 'MERGED', null]);
});

test('who may only read settles nothing', async () => {
  const server = three();
  await shows(server, { canWork: false });
  for (const key of ['n', 'm', 'b', 'x', 'u']) await press(key);
  await tick();
  expect([server.settled, screen.queryByRole('group', { name: 'Settle this pair' }), screen.queryByRole('link', { name: /^Edit/ })]).toEqual([[], null, null]);
});

test('a page that fails is read again by itself; where it fails for long, it can be loaded again', async () => {
  const server = three();
  // Of both lists: the open ones, and those that are settled.
  server.failures = 14;
  vi.stubGlobal('fetch', server.fetch);
  vi.useFakeTimers();
  render(Conflicts, { project: project() });
  await vi.advanceTimersByTimeAsync(30_000);
  expect([screen.getByText('Loading…'), toasts.length]).toEqual([expect.anything(), 0]);
  await vi.advanceTimersByTimeAsync(1_000);
  expect([rows(), screen.getByText('This could not be loaded')]).toEqual([[], expect.anything()]);
  await fireEvent.click(screen.getByRole('button', { name: 'Try again' }));
  await vi.advanceTimersByTimeAsync(3_000);
  expect(rows()).toHaveLength(3);
});

test('a link names the pair that is looked at', async () => {
  goTo('/projects/p/conflicts?pair=REQ-6,REQ-5');
  await shows(three());
  await expect.poll(looksAt).toBe('Possible contradiction: REQ-5 and REQ-6');
  expect(location.search).toBe('');
  goTo('/projects/p/conflicts?pair=REQ-1,REQ-99');
  await expect.poll(() => location.search).toBe('');
  expect(looksAt()).toBe('Possible contradiction: REQ-5 and REQ-6');
});

test('the pairs are loaded again when they change, or one of their requirements does', async () => {
  const server = three();
  await shows(server);
  const before = server.asked.length;
  tell({ event: 'item.changed', data: { id: 'elsewhere' } });
  vi.useFakeTimers();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(server.asked.length - before).toBe(0);
  tell({ event: 'item.changed', data: { id: '3' } });
  for (let times = 0; times < 5; times += 1) tell({ event: 'pairs.changed', data: { projectId: 'p' } });
  await vi.advanceTimersByTimeAsync(1_000);
  expect(server.asked.length - before).toBe(2);
});
