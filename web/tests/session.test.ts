import { beforeEach, expect, test, vi } from 'vitest';
import { Session, type Renewals } from '../shared/api/session';

const user = (id: string) => ({ id, fullName: id, email: `${id}@example.org`, language: 'EN' as const, isOperator: false });
const answer = (access: string, id = 'ada') =>
  ({ accessToken: access, refreshToken: `${access}-r`, user: user(id) }) as unknown as Parameters<Session['begin']>[0];
type Renewed = NonNullable<Awaited<ReturnType<Renewals['refresh']>>>;
const renewed = (access: string, id = 'ada') => ({ accessToken: access, user: user(id) }) as unknown as Renewed;
/** A server that gives `a1`, `a2` … to whoever has the cookie, and the browser that keeps it. */
function browser() {
  let [cookie, given] = [null as string | null, 0];
  const give = (): Renewed | null => (cookie === null ? null : renewed(`a${String(++given)}`, cookie));
  const renewals = {
    begin: vi.fn((_: string, _stays: boolean) => { cookie = 'ada'; return Promise.resolve(give()); }),
    refresh: vi.fn(() => Promise.resolve(give())),
    end: vi.fn(() => { cookie = null; return Promise.resolve(); }),
  };
  return { renewals, open: () => opened(renewals), hold: (id: string | null) => { cookie = id; } };
}
/** What the tab that was opened last does when another one signs in or out. */
let hear: (event: Event) => void = () => undefined;
function opened(renewals: Renewals): Session {
  const listening = vi.spyOn(globalThis, 'addEventListener').mockImplementation((name: string, listener: unknown) => {
    if (name === 'storage') hear = listener as typeof hear;
  });
  const session = new Session(renewals);
  listening.mockRestore();
  return session;
}
const settled = (): Promise<void> => new Promise((resolve) => { setTimeout(resolve, 20); });
/** What the other tabs hear of a change in this one. */
const tell = (newValue: string | null): void => {
  hear(Object.assign(new Event('storage'), { key: 'colloquy.signedIn./', newValue }));
};

beforeEach(() => {
  sessionStorage.clear();
  localStorage.clear();
});

test('no token is in storage, and the next tab is signed in by the cookie', async () => {
  const { open, renewals } = browser();
  const session = open();
  const begun = session.begin(answer('a'));
  expect([session.token, session.person?.fullName]).toEqual(['a', 'ada']);
  await begun;
  expect(renewals.begin).toHaveBeenCalledExactlyOnceWith('a-r', true);
  expect(session.token).toBe('a1');
  expect(JSON.stringify([{ ...localStorage }, { ...sessionStorage }])).not.toMatch(/a1|a-r/);
  const other = open();
  expect(other.person).toBeNull();
  await other.resume();
  expect([other.token, other.person?.id]).toEqual(['a2', 'ada']);
});

test('who has never signed in, or has signed out, costs no call', async () => {
  const { open, renewals } = browser();
  await open().resume();
  const session = open();
  await session.begin(answer('a'));
  session.end();
  await open().resume();
  expect(await session.renew()).toBe(false);
  expect(renewals.refresh).not.toHaveBeenCalled();
});

test('a server that does not answer is asked again, and the session is not forgotten', async () => {
  const { open, renewals } = browser();
  await open().begin(answer('a'));
  renewals.refresh.mockRejectedValueOnce(new Error('offline'));
  const other = open();
  await other.resume();
  expect(other.token).toBe('a2');
});

test('a cookie whose session has ended signs out', async () => {
  const { open, hold } = browser();
  const session = open();
  await session.begin(answer('a'));
  hold(null);
  expect(await session.renew()).toBe(false);
  expect([session.token, localStorage.length]).toEqual([null, 0]);
});

test('a log-in whose exchange failed is exchanged again at once, and the page is not left before', async () => {
  const { open, renewals } = browser();
  renewals.begin.mockRejectedValueOnce(new Error('offline'));
  const session = open();
  session.staySignedIn = false;
  const begun = session.begin(answer('a'));
  await settled();
  expect([session.token, localStorage.getItem('colloquy.signedIn./')]).toEqual(['a', null]);
  await begun;
  expect(renewals.begin.mock.calls).toEqual([['a-r', false], ['a-r', false]]);
  expect(session.token).toBe('a1');
});

