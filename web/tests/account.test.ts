// Another account in the same tab: nothing of the former one is shown to it, or sent with its token.
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { uploadsOf } from '../console/documents/uploads.svelte';
import { profile } from '../console/profile/profile.svelte';
import { projects } from '../console/projects/projects.svelte';
import { workOf } from '../console/results/drafts.svelte';
import { signIn, signOut } from '../shared/account.svelte';
import type { Schemas } from '../shared/api/client';
import { notify, toasts } from '../shared/ui/toasts.svelte';

const enter = (name: string): void => void signIn({
  accessToken: name, refreshToken: name, user: { fullName: name, email: `${name}@example.com`, language: 'EN', isOperator: false },
} as unknown as Schemas['AuthResponse']);
const settled = (): Promise<void> => new Promise((resolve) => { setTimeout(resolve, 5); });

/** Whose token each call had; an answer that is held back is the caller's all the same. */
let sent: string[] = [];
let releases: (() => void)[] = [];
let isHeld = false;
beforeEach(() => {
  [sent, releases, isHeld] = [[], [], false];
  vi.stubGlobal('fetch', async (request: Request) => {
    const name = request.headers.get('Authorization')?.slice('Bearer '.length) ?? '';
    if (!request.url.includes('/api/auth/')) sent.push(`${name} ${new URL(request.url).pathname}`);
    if (isHeld) await new Promise<void>((resolve) => { releases.push(resolve); });
    const page = { items: [{ id: `of-${name}`, fullName: name }], nextCursor: null, totalCount: 1 };
    const data = request.url.includes('/profile') ? { email: `${name}@example.com`, fullName: name } : page;
    return Response.json({ isSuccess: true, data, message: '', statusCode: 200, errors: [] });
  });
  enter('ada');
});
afterEach(() => {
  signOut();
  vi.unstubAllGlobals();
});

test('the profile and the projects of who signs out are gone', async () => {
  await Promise.all([profile.load(), projects.load()]);
  expect([profile.details?.fullName, projects.items.map(({ id }) => id), projects.isLoaded]).toEqual(['ada', ['of-ada'], true]);
  signOut();
  expect([profile.details, projects.items, projects.isLoaded, projects.waiting.size]).toEqual([null, [], false, 0]);
});

test('what who signs out could still undo is offered to nobody else', () => {
  const act = vi.fn();
  notify('REQ-1 is approved', 'news', { action: { words: 'Undo', act } });
  notify('The other sessions were ended');
  signOut();
  expect(toasts.map(({ text }) => text)).toEqual(['The other sessions were ended']);
  toasts.length = 0;
});

test('an answer to who signed out meanwhile is not shown to who signed in', async () => {
  isHeld = true;
  const loads = [profile.load(), projects.load()];
  await settled();
  signOut();
  enter('ben');
  for (const release of releases) release();
  await Promise.all(loads);
  expect([profile.details, projects.items, projects.isLoaded]).toEqual([null, [], false]);
  isHeld = false;
  await Promise.all([profile.load(), projects.load()]);
  expect([profile.details?.fullName, projects.items.map(({ id }) => id)]).toEqual(['ben', ['of-ben']]);
});

test('files of who signs out wait for them, and are not sent with the token of another', async () => {
  isHeld = true;
  const uploads = uploadsOf('p');
  uploads.add([new File(['The portal shall be quiet.'], 'a.md')]);
  await settled();
  signOut();
  enter('ben');
  for (const release of releases) release();
  await settled();
  expect(uploadsOf('p').entries).toEqual([]);
  expect(sent).toEqual(['ada /api/projects/p/documents']);
  signOut();
  enter('ada');
  expect(uploadsOf('p')).toBe(uploads);
  expect(uploads.entries.map(({ state: { kind } }) => kind)).toEqual(['failed']);
});

test('edits and comments under way are there again for who began them alone', () => {
  const work = workOf('p');
  expect(workOf('p')).toBe(work);
  expect(workOf('q')).not.toBe(work);
  signOut();
  enter('ben');
  expect(workOf('p')).not.toBe(work);
  signOut();
  enter('ada');
  expect(workOf('p')).toBe(work);
});
