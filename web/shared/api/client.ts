// Calls of the interface, typed by its own document: the envelope is taken off, and a refusal is thrown as a ApiError.

import createClient from 'openapi-fetch';
import { BASE } from '../base';
import { ApiError, type Failure } from './error';
import type { components, paths } from './schema';
import { readAgain } from './retries.svelte';
import { Session } from './session';

export { ApiError } from './error';
export type Schemas = components['schemas'];

/** No answer for so long is none. Files may take longer. */
const PATIENCE_MS = 20_000;
const FILE_PATIENCE_MS = 300_000;

let language = 'en';
export const setRequestLanguage = (tag: string): void => { language = tag; };

/** Sends a request as it is. Throws ApiError.offline if nothing answers. */
export async function send(request: Request): Promise<Response> {
  const isFile = request.url.endsWith('/content') || /^(multipart\/|application\/octet-stream)/.test(request.headers.get('Content-Type') ?? '');
  const patience = AbortSignal.timeout(isFile ? FILE_PATIENCE_MS : PATIENCE_MS);
  const signal = AbortSignal.any([request.signal, patience]);
  try {
    return await fetch(request, { signal, cache: 'no-store', credentials: 'same-origin', redirect: 'error' });
  } catch (reason) {
    if (request.signal.aborted) throw reason;
    throw ApiError.offline();
  }
}

function marked(request: Request): Request {
  request.headers.set('Accept-Language', language);
  if (session.token) request.headers.set('Authorization', `Bearer ${session.token}`);
  return request;
}

const options = { baseUrl: new URL(BASE, location.origin).href.replace(/\/$/, '') };
const plain = createClient<paths, 'application/json'>({ ...options, fetch: send });
export const session = new Session({
  begin: (refreshToken, staySignedIn) => renewed(plain.POST('/api/auth/browser-session', { body: { refreshToken, staySignedIn } })),
  refresh: () => renewed(plain.POST('/api/auth/browser-session/refresh')),
  end: async () => { await unwrap(plain.DELETE('/api/auth/browser-session')); },
});

async function renewed(call: Promise<Outcome<Schemas['BrowserSession']>>): Promise<Schemas['BrowserSession'] | null> {
  const { data, error, response } = await call;
  if (data) return data.data;
  if (response.status === 401) return null;
  throw ApiError.of(response, error as Failure | undefined);
}

/** Ends the session of whoever is signed in, in every tab. Returns whether the server knows: if not, it is told as soon as it answers. */
export async function logOut(): Promise<boolean> {
  await api.POST('/api/auth/logout', { body: {} }).catch(() => undefined);
  return session.endAtServer();
}

/** Makes a call as whoever is here. Throws ApiError.offline if nothing answers. */
export async function authorizedFetch(request: Request): Promise<Response> {
  // A body can be read once, and the call may be made twice.
  const again = request.clone();
  const asked = session.token;
  const response = await send(marked(request));
  if (response.status !== 401 || !asked || !(await session.renew())) return response;
  return send(marked(again));
}

/** The address of an operation that is called without the typed client. */
export const addressOf = (path: string): string => `${options.baseUrl}${path}`;

// Where the server has several formats, the pages read JSON.
export const api = createClient<paths, 'application/json'>({ ...options, fetch: authorizedFetch });

interface Outcome<Data> { data?: { data: Data }; error?: unknown; response: Response }

/** The data of the envelope. */
export async function unwrap<Data>(call: Promise<Outcome<Data>>): Promise<Data> {
  const { data, error, response } = await call;
  if (data && response.ok) return data.data;
  throw ApiError.of(response, error as Failure | undefined);
}

interface Page<Item> { items: Item[]; nextCursor: string | null; totalCount: number }

/** All items of a list, page after page, each as soon as it is here. A page that fails in passing is read again. */
export async function* pages<Item>(
  ask: (cursor: string | undefined) => Promise<Outcome<Page<Item>>>, signal?: AbortSignal,
): AsyncGenerator<Page<Item>> {
  let cursor: string | undefined;
  do {
    const page = await readAgain(() => unwrap(ask(cursor)), signal);
    yield page;
    cursor = page.nextCursor ?? undefined;
  } while (cursor);
}
