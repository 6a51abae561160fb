// The projects of the signed-in user: all of them for the navigation, and what is found for the page.

import { attempt, currentUser, whenSignedOut } from '$shared/account.svelte';
import { api, pages, unwrap, type Schemas } from '$shared/api/client';

export type Project = Schemas['Project'];

/** How many projects are asked at once for what waits in them. */
const LANES = 4;
/** In how many projects of a list that is looked for: each is a call of its own. */
const MOST_ASKED = 40;

class Projects {
  /** Those that are not archived, the newest first. */
  items = $state.raw<Project[]>([]);
  isLoaded = $state(false);
  /** How many requirements wait for a review, by the project. */
  waiting = $state.raw<ReadonlyMap<string, number>>(new Map());

  load = (): Promise<void> => attempt(async () => {
    const asker = currentUser()?.email;
    const items = await listed({ status: 'ACTIVE' });
    if (asker !== currentUser()?.email) return;
    this.items = items;
    this.isLoaded = true;
  });

  /** Forgets the projects of a user who is gone. */
  clear(): void {
    [this.items, this.isLoaded, this.waiting] = [[], false, new Map()];
  }

  async create(name: string, description: string): Promise<Project> {
    const project = await unwrap(api.POST('/api/projects', { body: { name, description } }));
    this.items = [project, ...this.items];
    return project;
  }

  /** Looks for what waits in these projects, where the user is one who decides. */
  async lookForWaiting(projects: readonly Project[]): Promise<void> {
    const left = projects.filter(({ status, myRole, counts }) => status === 'ACTIVE' && myRole !== 'STAKEHOLDER' && counts.requirements > 0).slice(0, MOST_ASKED);
    const asker = currentUser()?.email;
    const lane = async (): Promise<void> => {
      for (let project = left.shift(); project; project = left.shift()) {
        const params = { path: { projectId: project.id }, query: { limit: 1, status: 'NEEDS_REVIEW' as const } };
        // To not know it is no fault of the page.
        const found = await unwrap(api.GET('/api/projects/{projectId}/requirements', { params })).catch(() => null);
        if (found && asker === currentUser()?.email) this.waiting = new Map(this.waiting).set(project.id, found.totalCount);
      }
    };
    await Promise.all(Array.from({ length: LANES }, lane));
  }
}

/** All projects that match. */
export async function listed(filter: { status?: Project['status']; search?: string }): Promise<Project[]> {
  const items: Project[] = [];
  for await (const page of pages((cursor) => api.GET('/api/projects', { params: { query: { limit: 100, ...filter, ...(cursor && { cursor }) } } }))) {
    items.push(...page.items);
  }
  return items;
}

export const projects = new Projects();
whenSignedOut(() => projects.clear());
