import { beforeEach, expect, test, vi } from 'vitest';
import { Session } from '../shared/api/session';

const answer = (access: string) =>
  ({ accessToken: access, refreshToken: `${access}-r`, user: { fullName: 'Ada', email: 'ada@example.org', language: 'EN' } }) as Parameters<Session['begin']>[0];
beforeEach(() => sessionStorage.clear());

test('the tokens of a member are in storage only between two pages', () => {
  const session = new Session(vi.fn());
  session.begin(answer('a'));
  expect(sessionStorage.length).toBe(0);
  dispatchEvent(new Event('pagehide'));
  expect(sessionStorage.length).toBe(1);
  expect(new Session(vi.fn()).token).toBe('a');
  expect(sessionStorage.length).toBe(0);
});

test('the token of a guest outlasts the page, for its meeting and its time', () => {
  const session = new Session(vi.fn());
  session.beginGuest('m', 'g', 60);
  const [same, other] = [new Session(vi.fn()), new Session(vi.fn())];
  same.resumeGuest('m');
  other.resumeGuest('n');
  expect([same.token, same.isGuest, other.token]).toEqual(['g', true, null]);
  vi.useFakeTimers({ now: Date.now() + 61_000 });
  const late = new Session(vi.fn());
  late.resumeGuest('m');
  expect(late.token).toBeNull();
  vi.useRealTimers();
});

test('a guest token is not renewed; a log-in takes its place', async () => {
  const session = new Session(vi.fn());
  session.beginGuest('m', 'g', 60);
  expect(await session.renew()).toBe(false);
  session.begin(answer('a'));
  expect([session.token, session.isGuest, sessionStorage.length]).toEqual(['a', false, 0]);
});

test('two calls that need a new token wait for the same one', async () => {
  const exchange = vi.fn(() => Promise.resolve(answer('b')));
  const session = new Session(exchange);
  session.begin(answer('a'));
  expect(await Promise.all([session.renew(), session.renew()])).toEqual([true, true]);
  expect(exchange).toHaveBeenCalledOnce();
  expect(session.token).toBe('b');
});
