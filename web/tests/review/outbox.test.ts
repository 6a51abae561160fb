import { beforeEach, expect, test, vi } from 'vitest';
import { Drafts, leftOver } from '../../review/stakeholder/drafts';
import { Outbox, type Post } from '../../review/stakeholder/outbox.svelte';
import { ApiError } from '../../shared/api/error';
import { feedback, itemOf } from './fixture';

const one = itemOf('1');
const two = itemOf('2');
const refusal = (status: number, code: string, retryAfter?: number) => new ApiError(status, [{ code, field: null, message: code, reason: null }], retryAfter);
const settled = () => new Promise((resolve) => setTimeout(resolve, 5));

function outbox(send: Post['send'], drafts = new Drafts('p')) {
  const post = { send: vi.fn(send), onSent: vi.fn(), onOver: vi.fn(), wait: vi.fn((_ms: number) => Promise.resolve()) };
  return { ...post, drafts, box: new Outbox(drafts, post) };
}

beforeEach(() => sessionStorage.clear());

test('what is sent is kept until the server has it, and then is nowhere but there', async () => {
  let arrive: () => void = () => undefined;
  const { box, onSent, drafts } = outbox(() => new Promise((resolve) => { arrive = () => resolve(feedback()); }));
  drafts.write(one.id, { code: one.code, comment: 'Why?' });
  expect(box.submit(one, ' Why? ', null)).toBe(true);
  expect([box.states[one.id]?.name, box.sending, drafts.read(one.id)]).toEqual(['sending', 1, '']);
  expect(leftOver().map(({ comment }) => comment)).toEqual(['Why?']);
  expect(onSent).not.toHaveBeenCalled();
  arrive();
  await settled();
  expect([box.states[one.id]?.name, box.sending, onSent.mock.calls.length, leftOver().length]).toEqual(['sent', 0, 1, 0]);
});

test('while an answer is on its way, another one for the same item is not taken', async () => {
  const { box, send } = outbox(() => new Promise(() => undefined));
  expect([box.submit(one, 'First.', null), box.submit(one, 'Second.', null)]).toEqual([true, false]);
  await settled();
  expect(send).toHaveBeenCalledOnce();
});

test('answers go one after the other, in the order in which they were given', async () => {
  const arrivals: (() => void)[] = [];
  const { box, send } = outbox(() => new Promise((resolve) => arrivals.push(() => resolve(feedback()))));
  box.submit(one, 'a', null);
  box.submit(two, 'b', null);
  await settled();
  expect(send).toHaveBeenCalledOnce();
  arrivals[0]?.();
  await settled();
  expect(send.mock.calls.map(([{ comment }]) => comment)).toEqual(['a', 'b']);
});

test('without a network all that waits has failed, and is sent once under the same key when it is back', async () => {
  let isOffline = true;
  const { box, send } = outbox(() => (isOffline ? Promise.reject(ApiError.offline()) : Promise.resolve(feedback())));
  box.submit(one, 'a', 'APPROVE');
  box.submit(two, 'b', null);
  await settled();
  expect([box.failed, send.mock.calls.length]).toEqual([2, 1]);
  isOffline = false;
  box.resume();
  box.resume();
  await settled();
  const keys = send.mock.calls.map(([, key]) => key);
  expect([keys.length, keys[0] === keys[1], keys[1] === keys[2], box.failed, box.unsent.size]).toEqual([3, true, false, 0, 0]);
});

test('a reload sends what was not with the server, under its key', async () => {
  const before = outbox(() => Promise.reject(ApiError.offline()));
  before.box.submit(one, 'a', 'CHANGE');
  await settled();
  const after = outbox(() => Promise.resolve(feedback()));
  after.box.resume();
  await settled();
  expect(after.send.mock.calls).toEqual(before.send.mock.calls);
  expect(leftOver()).toEqual([]);
});

