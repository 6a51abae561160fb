import { expect, test } from 'vitest';
import { stepsTo } from '../console/feedback/feedback.svelte';
import { inviteesOf } from '../console/feedback/invitees';

test.each([
  ['OPEN', 'RESOLVED', ['IN_PROGRESS', 'RESOLVED']], ['OPEN', 'IN_PROGRESS', ['IN_PROGRESS']], ['IN_PROGRESS', 'REJECTED', ['REJECTED']],
  ['RESOLVED', 'OPEN', ['IN_PROGRESS', 'OPEN']], ['REJECTED', 'IN_PROGRESS', ['IN_PROGRESS']], ['RESOLVED', 'RESOLVED', []],
] as const)('from %s to %s', (from, to, steps) => {
  expect(stepsTo(from, to)).toEqual(steps);
});

test.each([
  ['cleo@example.org', [{ email: 'cleo@example.org' }]],
  ['Cleo Haddad <cleo@example.org>\n"Lee, Ann" is not split well', [{ email: 'cleo@example.org', fullName: 'Cleo Haddad' }, { email: '"Lee' }, { email: 'Ann" is not split well' }]],
  [' a@example.org ;b@example.org،c@example.org,\n\n', [{ email: 'a@example.org' }, { email: 'b@example.org' }, { email: 'c@example.org' }]],
  ['a@example.org, A@example.org', [{ email: 'a@example.org' }]],
  ['', []],
])('%s', (text, invitees) => {
  expect(inviteesOf(text)).toEqual(invitees);
});
