import { beforeEach, expect, test, vi } from 'vitest';
import { session } from '../../shared/api/client';
import * as operations from '../../join/operations';
import { Invitation } from '../../join/state/invitation.svelte';

const outcomes = { enter: vi.fn(), end: vi.fn(), logIn: vi.fn(), show: vi.fn(), isShown: () => true };
const ada = { accessToken: 'a', refreshToken: 'r', user: { fullName: 'Ada Lovelace', email: 'ada@example.org', language: 'EN' } };

beforeEach(() => {
  sessionStorage.clear();
  session.end();
  history.replaceState(null, '', '#invitation=token');
  vi.spyOn(operations, 'previewInvitation').mockResolvedValue({ status: 'PENDING' } as never);
});

test('the name is at first that of the account, and what was typed stays', async () => {
  session.begin(ada as never);
  const invitation = new Invitation('m', outcomes);
  await invitation.read();
  expect(invitation.displayName).toBe('Ada Lovelace');
  invitation.displayName = 'Ada';
  await invitation.read();
  expect(invitation.displayName).toBe('Ada');
});

test('whoever has no account writes a name', async () => {
  const invitation = new Invitation('m', outcomes);
  await invitation.read();
  expect(invitation.displayName).toBe('');
});
