import { expect, test } from 'vitest';
import { pairsOf, type Requirement } from '../console/conflicts/pairs';

const requirement = (id: string, more: Partial<Requirement> = {}): Requirement => ({
  id, code: `REQ-${id}`, title: `Title ${id}`, statement: '', type: 'FUNCTIONAL', category: null, priority: 'HIGH', confidence: 1, workflowStatus: 'NEEDS_REVIEW',
  qualityIssues: [], sources: [], duplicateOf: null, conflictsWith: [], version: 1, revisionSource: 'AI_GENERATED', suspect: false, runId: '', createdAt: '', updatedAt: '',
  original: null, pattern: null, deferredUntil: null, ...more,
});
const short = (all: Requirement[]): string[] => pairsOf(all).map(({ kind, one, other, isSettled }) => `${kind} ${one.id} ${other.id}${isSettled ? ' settled' : ''}`);

test('each pair comes once, and a contradiction goes before a repetition', () => {
  const all = [requirement('1', { conflictsWith: ['2'] }), requirement('2', { conflictsWith: ['1'], duplicateOf: '1' }), requirement('10', { duplicateOf: '2' })];
  expect(short(all)).toEqual(['CONFLICT 1 2', 'DUPLICATE 2 10']);
});

test('what a pair names and is not there is no pair', () => {
  expect(short([requirement('1', { conflictsWith: ['9', '1'], duplicateOf: '9' })])).toEqual([]);
});

test.each([
  ['NEEDS_REVIEW', 'NEEDS_REVIEW', false], ['APPROVED', 'NEEDS_REVIEW', false], ['APPROVED', 'APPROVED', true],
  ['REJECTED', 'NEEDS_REVIEW', true], ['NEEDS_REVIEW', 'REJECTED', true], ['APPROVED', 'REJECTED', true],
] as const)('%s beside %s: settled %s', (one, other, isSettled) => {
  const [pair] = pairsOf([requirement('1', { workflowStatus: one }), requirement('2', { duplicateOf: '1', workflowStatus: other })]);
  expect(pair?.isSettled).toBe(isSettled);
});

test('the reason is that of this pair', () => {
  const message = (title: string, why: string): Requirement['qualityIssues'][number] => ({ code: 'CONFLICT', message: `It contradicts “${title}”. ${why}` });
  const one = requirement('1', { conflictsWith: ['2', '3'], qualityIssues: [message('Title 2', 'Two hours and one.'), message('Title 3', 'Never and always.')] });
  expect(pairsOf([one, requirement('2'), requirement('3')]).map(({ reason }) => reason)).toEqual(['Two hours and one.', 'Never and always.']);
});
