// What people said of a story, of its criteria and of its requirements, and nobody has decided about yet.

import { api, pages, type Schemas } from '$shared/api/client';
import type { Project } from '../project/project.svelte';
import type { UserStory } from './items';

export type Feedback = Schemas['StakeholderFeedback'];

const PAGE = 100;

/** Throws ApiError. */
export async function openFeedbackOn(project: Project, { id, code, acceptanceCriteria, requirementIds }: UserStory): Promise<Feedback[]> {
  const about = new Set<string | null>([id, ...acceptanceCriteria.map((criterion) => criterion.id), ...requirementIds]);
  // The code of a criterion begins with its story's, so that one search finds what is said of all of them.
  const found = await Promise.all([{ search: code }, ...requirementIds.map((targetId) => ({ targetId }))].map((narrowed) => all(project, narrowed)));
  const isOpen = ({ status }: Feedback): boolean => status === 'OPEN' || status === 'IN_PROGRESS';
  return found.flat().filter((one) => isOpen(one) && about.has(one.targetId)).sort((one, other) => Date.parse(other.createdAt) - Date.parse(one.createdAt));
}

async function all(project: Project, narrowed: { search: string } | { targetId: string }): Promise<Feedback[]> {
  const list = (cursor: string | undefined) => api.GET('/api/projects/{projectId}/feedback', {
    params: { path: project.path, query: { limit: PAGE, ...narrowed, ...(cursor && { cursor }) } },
  });
  const found: Feedback[] = [];
  for await (const page of pages(list)) found.push(...page.items);
  return found;
}
