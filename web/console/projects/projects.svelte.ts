// The projects of the signed-in user.

import { attempt } from '$shared/account.svelte';
import { api, pages, unwrap, type Schemas } from '$shared/api/client';

export type Project = Schemas['Project'];

class Projects {
  items = $state.raw<Project[]>([]);
  isLoaded = $state(false);

  load = (): Promise<void> => attempt(async () => {
    const items: Project[] = [];
    for await (const page of pages((cursor) => api.GET('/api/projects', { params: { query: { limit: 100, ...(cursor && { cursor }) } } }))) {
      items.push(...page.items);
    }
    this.items = items;
    this.isLoaded = true;
  });

  async create(name: string, description: string): Promise<Project> {
    const project = await unwrap(api.POST('/api/projects', { body: { name, description } }));
    this.items = [project, ...this.items];
    return project;
  }
}

export const projects = new Projects();
