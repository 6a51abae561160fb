import { afterEach, expect, test, vi } from 'vitest';
import { Project } from '../console/project/project.svelte';

const settled = (): Promise<void> => new Promise((resolve) => { setTimeout(resolve, 5); });
afterEach(() => { vi.unstubAllGlobals(); });

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
