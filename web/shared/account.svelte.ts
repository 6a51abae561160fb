// Who is signed in, as state that the pages follow. The tokens themselves stay in api/session.ts.

import { ApiError, session, type Schemas } from './api/client';
import { dismissActions, notify } from './ui/toasts.svelte';
import { explain } from './words/errors';

let user = $state.raw(session.person);
let isExpired = $state(false);

export const currentUser = () => user;
/** Whether the session ended by itself, and not by a log-out. */
export const hasExpired = (): boolean => isExpired;

/** The promise is kept once the page may be left: see Session.begin. */
export function signIn(answer: Schemas['AuthResponse']): Promise<void> {
  const begun = session.begin(answer);
  user = session.person;
  isExpired = false;
  return begun;
}

/** Signs in whoever the browser remembers. */
export async function resumeSession(): Promise<void> {
  await session.resume();
  user = session.person;
}

/** Shows the name that the user has taken. */
export function renameUser(fullName: string): void {
  session.rename(fullName);
  user = session.person;
}

const endings = new Set<() => void>();
/** Calls `end` each time a session ends: what is kept of the former user is not the next one's. */
export const whenSignedOut = (end: () => void): void => { endings.add(end); };

export function signOut(): void {
  session.end();
  leave();
}

function leave(): void {
  user = null;
  dismissActions();
  for (const end of endings) end();
}

// Another tab of this browser has signed in or out.
session.whenChanged(() => {
  isExpired = false;
  if (session.person) user = session.person;
  else leave();
});

/** Makes a call and shows its failure. When the session has ended, the log-in takes the page's place, at the same address. */
export async function attempt(call: () => Promise<void>): Promise<void> {
  try {
    await call();
  } catch (thrown) {
    reportFailure(thrown);
  }
}

export function reportFailure(thrown: unknown): void {
  if (!(thrown instanceof ApiError && thrown.code === 'Unauthorized')) return notify(explain(thrown), 'fault');
  // Several calls may fail for the same reason. Other tabs find out by themselves.
  if (user) isExpired = true;
  session.leave();
  leave();
}