test('other tabs hear of a log-in only once the browser has its cookie', async () => {
  const { open, renewals } = browser();
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => { release = resolve; });
  const begin = renewals.begin.getMockImplementation();
  renewals.begin.mockImplementation(async (token, stays) => { await held; return begin?.(token, stays) ?? null; });
  const session = open();
  const begun = session.begin(answer('a'));
  await settled();
  expect(localStorage.getItem('colloquy.signedIn./')).toBeNull();
  // Somebody else's tab does not take the place of who signs in just now.
  tell('bo 1');
  release();
  await begun;
  expect([session.person?.id, localStorage.getItem('colloquy.signedIn./')?.split(' ')[0]]).toEqual(['ada', 'ada']);
});

test('a session that has ended does not sign out who has signed in meanwhile', async () => {
  const { open, renewals } = browser();
  const session = open();
  await session.begin(answer('a'));
  renewals.refresh.mockImplementation(() => {
    // The other tab's log-in is told while this answer is on its way.
    localStorage.setItem('colloquy.signedIn./', 'ada later');
    return Promise.resolve(null);
  });
  expect(await session.renew()).toBe(false);
  expect([session.token, localStorage.getItem('colloquy.signedIn./')]).toEqual([null, 'ada later']);
});

test('who signs out without a connection is signed out at the server later', async () => {
  const { open, renewals } = browser();
  const session = open();
  await session.begin(answer('a'));
  renewals.end.mockRejectedValueOnce(new Error('offline'));
  expect(await session.endAtServer()).toBe(false);
  session.end();
  const next = open();
  await next.resume();
  expect([renewals.end.mock.calls.length, next.token]).toEqual([2, null]);
  await open().resume();
  expect(renewals.end).toHaveBeenCalledTimes(2);
});

test('tabs follow each other', async () => {
  const { open, hold } = browser();
  const session = open();
  const changed = vi.fn();
  session.whenChanged(changed);
  // Another tab signs in.
  hold('ada');
  localStorage.setItem('colloquy.signedIn./', 'ada 1');
  tell('ada 1');
  await settled();
  expect([session.person?.id, changed.mock.calls.length]).toEqual(['ada', 1]);
  tell('ada 2');
  await settled();
  expect(changed).toHaveBeenCalledOnce();
  // And out.
  localStorage.removeItem('colloquy.signedIn./');
  tell(null);
  await settled();
  expect([session.person, changed.mock.calls.length]).toEqual([null, 2]);
});

test('a page of one person is loaded anew when another signs in', async () => {
  const { open, hold } = browser();
  const session = open();
  await session.begin(answer('a'));
  const reload = vi.spyOn(location, 'reload').mockImplementation(() => undefined);
  tell('bo 1');
  expect(reload).toHaveBeenCalledOnce();
  // Without the word of the other tab it is seen at the next renewal. Who waits for it waits for the next page.
  hold('bo');
  void session.renew();
  await settled();
  expect([reload.mock.calls.length, session.person?.id]).toEqual([2, 'ada']);
});

test('who signs out while the token is renewed stays signed out', async () => {
  const { open } = browser();
  const session = open();
  await session.begin(answer('a'));
  const renewing = session.renew();
  session.end();
  expect([await renewing, session.token]).toEqual([false, null]);
});

test('the token of a guest outlasts the page, for its meeting and its time', () => {
  const { open } = browser();
  const session = open();
  session.beginGuest('m', 'g', 60);
  const [same, other] = [open(), open()];
  same.resumeGuest('m');
  other.resumeGuest('n');
  expect([same.token, same.isGuest, other.token]).toEqual(['g', true, null]);
  vi.useFakeTimers({ now: Date.now() + 61_000 });
  const late = open();
  late.resumeGuest('m');
  expect(late.token).toBeNull();
  vi.useRealTimers();
});

test('a guest token is not renewed; a log-in takes its place', async () => {
  const { open } = browser();
  const session = open();
  session.beginGuest('m', 'g', 60);
  expect(await session.renew()).toBe(false);
  session.begin(answer('a'));
  expect([session.token, session.isGuest, sessionStorage.length]).toEqual(['a', false, 0]);
});

test('two calls that need a new token wait for the same one', async () => {
  const { open, renewals } = browser();
  const session = open();
  await session.begin(answer('a'));
  expect(await Promise.all([session.renew(), session.renew()])).toEqual([true, true]);
  expect(renewals.refresh).toHaveBeenCalledOnce();
});
