import { expect, test } from 'vitest';
import { ApiError } from '../../shared/api/error';
import { MeetingState, type Snapshot } from '../../shared/recording/meeting';
import { afterInvitationRefusal, afterRefusal, nextStep } from '../../join/state/views';

const person = (id: string, status: string, recordingConsent: boolean | null) =>
  ({ id, displayName: id, status, role: 'PARTICIPANT', consent: { recordingConsent, scopes: [] }, joinedAt: null });
const snapshotOf = (status: string): Snapshot =>
  ({ meeting: { id: 'm', status, title: 'T' }, participants: [person('ada', 'JOINED', true), person('bo', 'JOINED', null)], recordings: [] }) as unknown as Snapshot;
const refused = (status: number, code: string) => new ApiError(status, [{ code, field: null, reason: null, message: code }]);

test('events are folded over the snapshot, and the state before stays as it was', () => {
  const before = MeetingState.of(snapshotOf('LIVE'));
  const recording = { id: 'r', status: 'ACTIVE', paused: true, pausedFor: ['bo'] };
  const after = before.fold({ event: 'recording.paused', data: recording }).fold({ event: 'item.changed', data: {} });
  expect(before.recordingState.kind).toBe('none');
  expect(after.recordingState).toMatchObject({ kind: 'paused', waitsFor: [{ id: 'bo' }] });
  expect(after.fold({ event: 'recording.resumed', data: { ...recording, paused: false } }).recordingState.kind).toBe('on');
  expect(after.fold({ event: 'recording.deleted', data: recording }).recordings.size).toBe(0);
  expect(after.fold({ event: 'meeting.updated', data: { title: 'New' } }).meeting.title).toBe('New');
});

test.each([
  ['SCHEDULED', true, false, { show: 'waiting' }], ['LIVE', true, false, { join: true }], ['LIVE', true, true, { stay: true }],
  ['LIVE', false, false, { end: 'left' }], ['ENDED', true, true, { end: 'over' }], ['CANCELLED', true, false, { end: 'cancelled' }],
])('in a meeting that is %s (comes: %s, is in: %s) the next step is %o', (status, comes, isIn, next) => {
  expect(nextStep(MeetingState.of(snapshotOf(status)), 'ada', comes, isIn)).toEqual(next);
});

test('a participant who was removed sees so, whatever the meeting is', () => {
  const state = MeetingState.of(snapshotOf('ENDED')).fold({ event: 'participant.removed', data: person('ada', 'REMOVED', null) });
  expect(nextStep(state, 'ada', true, true)).toEqual({ end: 'removed' });
});

test('each refusal leads somewhere', () => {
  const member = { wasGuest: false, isRemoved: false };
  expect(afterRefusal(refused(503, 'ServiceUnavailable'), member)).toEqual({ retry: true });
  expect(afterRefusal(refused(401, 'Unauthorized'), member)).toEqual({ logIn: 'whyEnded' });
  expect(afterRefusal(refused(401, 'Unauthorized'), { wasGuest: true, isRemoved: false })).toEqual({ end: 'access' });
  expect(afterRefusal(refused(403, 'Forbidden'), member)).toEqual({ end: 'forbidden' });
  expect(afterRefusal(refused(403, 'Forbidden'), { wasGuest: false, isRemoved: true })).toEqual({ end: 'removed' });
  expect(afterRefusal(refused(404, 'MeetingNotFound'), member)).toEqual({ end: 'unknown' });
  expect(afterInvitationRefusal(refused(410, 'Gone'), true)).toEqual({ end: 'gone' });
  expect(afterInvitationRefusal(refused(403, 'Forbidden'), true)).toEqual({ logIn: 'whyOther' });
  expect(afterInvitationRefusal(refused(429, 'TooManyRequests'), true)).toEqual({ explain: true });
});
