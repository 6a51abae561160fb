import { expect, test } from 'vitest';
import { canBeGiven, choicesOf, valueOf, type MissingField } from '../console/tracker/defaults';
import { answerOf } from '../console/tracker/answer';

const field = (kind: MissingField['kind'], allowedValues: MissingField['allowedValues'] = []): MissingField => ({ id: 'f', name: 'F', kind, allowedValues });

test.each([
  ['TEXT', ' Clinic ', 'Clinic'], ['TEXT', ' ', undefined], ['NUMBER', '3.5', 3.5], ['NUMBER', 'three', 'three'], ['DATE', '2026-12-01', '2026-12-01'],
  ['CHOICE', '10012', '10012'], ['CHOICES', ['1', '2'], ['1', '2']], ['CHOICES', [], undefined], ['CASCADE', '1/2', ['1', '2']], ['CASCADE', '1', ['1']],
  ['WORDS', 'mona, lisa ', ['mona', 'lisa']], ['OTHER', '{"accountId":"a"}', { accountId: 'a' }], ['OTHER', 'plain', 'plain'], ['CHOICE', undefined, undefined],
] as const)('%s: %j is sent as %j', (kind, written, value) => {
  expect(valueOf(field(kind), written as string | string[] | undefined)).toEqual(value);
});

test('a cascade offers each child, and values that have none', () => {
  const cascade = field('CASCADE', [{ id: '1', name: 'Europe', children: [{ id: '2', name: 'Bern' }] }, { id: '3', name: 'Asia' }]);
  expect(choicesOf(cascade)).toEqual([['1/2', 'Europe › Bern'], ['3', 'Asia']]);
  expect([canBeGiven(cascade), canBeGiven(field('OFF_SCREEN'))]).toEqual([true, false]);
});

test.each([
  ['#trackerConnection=ACTIVE&projectId=1', { isConnected: true, code: '', message: '' }],
  ['#trackerError=TrackerDenied&message=It%20was%20denied.', { isConnected: false, code: 'TrackerDenied', message: 'It was denied.' }],
  ['#other', null], ['', null],
])('the answer in %s', (hash, answer) => {
  expect(answerOf(hash)).toEqual(answer);
});
