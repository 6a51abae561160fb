import { api, pages, unwrap, type Schemas } from '$shared/api/client';
import { notify } from '$shared/ui/toasts.svelte';
import { explain } from '$shared/words/errors';

export type ProjectItem = Schemas['Project'];

class Projects {
  items = $state.raw<ProjectItem[]>([]);
  isLoaded = $state(false);

  async load(): Promise<void> {
    try {
      const items: ProjectItem[] = [];
      for await (const page of pages((cursor) => api.GET('/api/projects', { params: { query: { limit: 100, ...(cursor && { cursor }) } } }))) {
        items.push(...page.items);
        this.items = [...items];
      }
      this.isLoaded = true;
    } catch (thrown) {
      notify(explain(thrown), 'fault');
    }
  }

  async make(name: string, description: string): Promise<void> {
    await unwrap(api.POST('/api/projects', { body: { name, description } }));
    await this.load();
  }
}

export const projects = new Projects();
