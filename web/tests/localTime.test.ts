import { expect, test } from 'vitest';
import { inZone, wallClock, zones } from '../console/project/localTime';

test.each([
  ['2026-11-24T10:00', 'Europe/Berlin', '2026-11-24T10:00:00+01:00'],
  ['2026-07-01T10:00', 'Europe/Berlin', '2026-07-01T10:00:00+02:00'],
  ['2026-11-24T23:30', 'Asia/Kolkata', '2026-11-24T23:30:00+05:30'],
  ['2026-11-24T10:00', 'America/New_York', '2026-11-24T10:00:00-05:00'],
  // The night in which the clocks go forward, before and after that.
  ['2026-03-29T01:59', 'Europe/Berlin', '2026-03-29T01:59:00+01:00'],
  ['2026-03-29T03:00', 'Europe/Berlin', '2026-03-29T03:00:00+02:00'],
  ['2026-11-24T10:00', 'UTC', '2026-11-24T10:00:00+00:00'],
])('%s in %s is %s, and back', (local, zone, at) => {
  expect(inZone(local, zone)).toBe(at);
  expect(wallClock(new Date(at), zone)).toBe(local);
});

test('what is no time has no instant', () => expect(inZone('', 'UTC')).toBeNull());

test('UTC is among the zones', () => expect(zones()).toContain('UTC'));