test('what belongs to another project stays there', async () => {
  const other = outbox(() => Promise.reject(ApiError.offline()), new Drafts('other'));
  other.box.submit(one, 'a', null);
  await settled();
  const here = outbox(() => Promise.resolve(feedback()));
  here.box.resume();
  await settled();
  expect([here.send.mock.calls.length, leftOver().length]).toEqual([0, 1]);
});

test('a server that asks for patience is asked again when it said, and nothing overtakes', async () => {
  let refusals = 1;
  let go: () => void = () => undefined;
  const { box, send, wait } = outbox(() => (refusals-- > 0 ? Promise.reject(refusal(429, 'TooManyRequests', 7)) : Promise.resolve(feedback())));
  wait.mockImplementation(() => new Promise((resolve) => { go = () => resolve(); }));
  box.submit(one, 'a', null);
  box.submit(two, 'b', null);
  await settled();
  expect([wait.mock.calls, box.states[one.id]?.name, send.mock.calls.length]).toEqual([[[7_000]], 'waiting', 1]);
  expect(box.waitingUntil).toBeGreaterThan(Date.now() + 6_000);
  go();
  await settled();
  expect([send.mock.calls.map(([{ comment }]) => comment), box.waitingUntil]).toEqual([['a', 'a', 'b'], 0]);
});

test('what is still on its way from before is waited for, too', async () => {
  let refusals = 1;
  const { box, wait } = outbox(() => (refusals-- > 0 ? Promise.reject(refusal(409, 'RequestInProgress')) : Promise.resolve(feedback())));
  box.submit(one, 'a', null);
  await settled();
  expect([wait.mock.calls.length, box.states[one.id]?.name]).toEqual([1, 'sent']);
});

test('a refusal is of one answer; taken back, it is a draft again and gets another key', async () => {
  const { box, send } = outbox(({ targetId }) => (targetId === '1' ? Promise.reject(refusal(403, 'Forbidden')) : Promise.resolve(feedback())));
  box.submit(one, 'No.', 'CHANGE');
  box.submit(two, 'b', null);
  await settled();
  expect([box.states[one.id]?.name, box.states[two.id]?.name]).toEqual(['failed', 'sent']);
  expect([box.takeBack(two.id), box.takeBack(one.id)]).toEqual(['', 'No.']);
  expect([box.failed, box.unsent.size, leftOver().length]).toEqual([0, 0, 0]);
  box.submit(one, 'No.', null);
  await settled();
  expect(new Set(send.mock.calls.map(([, key]) => key)).size).toBe(3);
});

test.each([[410, 'Gone'], [401, 'Unauthorized']])('a %i ends the sending, and what was written is left', async (status, code) => {
  const { box, send, onOver } = outbox(() => Promise.reject(refusal(status, code)));
  box.submit(one, 'a', null);
  box.submit(two, 'b', null);
  await settled();
  expect([send.mock.calls.length, onOver.mock.calls.length, box.failed]).toEqual([1, 1, 2]);
  expect(leftOver().map(({ comment }) => comment)).toEqual(['a', 'b']);
});

test('a storage that is full is told, and the answer is sent all the same', async () => {
  vi.stubGlobal('sessionStorage', { length: 0, getItem: () => null, setItem: () => { throw new DOMException('full', 'QuotaExceededError'); } });
  const { box } = outbox(() => new Promise(() => undefined));
  box.submit(one, 'a', null);
  vi.unstubAllGlobals();
  expect([box.isKept, box.sending]).toEqual([false, 1]);
});

test('what was written on an item that is gone is found', () => {
  const drafts = new Drafts('p');
  drafts.write('REQUIREMENT:gone', { code: 'REQ-099', comment: 'Why?' });
  drafts.write(one.id, { code: one.code, comment: 'Here.' });
  expect(drafts.besides(new Set([one.id]))).toEqual([{ code: 'REQ-099', comment: 'Why?' }]);
  drafts.write('REQUIREMENT:gone', { code: 'REQ-099', comment: '  ' });
  expect(drafts.besides(new Set([one.id]))).toEqual([]);
});
