// A registration that waits for its code, as a reload of the page finds it: its id and the address, and no password.

import type { Schemas } from '../api/client';

export type Registration = Pick<Schemas['Registered'], 'registrationId' | 'email'>;
/** Times in milliseconds. */
interface Kept extends Registration { validMs: number; expiresAt: number }

const STORAGE_KEY = 'colloquy.registration';

export function keepRegistration({ registrationId, email, codeExpiresIn }: Schemas['Registered']): void {
  const validMs = codeExpiresIn * 1000;
  write({ registrationId, email, validMs, expiresAt: Date.now() + validMs });
}

/** The registration whose code can still be typed. */
export function keptRegistration(): Registration | null {
  const kept = read();
  if (kept && kept.expiresAt > Date.now()) return { registrationId: kept.registrationId, email: kept.email };
  forgetRegistration();
  return null;
}

/** Another code was sent: it is valid as long as the first one was. */
export function prolongRegistration(): void {
  const kept = read();
  if (kept) write({ ...kept, expiresAt: Date.now() + kept.validMs });
}

export function forgetRegistration(): void {
  try {
    sessionStorage.removeItem(STORAGE_KEY);
  } catch {
    // Storage is off: nothing was kept.
  }
}

function read(): Kept | null {
  try {
    return JSON.parse(sessionStorage.getItem(STORAGE_KEY) ?? 'null') as Kept | null;
  } catch {
    // Storage is off, or holds what is not ours.
    return null;
  }
}

function write(kept: Kept): void {
  try {
    sessionStorage.setItem(STORAGE_KEY, JSON.stringify(kept));
  } catch {
    // Without storage a reload asks to register again.
  }
}
