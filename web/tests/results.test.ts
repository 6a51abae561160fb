import { beforeEach, expect, test } from 'vitest';
import { changed, fieldsOf, sent, Work } from '../console/results/drafts.svelte';
import { areSame, listed, NONE, readFilters, readViews, writeFilters, writeViews, type Filters } from '../console/results/filters';
import { impactOf, itemOf, statusOf, type Decision, type Item, type Requirement, type Reviewed, type UserStory } from '../console/results/items';

const TODAY = '2026-11-26';

const requirement = (number: number, of: Partial<Requirement> = {}): Reviewed => itemOf({
  kind: 'REQUIREMENT',
  of: {
    id: `r${number}`, code: `REQ-${String(number).padStart(3, '0')}`, title: `Title ${number}`, statement: `Statement ${number}`, type: 'FUNCTIONAL', category: null,
    priority: 'MEDIUM', confidence: 1, workflowStatus: 'NEEDS_REVIEW', qualityIssues: [], sources: [], duplicateOf: null, conflictsWith: [], version: 1,
    revisionSource: 'AI_GENERATED', suspect: false, runId: 'run', createdAt: '2026-11-01T00:00:00Z', updatedAt: '2026-11-01T00:00:00Z', pattern: null,
    original: null, deferredUntil: null, ...of,
  },
});
const story = (of: Partial<UserStory> = {}): Reviewed => itemOf({
  kind: 'USER_STORY',
  of: {
    id: 's1', code: 'US-001', requirementIds: [], title: 'Print', role: 'nurse', goal: 'print', benefit: null, description: 'As a nurse, I want to print.', priority: 'HIGH',
    acceptanceCriteria: [], workflowStatus: 'NEEDS_REVIEW', qualityScore: 0.5, qualityIssues: [], sources: [], version: 1, revisionSource: 'AI_GENERATED', suspect: false,
    trackerIssue: null, runId: 'run', createdAt: '2026-11-01T00:00:00Z', updatedAt: '2026-11-02T00:00:00Z', original: null, deferredUntil: null, ...of,
  },
});
const decision: Item = itemOf({
  kind: 'DECISION',
  of: {
    id: 'd1', code: 'DEC-001', text: 'We print on both sides.', sources: [], workflowStatus: 'NEEDS_REVIEW', version: 1,
    revisionSource: 'AI_GENERATED', suspect: false, runId: 'r', createdAt: '2026-01-01T00:00:00Z', updatedAt: '2026-01-01T00:00:00Z', deferredUntil: null,
  },
});

const codes = (items: readonly Item[], filters: Partial<Filters>): string[] => listed(items, { ...NONE, ...filters }, TODAY).map(({ code }) => code);

beforeEach(() => localStorage.clear());

test('items are in the order of kinds and numbers, whatever order they came in', () => {
  const items = [decision, story(), requirement(10), requirement(1000), requirement(9)];
  expect(codes(items, {})).toEqual(['REQ-009', 'REQ-010', 'REQ-1000', 'US-001', 'DEC-001']);
  expect(codes(items, { sort: 'priority' })).toEqual(['US-001', 'REQ-009', 'REQ-010', 'REQ-1000', 'DEC-001']);
  expect(codes(items, { sort: 'updated' })[0]).toBe('US-001');
  expect(codes(items, { sort: 'confidence' })[0]).toBe('US-001');
});

test('each filter leaves what is meant', () => {
  const items = [
    requirement(1, { workflowStatus: 'APPROVED', type: 'CONSTRAINT' }), requirement(2, { deferredUntil: '2026-12-01' }), requirement(3, { deferredUntil: '2026-11-26' }),
    requirement(4, { priority: 'HIGH', qualityIssues: [{ code: 'VAGUE_WORD', message: '' }] }), story({ suspect: true }), decision,
  ];
  expect(codes(items, { kind: 'DECISION' })).toEqual(['DEC-001']);
  expect(codes(items, { status: 'APPROVED' })).toEqual(['REQ-001']);
  expect(codes(items, { status: 'DEFERRED' })).toEqual(['REQ-002']);
  expect(codes(items, { status: 'NEEDS_REVIEW' })).toEqual(['REQ-003', 'REQ-004', 'US-001']);
  expect(codes(items, { type: 'CONSTRAINT' })).toEqual(['REQ-001']);
  expect(codes(items, { priority: 'HIGH' })).toEqual(['REQ-004', 'US-001']);
  expect(codes(items, { findings: true })).toEqual(['REQ-004']);
  expect(codes(items, { suspect: true })).toEqual(['US-001']);
});

