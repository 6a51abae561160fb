import { fireEvent, render, screen } from '@testing-library/svelte';
import { afterEach, expect, test, vi } from 'vitest';
import type { Project } from '../console/project/project.svelte';
import EditTerm from '../console/settings/EditTerm.svelte';
import { GlossaryState, type Entry } from '../console/settings/glossary.svelte';
import english from '../console/words/english';
import { toasts } from '../shared/ui/toasts.svelte';
import { startLanguage } from '../shared/words/text.svelte';

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

test('an entry that somebody else has changed is not overwritten, and can be read as it is now', async () => {
  const kept = server([entry('OAuth', 'a protocol')]);
  const glossary = new GlossaryState(project);
  await glossary.load();
  const [read] = glossary.entries;
  Object.assign(kept, { version: 2, entries: [entry('OAuth', 'how access is delegated')] });
  // Once the newer entry was read, the server would not refuse it any more.
  for (const _ of [1, 2]) await expect(glossary.save(read ?? null, entry('OAuth', 'mine'))).rejects.toMatchObject({ status: 412 });
  expect(kept.entries).toEqual([entry('OAuth', 'how access is delegated')]);
  expect(glossary.entries).toEqual(kept.entries);
});

const settled = (): Promise<void> => new Promise((resolve) => { setTimeout(resolve, 5); });

/** A reader has typed a new definition of a term, which others have made something else of meanwhile. */
async function savesOver(now: Entry[]) {
  await startLanguage(english, () => Promise.resolve({ default: {} }));
  const kept = server([entry('OAuth', 'a protocol')]);
  const glossary = new GlossaryState(project);
  await glossary.load();
  render(EditTerm, { open: true, glossary, entry: glossary.find('OAuth') });
  await fireEvent.input(screen.getByLabelText('Definition'), { target: { value: 'mine' } });
  Object.assign(kept, { version: 2, entries: now });
  const press = (name: string) => fireEvent.click(screen.getByRole('button', { name, hidden: true }));
  await press('Save');
  const typed = (): string => screen.getByLabelText<HTMLTextAreaElement>('Definition').value;
  return { kept, press, typed };
}

test('the dialog stays with what was typed beside the newer entry, and saves it once that is wanted', async () => {
  const { kept, press, typed } = await savesOver([entry('OAuth', 'how access is delegated')]);
  expect(await screen.findByText('how access is delegated')).toBeTruthy();
  expect(typed()).toBe('mine');
  await press('Save');
  await settled();
  expect(kept.entries).toEqual([entry('OAuth', 'how access is delegated')]);
  await press('Keep mine; saving replaces it');
  await press('Save');
  await expect.poll(() => kept.entries).toEqual([entry('OAuth', 'mine')]);
  await expect.poll(() => screen.queryByLabelText('Definition')).toBeNull();
});

test('the newer entry can be taken in the place of what was typed', async () => {
  const { press, typed } = await savesOver([entry('OAuth', 'how access is delegated')]);
  await screen.findByText('how access is delegated');
  await press('Take the saved version');
  expect(typed()).toBe('how access is delegated');
});

test('a term that was removed meanwhile is said to be gone, and is added again by the next save', async () => {
  const { kept, press, typed } = await savesOver([entry('SFU')]);
  expect(await screen.findByText(/has removed this term meanwhile/)).toBeTruthy();
  expect([typed(), kept.entries]).toEqual(['mine', [entry('SFU')]]);
  await press('Save');
  await expect.poll(() => kept.entries).toEqual([entry('SFU'), entry('OAuth', 'mine')]);
});
