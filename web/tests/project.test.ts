import { afterEach, expect, test, vi } from 'vitest';
import { Project } from '../console/project/project.svelte';
import { TopicSocket } from '../shared/topics/socket';

const settled = (): Promise<void> => new Promise((resolve) => { setTimeout(resolve, 5); });
afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

/** A server that answers once it is told to; gives the paths that were asked for. */
function slowServer() {
  const asked: string[] = [];
  const releases: (() => void)[] = [];
  vi.stubGlobal('fetch', async (request: Request) => {
    asked.push(new URL(request.url).pathname);
    await new Promise<void>((resolve) => { releases.push(resolve); });
    return Response.json({ isSuccess: true, data: { ticket: 't' }, errors: [] });
  });
  const opened: string[] = [];
  vi.stubGlobal('WebSocket', class {
    static readonly OPEN = 1;
    constructor(url: string) { opened.push(url); }
    close(): void { opened.pop(); }
  });
  const answer = async (): Promise<void> => {
    for (const release of releases.splice(0)) release();
    await settled();
  };
  return { asked, opened, answer };
}

test('a project is followed while it is loaded', async () => {
  const { asked, opened, answer } = slowServer();
  const end = new Project('p').start();
  await settled();
  expect(asked.sort()).toEqual(['/api/projects/p', '/api/ws/tickets']);
  await answer();
  expect(opened).toHaveLength(1);
  end();
});

test('a project that was left while it was loaded opens no connection', async () => {
  const { opened, answer } = slowServer();
  new Project('p').start()();
  await answer();
  expect(opened).toEqual([]);
});

test('the views of a project are shown once it is followed, or after a while without that', async () => {
  vi.useFakeTimers();
  const { answer } = slowServer();
  let tells: () => void = () => undefined;
  vi.spyOn(TopicSocket.prototype, 'follow').mockImplementation((_, { snapshot }) => {
    tells = () => snapshot({} as Parameters<typeof snapshot>[0]);
    return () => undefined;
  });
  const [followed, alone] = [new Project('p'), new Project('q')];
  const ends = [alone.start(), followed.start()];
  void answer();
  await vi.advanceTimersByTimeAsync(500);
  expect([followed.isReady, alone.isReady]).toEqual([false, false]);
  tells();
  expect([followed.isReady, alone.isReady]).toEqual([true, false]);
  await vi.advanceTimersByTimeAsync(500);
  expect(alone.isReady).toBe(true);
  for (const end of ends) end();
});

test('the pairs that wait are counted for who may settle them: once the project is followed, and after what changes them', async () => {
  vi.useFakeTimers();
  let role = 'ANALYST';
  let count = 3;
  const asked: string[] = [];
  const others: string[] = [];
  vi.stubGlobal('fetch', (request: Request) => {
    const { pathname, search } = new URL(request.url);
    if (pathname.endsWith('/item-pairs')) asked.push(search);
    if (/\/(proposals|feedback)$/.test(pathname)) others.push(`${pathname.split('/').at(-1) ?? ''}${search}`);
    const data = { myRole: role, status: 'ACTIVE', ticket: 't', totalCount: count };
    return Promise.resolve(Response.json({ isSuccess: true, data, errors: [] }));
  });
  const sent: ((event: object) => void)[] = [];
  vi.spyOn(TopicSocket.prototype, 'follow').mockImplementation((_, { snapshot, event }) => {
    snapshot({} as Parameters<typeof snapshot>[0]);
    sent.push(event as (event: object) => void);
    return () => undefined;
  });
  const project = new Project('p');
  const end = project.start();
  await vi.advanceTimersByTimeAsync(2_000);
  expect([project.waiting.pairs, asked]).toEqual([3, ['?status=OPEN&strength=HIGH&limit=1']]);
  expect([project.waiting.proposals, project.waiting.feedback, others.sort()]).toEqual([3, 3, ['feedback?status=OPEN&limit=1', 'proposals?status=OPEN&limit=1']]);
  count = 2;
  for (const event of ['pairs.changed', 'item.changed', 'document.created']) sent[0]?.({ event, data: {} });
  await vi.advanceTimersByTimeAsync(2_000);
  expect([project.waiting.pairs, asked.length]).toEqual([2, 2]);
  // An item may have been decided by a proposal; feedback is as it was.
  expect([project.waiting.proposals, project.waiting.feedback, others.length]).toEqual([2, 3, 3]);
  role = 'STAKEHOLDER';
  sent[0]?.({ event: 'pairs.changed', data: {} });
  await vi.advanceTimersByTimeAsync(2_000);
  expect([project.waiting.pairs, asked.length]).toEqual([0, 2]);
  end();
});
