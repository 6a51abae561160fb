import { afterEach, expect, test, vi } from 'vitest';
import type { Project } from '../console/project/project.svelte';
import { GlossaryState, type Entry } from '../console/settings/glossary.svelte';
import { toasts } from '../shared/ui/toasts.svelte';

/** A glossary as the server keeps it: another version than the one that was read is refused. */
function server(entries: Entry[]) {
  const kept = { version: 1, entries };
  vi.stubGlobal('fetch', async (request: Request) => {
    if (request.method === 'GET') return answer(200, kept);
    if (request.headers.get('If-Match') !== `"${kept.version}"`) return answer(412, null, 'PreconditionFailed');
    kept.entries = ((await request.json()) as { entries: Entry[] }).entries;
    kept.version += 1;
    return answer(200, kept);
  });
  return kept;
}
const answer = (status: number, data: unknown, code = ''): Response =>
  Response.json({ isSuccess: status < 400, data, message: '', statusCode: status, errors: code ? [{ code, message: code, field: null, reason: null }] : [] }, { status });
const entry = (term: string, definition: string | null = null): Entry => ({ term, definition, spellings: [] });
const project = { path: { projectId: 'p' } } as unknown as Project;

afterEach(() => {
  vi.unstubAllGlobals();
  toasts.length = 0;
});

test('what somebody else has added meanwhile stays', async () => {
  const kept = server([entry('OAuth')]);
  const glossary = new GlossaryState(project);
  await glossary.load();
  Object.assign(kept, { version: 2, entries: [entry('OAuth'), entry('SFU')] });
  await glossary.save(null, entry('Ward'));
  expect(kept.entries.map(({ term }) => term).sort()).toEqual(['OAuth', 'SFU', 'Ward']);
  expect(toasts).toEqual([]);
});

test('an entry that somebody else has changed is not overwritten: it is shown, and said', async () => {
  const kept = server([entry('OAuth', 'a protocol')]);
  const glossary = new GlossaryState(project);
  await glossary.load();
  const [read] = glossary.entries;
  Object.assign(kept, { version: 2, entries: [entry('OAuth', 'how access is delegated')] });
  await glossary.save(read ?? null, entry('OAuth', 'mine'));
  expect(kept.entries).toEqual([entry('OAuth', 'how access is delegated')]);
  expect(glossary.entries).toEqual(kept.entries);
  expect(toasts).toHaveLength(1);
});
