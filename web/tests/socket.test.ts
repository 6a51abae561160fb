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
