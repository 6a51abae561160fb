import { fireEvent, render, screen } from '@testing-library/svelte';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import LogIn from '../shared/login/LogIn.svelte';
import { forgetRegistration, keepRegistration, keptRegistration, prolongRegistration } from '../shared/login/registration';

// What it looks for at first is not in every document.
vi.mock('../shared/login/provider', () => ({ providerName: '', leaveForProvider: () => undefined }));

const registered = { registrationId: 'reg', email: 'ada@example.org', codeExpiresIn: 600 };
const kept = { registrationId: 'reg', email: 'ada@example.org' };
const heading = () => screen.getByRole('heading').textContent;

beforeEach(() => {
  sessionStorage.clear();
  vi.useFakeTimers({ now: 0, toFake: ['Date'] });
});
afterEach(() => { vi.useRealTimers(); });

test('a registration is kept as long as its code is valid, and longer when another one was sent', () => {
  expect(keptRegistration()).toBeNull();
  keepRegistration(registered);
  vi.setSystemTime(599_000);
  expect(keptRegistration()).toEqual(kept);
  prolongRegistration();
  vi.setSystemTime(1_198_000);
  expect(keptRegistration()).toEqual(kept);
  vi.setSystemTime(1_199_000);
  expect(keptRegistration()).toBeNull();
  expect(sessionStorage.length).toBe(0);
  prolongRegistration();
  expect(sessionStorage.length).toBe(0);
});

test('what is not ours is nothing', () => {
  sessionStorage.setItem('colloquy.registration', '{');
  expect(keptRegistration()).toBeNull();
  keepRegistration(registered);
  forgetRegistration();
  expect(keptRegistration()).toBeNull();
});

test('whoever reloads the page goes on with the code; whoever goes back does not', async () => {
  const fetched = vi.spyOn(globalThis, 'fetch').mockImplementation(() => Promise.resolve(Response.json({ data: registered }, { status: 201 })));
  const { unmount } = render(LogIn);
  await fireEvent.click(screen.getByRole('button', { name: 'Create account' }));
  for (const [label, value] of [['Full name', 'Ada'], ['E-mail address', 'ada@example.org'], ['Password', 'a long secret']]) {
    await fireEvent.input(screen.getByLabelText(label ?? ''), { target: { value } });
  }
  await fireEvent.click(screen.getByRole('button', { name: 'Create account' }));
  await vi.waitFor(() => expect(heading()).toBe('Confirm your e-mail address'));
  expect(JSON.parse(sessionStorage.getItem('colloquy.registration') ?? '')).toEqual({ ...kept, validMs: 600_000, expiresAt: expect.any(Number) });
  unmount();

  render(LogIn);
  expect(heading()).toBe('Confirm your e-mail address');
  expect(screen.getByText(/A code was sent to/).textContent).toContain('ada@example.org');
  fetched.mockImplementation((request) => Promise.resolve(Response.json({ errors: [{ code: 'OtpInvalid', field: 'code', reason: null, message: '' }] }, { status: (request as Request).url.endsWith('/confirm-account') ? 422 : 500 })));
  await fireEvent.input(screen.getByLabelText('Code from the e-mail'), { target: { value: '123456' } });
  await fireEvent.click(screen.getByRole('button', { name: 'Confirm and sign in' }));
  await vi.waitFor(() => expect(screen.getByText('The code is wrong or has expired.')).toBeTruthy());
  expect(keptRegistration()).toEqual(kept);
  await fireEvent.click(screen.getByRole('button', { name: 'Back to the sign-in' }));
  expect(heading()).toBe('Sign in to Colloquy');
  expect(keptRegistration()).toBeNull();
});
