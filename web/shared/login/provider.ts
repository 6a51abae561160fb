// The ways in that end at /login/callback: the log-in at an OpenID provider, and a link that signs in once. The server leads the browser there and back to /login/callback with a code; only this
// browser has the verifier that the code is exchanged with (RFC 7636).

import { signIn } from '../account.svelte';
import { api, unwrap } from '../api/client';
import { BASE } from '../base';

const STORAGE_KEY = 'colloquy.verifier';
const START = `${BASE}api/auth/google-login`;
/** The address to which the server leads the browser back. */
export const isCallback = (): boolean => location.pathname === `${BASE}login/callback`;

/** Whether the address is a link that signs in once. */
export const isLoginLink = (): boolean => new URLSearchParams(location.hash.slice(1)).has('link');

const base64url = (bytes: Uint8Array): string =>
  btoa(String.fromCharCode(...bytes)).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');

async function challengeOf(verifier: string): Promise<string> {
  return base64url(new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier))));
}

const startUrl = (codeChallenge: string): string => {
  const { pathname, search } = location;
  const returnUrl = isCallback() ? BASE : pathname + search;
  return `${START}?${new URLSearchParams({ codeChallenge, returnUrl })}`;
};

/** The provider's name, as the server writes it into the page: empty without one, `SSO` for one that is not Google. */
const named = document.querySelector<HTMLMetaElement>('meta[name="login-provider"]')?.content ?? '';
/** The digest that the log-in needs is available in secure contexts only. */
export const providerName = isSecureContext ? named : '';

export async function leaveForProvider(): Promise<void> {
  const verifier = base64url(crypto.getRandomValues(new Uint8Array(32)));
  sessionStorage.setItem(STORAGE_KEY, verifier);
  location.assign(startUrl(await challengeOf(verifier)));
}

/** Why the server opened no account for who came back, where the address says so. */
export function refusalOfAccount(): 'RegistrationByInvitation' | 'RegistrationClosed' | null {
  const error = new URLSearchParams(location.hash.slice(1)).get('error');
  return error === 'RegistrationByInvitation' || error === 'RegistrationClosed' ? error : null;
}

/** Completes the log-in with what the address carries, and goes to the address that it names. False: it did not succeed. */
export async function returnFromProvider(): Promise<boolean> {
  const answer = new URLSearchParams(location.hash.slice(1));
  const codeVerifier = sessionStorage.getItem(STORAGE_KEY);
  sessionStorage.removeItem(STORAGE_KEY);
  // The code is used once and belongs in no history.
  history.replaceState(null, '', `${location.pathname}${location.search}`);
  const code = answer.get('code');
  const link = answer.get('link');
  if (link) await signIn(await unwrap(api.POST('/api/auth/login-link/exchange', { body: { code: link } })));
  else if (code && codeVerifier) await signIn(await unwrap(api.POST('/api/auth/google-login/exchange', { body: { code, codeVerifier } })));
  else return false;
  location.replace(ownAddress(answer.get('returnUrl')));
  return true;
}

/** The fragment may come from anybody: only an address of this server is followed. */
function ownAddress(path: string | null): string {
  const url = new URL(path ?? BASE, location.origin);
  return url.origin === location.origin && url.pathname.startsWith(BASE) ? url.href : BASE;
}