test('a search finds all of its words, in any order, without case and accents', () => {
  const items = [requirement(1, { statement: 'Der Café-Plan muss drucken' }), requirement(2, { statement: 'يجب طباعة التَّقرير' })];
  expect(codes(items, { words: 'PLAN cafe' })).toEqual(['REQ-001']);
  expect(codes(items, { words: 'التقرير' })).toEqual(['REQ-002']);
  expect(codes(items, { words: 'req-002' })).toEqual(['REQ-002']);
  expect(codes(items, { words: 'cafe طباعة' })).toEqual([]);
});

test('filters come back from the address as they were written into it, and what is unknown is left out', () => {
  const filters: Filters = { ...NONE, kind: 'USER_STORY', status: 'DEFERRED', findings: true, sort: 'updated', words: 'a & b' };
  const query = new URLSearchParams(Object.entries(writeFilters(filters)).flatMap(([name, value]) => (value ? [[name, value]] : [])));
  expect(query.toString()).toBe('kind=USER_STORY&status=DEFERRED&findings=1&sort=updated&q=a+%26+b');
  expect(readFilters(query)).toEqual(filters);
  expect(areSame(readFilters(new URLSearchParams('kind=NONSENSE&sort=no')), NONE)).toBe(true);
});

test('views are kept for their project alone, and a damaged store is none', () => {
  const view = { name: 'To review', filters: { ...NONE, status: 'NEEDS_REVIEW' as const } };
  expect(writeViews('one', [view])).toBe(true);
  expect(readViews('one')).toEqual([view]);
  expect(readViews('other')).toEqual([]);
  localStorage.setItem('colloquy.results.views.one', '{');
  expect(readViews('one')).toEqual([]);
});

test('what a decision would do is what the server does', () => {
  const of = (workflowStatus: Requirement['workflowStatus'], suspect = false): Reviewed => requirement(1, { workflowStatus, suspect });
  const all = (item: Reviewed): string[] => (['APPROVED', 'REJECTED', 'NEEDS_REVIEW', 'DEFERRED'] as Decision[]).map((one) => impactOf(item, one));
  expect(all(of('NEEDS_REVIEW'))).toEqual(['changes', 'changes', 'already', 'changes']);
  expect(all(of('APPROVED'))).toEqual(['already', 'refused', 'changes', 'changes']);
  expect(all(of('APPROVED', true))).toEqual(['changes', 'refused', 'changes', 'changes']);
  expect(all(of('REJECTED'))).toEqual(['refused', 'already', 'changes', 'changes']);
  expect(all(requirement(1, { deferredUntil: '2026-12-01' }))).toEqual(['changes', 'changes', 'changes', 'changes']);
});

test('a deferral ends with its day', () => {
  expect(statusOf(requirement(1, { deferredUntil: '2026-11-27' }), TODAY)).toBe('DEFERRED');
  expect(statusOf(requirement(1, { deferredUntil: TODAY }), TODAY)).toBe('NEEDS_REVIEW');
});

test('an edit sends what is different, and nothing for empty criteria', () => {
  const base = story({ acceptanceCriteria: [{ id: 'c', code: 'AC-001', text: 'It prints.', given: null, when: 'asked', then: null }] });
  const fields = fieldsOf(base);
  expect(changed('USER_STORY', fieldsOf(base), fields)).toEqual([]);
  fields.benefit = ' to know ';
  fields.acceptanceCriteria.push({ key: -1, text: '  ', given: '', when: '', then: '' });
  expect(changed('USER_STORY', fieldsOf(base), fields)).toEqual(['benefit']);
  expect(sent(fields, 'benefit')).toBe('to know');
  expect(sent(fields, 'role')).toBe('nurse');
  expect(sent(fields, 'acceptanceCriteria')).toEqual([{ text: 'It prints.', given: null, when: 'asked', then: null }]);
  fields.role = '';
  expect(sent(fields, 'role')).toBeNull();
});

test('the page asks before it is left while an edit is changed or a comment is written', () => {
  const work = new Work();
  const leave = (): boolean => dispatchEvent(new Event('beforeunload', { cancelable: true }));
  const base = story();
  work.drafts.begin(base);
  expect(leave()).toBe(true);
  work.drafts.of(base).fields.goal = 'to be heard';
  expect(leave()).toBe(false);
  work.drafts.end(base.id);
  expect(leave()).toBe(true);
  work.comments.set(base.id, 'Which ward?');
  expect(leave()).toBe(false);
  work.comments.clear();
});
