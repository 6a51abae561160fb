// A list whose loads overlap: the newest one is shown, with what was put in meanwhile.
import { afterEach, expect, test, vi } from 'vitest';
import { LiveList } from '../console/live-list.svelte';
import { ApiError } from '../shared/api/client';
import { isReadingAgain } from '../shared/api/retries.svelte';
import { toasts } from '../shared/ui/toasts.svelte';

afterEach(() => { vi.useRealTimers(); });

interface Item { id: string; words: string }
interface Page { items: Item[]; nextCursor: string | null; totalCount: number }
interface Asked { cursor: string | undefined; answer: (page: Page) => Promise<void>; fail: () => Promise<void> }

const settled = (): Promise<void> => new Promise((resolve) => { setTimeout(resolve, 0); });
const item = (id: string, words = 'old'): Item => ({ id, words });
const page = (items: Item[], nextCursor: string | null = null, totalCount = items.length): Page => ({ items, nextCursor, totalCount });

/** A whole page, after which there is more. */
const full = (id: string): Page => page(Array.from({ length: 100 }, (_, index) => item(`${id}${index}`)), `after-${id}`, 101);

/** A list whose server answers when it is told to. */
function held(options?: { whole: boolean }) {
  const asked: Asked[] = [];
  const list = new LiveList<Item>((cursor) => new Promise((resolve, reject) => {
    asked.push({
      cursor,
      answer: (data) => { resolve({ data: { data }, response: new Response() }); return settled(); },
      fail: () => { reject(new TypeError('no connection')); return settled(); },
    });
  }), options);
  return { list, asked };
}
const words = ({ items }: LiveList<Item>): string[] => items.map((one) => `${one.id} ${one.words}`);

test('an older answer that comes later does not take the place of a newer one, and whoever waits for it waits for the newer', async () => {
  const { list, asked } = held();
  const first = list.load().then(() => words(list));
  const second = list.load();
  await asked[1]?.answer(page([item('b')]));
  await second;
  await asked[0]?.answer(page([item('a'), item('c')]));
  expect(await first).toEqual(['b old']);
  expect(list.totalCount).toBe(1);
});

test('a load that was superseded is over when the newer one is, and its failure is no fault', async () => {
  const { list, asked } = held();
  let isOver = false;
  const first = list.load().then(() => { isOver = true; });
  void list.load();
  await asked[0]?.fail();
  expect([isOver, toasts.length]).toEqual([false, 0]);
  await asked[1]?.answer(page([item('b')]));
  await first;
  expect(words(list)).toEqual(['b old']);
});

test('the rest of a former list is not added to a newer one', async () => {
  const { list, asked } = held();
  const loaded = list.load();
  await asked[0]?.answer(full('a'));
  await loaded;
  const more = list.more();
  await settled();
  expect(asked[1]?.cursor).toBe('after-a');
  const narrowed = list.load();
  await asked[2]?.answer(page([item('x')]));
  await narrowed;
  await asked[1]?.answer(page([item('b')]));
  await more;
  expect(words(list)).toEqual(['x old']);
  expect(list.isMore).toBe(false);
});

test('while a list is loaded, its rest is asked for once it is here', async () => {
  const { list, asked } = held();
  const loaded = list.load();
  await asked[0]?.answer(full('a'));
  await loaded;
  void list.load();
  const more = list.more();
  await asked[1]?.answer(full('x'));
  expect(asked[2]?.cursor).toBe('after-x');
  await asked[2]?.answer(page([item('y')]));
  await more;
  expect(words(list).slice(99)).toEqual(['x99 old', 'y old']);
});

test('what is put in during a load stays, and what the load no longer finds goes', async () => {
  const { list, asked } = held();
  const loaded = list.load();
  await asked[0]?.answer(page([item('a'), item('b')]));
  await loaded;
  const again = list.load();
  list.put(item('a', 'new'));
  list.put(item('b', 'of another status'));
  list.put(item('c', 'just made'));
  await asked[1]?.answer(page([item('a')]));
  await again;
  expect(words(list)).toEqual(['c just made', 'a new']);
  expect(list.totalCount).toBe(2);
  const once = list.load();
  await asked[2]?.answer(page([item('c', 'as saved'), item('a', 'as saved')]));
  await once;
  expect(words(list)).toEqual(['c as saved', 'a as saved']);
});

