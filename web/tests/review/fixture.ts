// A small review.

import type { Item } from '../../review/stakeholder/items';
import type { ReviewDashboard, StakeholderFeedback } from '../../review/stakeholder/types';

export const dashboard = (permission: ReviewDashboard['permission'] = 'APPROVER') => ({
  projectId: 'p', projectName: 'Clinic portal', permission, scope: 'ALL', baselineName: null, runId: 'run', generatedAt: '2026-11-25T08:00:00Z',
  summary: { text: 'Patients book by themselves.\nMore.', keyDecisions: [], scope: [], outOfScope: [], assumptions: [] },
  requirements: [
    { id: 'r10', code: 'REQ-010', title: 'Find', statement: 'The café finds a slot.' },
    { id: 'r2', code: 'REQ-002', title: 'Print', statement: 'A doctor prints a letter.' },
  ],
  userStories: [{ id: 's1', code: 'US-001', title: 'Find', description: 'As a doctor, I want a list.', acceptanceCriteria: [{ id: 'c1', code: 'AC-001', text: 'It is shown.', given: null, when: 'a name is typed', then: null }] }],
  risks: [{ id: 'k1', code: 'RISK-001', title: 'Late', description: 'No day was named.', mitigation: null }],
  openQuestions: [{ id: 'q1', code: 'Q-001', question: 'Who may see it?', why: 'Rights.' }],
  actionItems: [{ id: 'a1', code: 'ACT-001', text: 'Ask the hospital.', dueDate: null }],
}) as unknown as ReviewDashboard;

export const itemOf = (id: string): Item => ({ id: `REQUIREMENT:${id}`, targetType: 'REQUIREMENT', targetId: id, code: `REQ-${id}`, text: id, quotes: [] }) as unknown as Item;

let made = 0;
export const feedback = (more: Partial<StakeholderFeedback> = {}): StakeholderFeedback => ({
  id: `f${++made}`, targetType: 'REQUIREMENT', targetId: 'r2', targetCode: 'REQ-002', comment: 'Yes.', verdict: null, status: 'OPEN', resolutionNote: null,
  author: { name: 'Grace', email: null }, createdAt: '2026-11-25T08:00:00Z', resolvedAt: null, ...more,
});
