// The token of a project invitation, taken out of the address at once and kept while the reader signs in.

import { api, unwrap } from '$shared/api/client';
import { label, t } from '$shared/words/text.svelte';

const STORAGE_KEY = 'colloquy.projectInvitation';
let taken: string | null = null;

export function takeInvitation(): void {
  const token = new URLSearchParams(location.hash.slice(1)).get('token');
  if (!token) return;
  history.replaceState(history.state, '', location.pathname);
  try {
    sessionStorage.setItem(STORAGE_KEY, token);
  } catch {
    // Storage is off: good for this page alone.
  }
  taken = token;
}

/** The token; of no form that the server knows where there is none, so that it answers that nothing is there. */
export function invitationToken(): string {
  try {
    taken ??= sessionStorage.getItem(STORAGE_KEY);
  } catch {
    // Storage is off.
  }
  return taken ?? 'none';
}

export interface ReadInvitation { token: string; words: string }

/** What the invitation says to whoever is not signed in. Throws ApiError. */
export async function readInvitation(): Promise<ReadInvitation> {
  const token = invitationToken();
  const { inviterName, projectName, role } = await unwrap(api.GET('/api/project-invitations/{token}', { params: { path: { token } } }));
  return { token, words: t('people.invitation.by', { inviter: inviterName, project: projectName, role: label('role', role) }) };
}
