import { afterEach, expect, test, vi } from 'vitest';

// jsdom does not say whether its pages are secure.
vi.stubGlobal('isSecureContext', true);
const { isLoginLink, returnFromProvider } = await import('../shared/login/provider');

afterEach(() => vi.unstubAllGlobals());

test('the code of a link leaves the address before it is exchanged, without a verifier', async () => {
  history.replaceState(null, '', '/login/callback#link=abc&returnUrl=%2Foperator');
  const calls: { hash: string; url: string; body: unknown }[] = [];
  const refuse = async (request: Request): Promise<Response> => {
    calls.push({ hash: location.hash, url: new URL(request.url).pathname, body: await request.json() });
    const body = { isSuccess: false, data: null, message: 'Used.', statusCode: 401, errors: [{ code: 'LoginCodeInvalid', message: 'Used.', field: null, reason: null }] };
    return new Response(JSON.stringify(body), { status: 401, headers: { 'content-type': 'application/json' } });
  };
  vi.stubGlobal('fetch', refuse);
  expect(isLoginLink()).toBe(true);
  await expect(returnFromProvider()).rejects.toThrow();
  expect(calls).toEqual([{ hash: '', url: '/api/auth/login-link/exchange', body: { code: 'abc' } }]);
  expect(isLoginLink()).toBe(false);
});

test('a callback with neither a code nor a link is no log-in', async () => {
  history.replaceState(null, '', '/login/callback#error=LoginRefused');
  expect(await returnFromProvider()).toBe(false);
});
