// Proposals, of which many are decided about at once.
import { cleanup, fireEvent, render, screen } from '@testing-library/svelte';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Project } from '../console/project/project.svelte';
import ProposalList from '../console/proposals/ProposalList.svelte';
import { ProposalsState, type Proposal } from '../console/proposals/proposals.svelte';
import { goTo } from '../console/route.svelte';
import english from '../console/words/english';
import { startLanguage } from '../shared/words/text.svelte';
import { toasts } from '../shared/ui/toasts.svelte';
import { requirementOf } from './item-server';

const project = { id: 'p', path: { projectId: 'p' }, canWork: true, details: { name: 'Clinic' }, on: () => () => undefined } as unknown as Project;
const proposalOf = (number: number): Proposal => ({
  id: `p${number}`, kind: 'NEW', status: 'OPEN', targetType: 'REQUIREMENT', targetId: null, before: null, after: requirementOf(number) as Proposal['after'], reason: null,
  importId: null, runId: 'run', createdAt: '2026-11-01T00:00:00Z',
});

/** A server with open proposals; `answers` may answer the acceptance with its number, from 1. */
function serves(count: number, answers: (call: number) => Response | null) {
  let open = Array.from({ length: count }, (_, index) => proposalOf(index + 1));
  const accepted: string[] = [];
  vi.stubGlobal('fetch', (request: Request) => {
    const { pathname, searchParams } = new URL(request.url);
    if (request.method === 'GET') {
      const from = Number(searchParams.get('cursor') ?? 0);
      const items = open.slice(from, from + 100);
      return Promise.resolve(done({ items, nextCursor: from + 100 < open.length ? String(from + 100) : null, totalCount: open.length }));
    }
    const id = pathname.split('/').at(-2) ?? '';
    accepted.push(id);
    const answer = answers(accepted.length);
    if (!answer) open = open.filter((proposal) => proposal.id !== id);
    return Promise.resolve(answer ?? done({}));
  });
  const proposals = new ProposalsState(project);
  render(ProposalList, { proposals });
  return { proposals, accepted };
}
const done = (data: object): Response => Response.json({ isSuccess: true, data, errors: [] });
const failed = (status: number): Response =>
  Response.json({ isSuccess: false, data: null, errors: [{ code: 'ServiceUnavailable', message: 'busy', field: null, reason: null }] }, { status });
const said = (): string[] => toasts.map(({ kind, text }) => `${kind}: ${text.replace(/[\u2068\u2069]/g, '')}`);

beforeEach(async () => {
  await startLanguage(english, () => Promise.resolve({ default: {} }));
  goTo('/projects/p/proposals');
});
afterEach(() => {
  cleanup();
  toasts.length = 0;
});

async function acceptsAll(): Promise<void> {
  await fireEvent.click(await screen.findByLabelText('Select all'));
  await fireEvent.click(await screen.findByRole('button', { name: 'Accept selected' }));
}

test('all that match are selected, also those that are not shown yet, and it is said how many were accepted', async () => {
  const { accepted } = serves(130, () => null);
  await acceptsAll();
  await expect.poll(said).toEqual(['news: 130 proposals accepted']);
  expect(accepted).toHaveLength(130);
});

test('it is stopped between two calls, and what is left stays selected', async () => {
  const { proposals, accepted } = serves(30, (call) => { if (call === 10) proposals.stop(); return null; });
  await acceptsAll();
  await expect.poll(said).toEqual(['news: 10 proposals accepted']);
  expect([accepted.length, proposals.chosen.size, proposals.progress]).toEqual([10, 20, null]);
});

test('one that fails does not keep the others from being accepted, and stays selected', async () => {
  const { proposals } = serves(5, (call) => (call === 2 ? failed(503) : null));
  await acceptsAll();
  await expect.poll(said).toEqual(['news: 4 proposals accepted', expect.stringContaining('fault: ')]);
  expect([...proposals.chosen]).toEqual(['p2']);
});
