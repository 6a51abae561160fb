// A page that is opened directly: what it asks for, and what is shown before all of it is there.
import { cleanup, render, screen } from '@testing-library/svelte';
import { afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import type { Project } from '../console/project/project.svelte';
import ProjectPage from '../console/project/ProjectPage.svelte';
import { goTo } from '../console/route.svelte';
import { groupsFor } from '../console/views';
import english from '../console/words/english';
import { startLanguage } from '../shared/words/text.svelte';
import { ItemServer, requirementOf, tell } from './item-server';

// A view whose script comes late is opened late: these are here before the socket is.
beforeAll(() => Promise.all(groupsFor({ isAnalyst: true } as Project).flatMap(({ views }) => views).map(({ load }) => load())));
beforeEach(() => startLanguage(english, () => Promise.resolve({ default: {} })));
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

/** Long enough for what is asked for a second time to be asked for. */
const aWhile = (): Promise<void> => new Promise((resolve) => { setTimeout(resolve, 600); });
const rows = (): string[] => [...document.querySelectorAll('[role="option"] .code')].map(({ textContent }) => textContent);
const looksAt = (): string | undefined => document.querySelector('article .code')?.textContent;

function opens(path: string): void {
  goTo(path);
  render(ProjectPage, { id: 'p' });
}
const isShown = (words: string): Promise<void> => expect.poll(() => document.body.textContent, { timeout: 5_000 }).toContain(words);

test('results that are opened directly ask for each page of each list once', async () => {
  const server = new ItemServer(350, 120);
  opens('/projects/p/results');
  await isShown('470 items');
  await aWhile();
  const { '/api/projects/p': details, ...others } = server.counts;
  expect(details).toBeLessThanOrEqual(2);
  expect(Object.keys(others)).toEqual(expect.arrayContaining([
    'requirements', 'requirements 100', 'requirements 200', 'requirements 300', 'user-stories', 'user-stories 100', 'documents', 'ai/results-dashboard',
  ]));
  expect(Object.entries(others).filter(([, count]) => count !== 1)).toEqual([]);
});

test.each([['documents', 'documents'], ['conflicts', 'item-pairs'], ['proposals', 'proposals'], ['feedback', 'feedback'], ['runs', 'ai/runs']])(
  'the page %s, opened directly, asks for its list once', async (view, list) => {
    const server = new ItemServer(0, 0);
    opens(`/projects/p/${view}`);
    await expect.poll(() => server.counts[list], { timeout: 5_000 }).toBeGreaterThan(0);
    await aWhile();
    // Of pairs: those that are open, and those that are settled.
    expect(server.counts[list]).toBe(list === 'item-pairs' ? 2 : 1);
  },
);

const top = (code: string): string | undefined =>
  [...document.querySelectorAll<HTMLElement>('[role="option"]')].find((row) => row.querySelector('.code')?.textContent === code)?.style.insetBlockStart;

test('what has come is shown before the rest, where it will stand, and nothing moves when the rest comes', async () => {
  const server = new ItemServer(105, 120);
  server.held = 'requirements 100';
  opens('/projects/p/results/REQ-007');
  await expect.poll(looksAt, { timeout: 5_000 }).toBe('REQ-007');
  await isShown('220 of 225 loaded');
  const before = [top('REQ-005'), top('REQ-006'), top('REQ-007')];
  expect(before).toEqual([undefined, '380px', '456px']);
  server.release();
  await isShown('225 items');
  expect([top('REQ-005'), top('REQ-006'), top('REQ-007'), looksAt()]).toEqual(['304px', '380px', '456px', 'REQ-007']);
});

test('without an item in the address, the first one is open as soon as it has come', async () => {
  const server = new ItemServer(150, 120);
  server.held = 'user-stories 100';
  opens('/projects/p/results');
  await expect.poll(looksAt, { timeout: 5_000 }).toBe('REQ-001');
  expect(rows()[0]).toBe('REQ-001');
  expect(document.body.textContent).not.toContain('270 items');
  server.release();
  await isShown('270 items');
  expect([looksAt(), rows()[0]]).toEqual(['REQ-001', 'REQ-001']);
});

test('the requirements are read again after their pairs have changed, and nothing else', async () => {
  const server = new ItemServer(150, 20);
  opens('/projects/p/results/REQ-002');
  await isShown('170 items');
  expect(screen.queryByText('May contradict')).toBeNull();
  server.requirements[1] = requirementOf(2, { conflictsWith: ['r1'] });
  server.asked.length = 0;
  for (let times = 0; times < 5; times += 1) tell('pairs.changed', { projectId: 'p' });
  await isShown('May contradict');
  expect(server.asked.filter((path) => !path.startsWith('item-pairs') && !path.startsWith('/api'))).toEqual(['requirements', 'requirements 100']);
});

test('a new item is found on the first page of its kind', async () => {
  const server = new ItemServer(150, 0);
  opens('/projects/p/results');
  await isShown('150 items');
  server.requirements.push(requirementOf(151));
  server.asked.length = 0;
  tell('item.changed', { id: 'r151', targetType: 'REQUIREMENT' });
  await isShown('151 items');
  expect(server.asked.filter((path) => path.startsWith('requirements'))).toEqual(['requirements']);
});