test('what is put in while a long list grows is in it once', async () => {
  const { list, asked } = held({ whole: true });
  const loaded = list.load();
  list.put(item('b', 'new'));
  await asked[0]?.answer(page([item('a')], 'after-a', 2));
  expect(words(list)).toEqual(['b new', 'a old']);
  await asked[1]?.answer(page([item('b')], null, 2));
  await loaded;
  expect(words(list)).toEqual(['a old', 'b new']);
  expect(list.totalCount).toBe(2);
});

/** A list of which each answer fails with one of these, and then it has one item. */
function failing(errors: ApiError[]) {
  vi.useFakeTimers();
  let asked = 0;
  const list = new LiveList<Item>(async () => {
    asked += 1;
    const error = errors.shift();
    if (error) throw error;
    return Promise.resolve({ data: { data: page([item('a')]) }, response: new Response() });
  });
  return { list, asked: () => asked };
}

test('what fails in passing is read again by itself, each time after twice as long, or when the server says, and that is said', async () => {
  const { list, asked } = failing([new ApiError(503, []), new ApiError(0, []), new ApiError(429, [], 7)]);
  const loaded = list.load();
  await vi.advanceTimersByTimeAsync(999);
  expect([asked(), list.isLoaded, list.hasFailed, isReadingAgain(), toasts.length]).toEqual([1, false, false, true, 0]);
  await vi.advanceTimersByTimeAsync(1);
  expect(asked()).toBe(2);
  await vi.advanceTimersByTimeAsync(2_000);
  expect(asked()).toBe(3);
  await vi.advanceTimersByTimeAsync(6_999);
  expect([asked(), isReadingAgain()]).toEqual([3, true]);
  await vi.advanceTimersByTimeAsync(1);
  await loaded;
  expect([words(list), list.hasFailed, isReadingAgain()]).toEqual([['a old'], false, false]);
});

test('a page that fails is read again, and not those before it', async () => {
  vi.useFakeTimers();
  const asked: (string | undefined)[] = [];
  const list = new LiveList<Item>((cursor) => {
    asked.push(cursor);
    if (asked.length === 2) return Promise.reject(new ApiError(503, [], 1));
    return Promise.resolve({ data: { data: cursor ? page([item('b')]) : page([item('a')], 'after-a', 2) }, response: new Response() });
  }, { whole: true });
  const loaded = list.load();
  await vi.advanceTimersByTimeAsync(0);
  expect(words(list)).toEqual(['a old']);
  await vi.advanceTimersByTimeAsync(1_000);
  await loaded;
  expect([words(list), asked]).toEqual([['a old', 'b old'], [undefined, 'after-a', 'after-a']]);
});

test('what fails for long, or for a reason that stays, is said and no longer read again by itself', async () => {
  const long = failing(Array.from({ length: 9 }, () => new ApiError(503, [])));
  const loaded = long.list.load();
  await vi.advanceTimersByTimeAsync(31_000);
  await loaded;
  expect([long.asked(), long.list.hasFailed, isReadingAgain(), toasts.length, vi.getTimerCount()]).toEqual([6, true, false, 1, 0]);
  const patient = failing([new ApiError(429, [], 3_600)]);
  await patient.list.load();
  const refused = failing([new ApiError(404, [])]);
  await refused.list.load();
  expect([patient, refused].map(({ list, asked }) => [list.hasFailed, asked()])).toEqual([[true, 1], [true, 1]]);
});

test('what was left is not read again, and no fault', async () => {
  toasts.length = 0;
  const { list, asked } = failing([new ApiError(503, []), new ApiError(503, [])]);
  const first = list.load();
  await vi.advanceTimersByTimeAsync(500);
  list.cancel();
  await first;
  const second = list.load();
  list.cancel();
  await second;
  await vi.advanceTimersByTimeAsync(60_000);
  expect([asked(), vi.getTimerCount(), toasts.length, isReadingAgain()]).toEqual([2, 0, 0, false]);
});
