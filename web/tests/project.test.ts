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
  vi.stubGlobal('WebSocket', class { static readonly OPEN = 1; });
  const answer = async (): Promise<void> => {
    for (const release of releases.splice(0)) release();
    await settled();
  };
  return { asked, answer };
}

test('a project is followed once it is loaded', async () => {
  const { asked, answer } = slowServer();
  const end = new Project('p').start();
  await answer();
  expect(asked).toEqual(['/api/projects/p', '/api/ws/tickets']);
  end();
});

test('a project that was left while it was loaded is not followed', async () => {
  const { asked, answer } = slowServer();
  new Project('p').start()();
  await answer();
  expect(asked).toEqual(['/api/projects/p']);
});

test('the pairs that wait are counted for who may settle them: once the project is followed, and after what changes them', async () => {
  vi.useFakeTimers();
  let role = 'ANALYST';
  let count = 3;
  const asked: string[] = [];
  vi.stubGlobal('fetch', (request: Request) => {
    const { pathname, search } = new URL(request.url);
    if (pathname.endsWith('/item-pairs')) asked.push(search);
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
  expect([project.waitingPairs, asked]).toEqual([3, ['?status=OPEN&strength=HIGH&limit=1']]);
  count = 2;
  for (const event of ['pairs.changed', 'item.changed', 'document.created']) sent[0]?.({ event, data: {} });
  await vi.advanceTimersByTimeAsync(2_000);
  expect([project.waitingPairs, asked.length]).toEqual([2, 2]);
  role = 'STAKEHOLDER';
  sent[0]?.({ event: 'pairs.changed', data: {} });
  await vi.advanceTimersByTimeAsync(2_000);
  expect([project.waitingPairs, asked.length]).toEqual([0, 2]);
  end();
});
