import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { coalesce } from '../console/project/coalesce';
import { localInput, nextHour } from '../console/project/localTime';

beforeEach(() => { vi.useFakeTimers(); });
afterEach(() => { vi.useRealTimers(); });

test('many requests in a short time are one call, and what comes during a call is one more', async () => {
  let finish = (): void => undefined;
  const work = vi.fn(() => new Promise<void>((resolve) => { finish = resolve; }));
  const { request, cancel } = coalesce(work, 100);
  for (let times = 0; times < 5; times++) request();
  await vi.advanceTimersByTimeAsync(100);
  expect(work).toHaveBeenCalledTimes(1);
  request();
  request();
  await vi.advanceTimersByTimeAsync(500);
  expect(work).toHaveBeenCalledTimes(1);
  finish();
  await vi.advanceTimersByTimeAsync(100);
  expect(work).toHaveBeenCalledTimes(2);
  cancel();
});

test('after cancel, nothing is called any more', async () => {
  const work = vi.fn(() => Promise.resolve());
  const { request, cancel } = coalesce(work, 100);
  request();
  cancel();
  await vi.advanceTimersByTimeAsync(500);
  expect(work).not.toHaveBeenCalled();
});

test('what was cancelled while it waited can be requested again', async () => {
  const work = vi.fn(() => Promise.resolve());
  const { request, cancel } = coalesce(work);
  request();
  cancel();
  request();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(work).toHaveBeenCalledTimes(1);
});

test('a meeting is proposed at the next full hour, in local time and back', () => {
  const at = nextHour(new Date(2026, 11, 31, 23, 5));
  expect(localInput(at)).toBe('2027-01-01T00:00');
  expect(new Date(localInput(at)).getTime()).toBe(at.getTime());
});
