// The token of a project invitation, taken out of the address at once and kept while the reader signs in.

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
