import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { TopicSocket } from '../shared/topics/socket';

class FakeSocket {
  readyState = 1;
  sent: unknown[] = [];
  onopen: (() => void) | null = null;
  onmessage: ((message: { data: string }) => void) | null = null;
  onclose: (() => void) | null = null;
  send(text: string): void { this.sent.push(JSON.parse(text)); }
  close(): void { this.readyState = 3; }
  notify(frame: object): void { this.onmessage?.({ data: JSON.stringify(frame) }); }
}

beforeEach(() => { vi.useFakeTimers(); });
afterEach(() => { vi.useRealTimers(); });

const subscribed = (offset: number, snapshot: unknown): object => ({ type: 'subscribed', topic: 'run:1', epoch: 'e', offset, recovered: snapshot === null, snapshot });
const event = (offset: number): object => ({ type: 'event', topic: 'run:1', offset, event: 'run.progressed', at: '', data: null });
const newListener = () => ({ snapshot: vi.fn(), event: vi.fn(), refused: vi.fn() });

test('after a break it goes on where it stood; a hole is answered with everything anew', async () => {
  const sockets: FakeSocket[] = [];
  const open = (): WebSocket => {
    sockets.push(new FakeSocket());
    return sockets.at(-1) as unknown as WebSocket;
  };
  const listener = { snapshot: vi.fn(), event: vi.fn() };
  const live = new TopicSocket({ ticket: () => Promise.resolve('t'), open });
  live.follow('run:1', listener);
  await vi.advanceTimersByTimeAsync(0);
  const [first] = sockets;
  first?.onopen?.();
  first?.notify({ type: 'subscribed', topic: 'run:1', epoch: 'e', offset: 4, recovered: false, snapshot: { at: 4 } });
  first?.notify({ type: 'event', topic: 'run:1', offset: 5, event: 'withheld', at: '', data: null });
  first?.notify({ type: 'event', topic: 'run:1', offset: 6, event: 'run.progressed', at: '', data: {} });
  expect(listener.snapshot).toHaveBeenCalledOnce();
  expect(listener.event).toHaveBeenCalledOnce();

  first?.onclose?.();
  await vi.advanceTimersByTimeAsync(2_000);
  const second = sockets[1];
  second?.onopen?.();
  expect(second?.sent).toEqual([{ type: 'subscribe', topic: 'run:1', since: { epoch: 'e', offset: 6 } }]);
  second?.notify({ type: 'subscribed', topic: 'run:1', epoch: 'e', offset: 6, recovered: true, snapshot: null });
  second?.notify({ type: 'event', topic: 'run:1', offset: 9, event: 'run.completed', at: '', data: {} });
  expect(second?.sent.at(-1)).toEqual({ type: 'subscribe', topic: 'run:1' });
  expect(listener.event).toHaveBeenCalledOnce();
  live.close();
});

/** A socket that is open, with one listener of run:1 that got its snapshot at offset 4. */
async function followedOnce() {
  const socket = new FakeSocket();
  const live = new TopicSocket({ ticket: () => Promise.resolve('t'), open: () => socket as unknown as WebSocket });
  const first = newListener();
  const leave = live.follow('run:1', first);
  await vi.advanceTimersByTimeAsync(0);
  socket.onopen?.();
  socket.notify(subscribed(4, 'at 4'));
  return { live, socket, first, leave };
}

test('a later listener of a topic gets a snapshot of its own, and the earlier one misses nothing', async () => {
  const { live, socket, first } = await followedOnce();
  const second = newListener();
  live.follow('run:1', second);
  expect(socket.sent.at(-1)).toEqual({ type: 'subscribe', topic: 'run:1' });
  // On its way before the server read that.
  socket.notify(event(5));
  expect([first.event.mock.calls.length, second.event.mock.calls.length]).toEqual([1, 0]);
  socket.notify(subscribed(5, 'at 5'));
  expect(first.snapshot.mock.calls).toEqual([['at 4']]);
  expect(second.snapshot.mock.calls).toEqual([['at 5']]);
  socket.notify(event(6));
  expect([first.event.mock.calls.length, second.event.mock.calls.length]).toEqual([2, 1]);
  live.close();
});

test('what happened until the snapshot of a later listener comes to the earlier one with it', async () => {
  const { live, socket, first } = await followedOnce();
  live.follow('run:1', newListener());
  socket.notify(subscribed(7, 'at 7'));
  expect(first.snapshot.mock.calls).toEqual([['at 4'], ['at 7']]);
  live.close();
});

test('two that follow at once share one subscription, which ends with the last of them', async () => {
  const { live, socket, first, leave } = await followedOnce();
  const second = newListener();
  const leaveSecond = live.follow('run:1', second);
  socket.notify(subscribed(4, 'at 4'));
  leave();
  socket.notify(event(5));
  expect([first.event.mock.calls.length, second.event.mock.calls.length]).toEqual([0, 1]);
  expect(socket.sent).not.toContainEqual({ type: 'unsubscribe', topic: 'run:1' });
  leaveSecond();
  expect(socket.sent.at(-1)).toEqual({ type: 'unsubscribe', topic: 'run:1' });
  live.close();
});

test('each listener hears that the topic is refused', async () => {
  const { live, socket, first } = await followedOnce();
  const second = newListener();
  live.follow('run:1', second);
  socket.notify({ type: 'error', topic: 'run:1', code: 'Forbidden' });
  expect([first.refused.mock.calls, second.refused.mock.calls]).toEqual([[['Forbidden']], [['Forbidden']]]);
  live.close();
});
