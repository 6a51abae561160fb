import { expect, test } from 'vitest';
import { lengthOf, quoting, saysNothing, selectedIn } from '../../review/stakeholder/passage';

test('a passage stands quoted at the head, line by line, and what was written stays below it', () => {
  expect(quoting(' within 5\n\n seconds ', '')).toBe('> within 5\n> seconds\n\n');
  expect(quoting('slot', 'Which one?')).toBe('> slot\n\nWhich one?');
  expect(quoting('  ', 'Which one?')).toBe('Which one?');
});

test('a long passage is cut between characters, and leaves room for the comment', () => {
  const quoted = quoting('😀'.repeat(3_000), '').trim();
  expect([lengthOf(quoted), quoted.endsWith('😀…')]).toEqual([2 + 1_000 + 1, true]);
});

test('a quotation alone says nothing', () => {
  expect([saysNothing(''), saysNothing('> slot\n\n '), saysNothing('> slot\n\nWhy?')]).toEqual([true, true, false]);
});

test('a selection counts where it begins and ends within the item', () => {
  document.body.innerHTML = '<p id="out">outside</p><p id="in">inside</p>';
  const [outside, inside] = ['out', 'in'].map((id) => document.getElementById(id) as HTMLElement);
  const selection = getSelection();
  expect(selectedIn(inside, selection)).toBe('');
  selection?.selectAllChildren(inside as HTMLElement);
  expect(selectedIn(inside, selection)).toBe('inside');
  expect(selectedIn(outside, selection)).toBe('');
});
