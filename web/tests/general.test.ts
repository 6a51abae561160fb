// The settings of a project, edited while somebody else has saved others.
import { fireEvent, render, screen } from '@testing-library/svelte';
import { afterEach, expect, test, vi } from 'vitest';
import type { Project } from '../console/project/project.svelte';
import General from '../console/settings/General.svelte';
import english from '../console/words/english';
import type { Schemas } from '../shared/api/client';
import { startLanguage } from '../shared/words/text.svelte';

afterEach(() => { vi.unstubAllGlobals(); });

test('all that somebody else has saved meanwhile is shown beside what was typed', async () => {
  await startLanguage(english, () => Promise.resolve({ default: {} }));
  const details = { name: 'Portal', description: 'For patients', language: 'EN', signedApprovals: false, version: 1, storage: { usedBytes: 1536, limitBytes: null } } as Schemas['Project'];
  const newer = { ...details, description: '', language: 'DE', signedApprovals: true, version: 2 };
  vi.stubGlobal('fetch', (request: Request) => Promise.resolve(request.method === 'GET'
    ? Response.json({ isSuccess: true, data: newer, errors: [] })
    : Response.json({ isSuccess: false, data: null, errors: [{ code: 'PreconditionFailed', message: '', field: null, reason: null }] }, { status: 412 })));
  render(General, { project: { canManage: true, path: { projectId: 'p' } } as unknown as Project, details });
  expect(screen.getByText(/^Files and texts take .*2 kB/)).toBeTruthy();
  await fireEvent.click(screen.getByRole('button', { name: 'Save' }));
  await expect.poll(() => screen.queryAllByRole('term').map((term) => [term.textContent, term.nextElementSibling?.textContent])).toEqual([
    ['Name', 'Portal'], ['Description', '—'], ['Language', 'German'], ['Approvals have to be signed', 'Yes'],
  ]);
});
