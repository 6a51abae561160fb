// Who was invited to the project and has not come yet.

import { SvelteMap, SvelteSet } from 'svelte/reactivity';
import { attempt } from '$shared/account.svelte';
import { api, unwrap, type Schemas } from '$shared/api/client';
import { notify } from '$shared/ui/toasts.svelte';
import { day, t } from '$shared/words/text.svelte';
import { LiveList } from '../live-list.svelte';
import type { Project } from '../project/project.svelte';

export type ProjectInvitation = Schemas['ProjectInvitation'];

export class OpenInvitations {
  readonly list = new LiveList<ProjectInvitation>((cursor, limit) =>
    api.GET('/api/projects/{projectId}/invitations', { params: { path: this.project.path, query: { limit, ...(cursor && { cursor }) } } }));
  /** What is being sent again just now. */
  readonly busy = new SvelteSet<string>();
  /** The links of invitations that were sent here, by their ids: they are told once. */
  readonly links = new SvelteMap<string, string>();

  constructor(readonly project: Project) {}

  /** Throws ApiError. */
  async invite(body: Schemas['AddProjectMember']): Promise<void> {
    await this.#sent(await unwrap(api.POST('/api/projects/{projectId}/members', { params: { path: this.project.path }, body })));
  }

  readonly resend = async ({ id }: ProjectInvitation): Promise<void> => {
    this.busy.add(id);
    await attempt(async () => {
      const params = { path: { ...this.project.path, invitationId: id } };
      await this.#sent(await unwrap(api.POST('/api/projects/{projectId}/invitations/{invitationId}/resend', { params })));
    });
    this.busy.delete(id);
  };

  /** Throws ApiError. */
  async revoke({ id, email }: ProjectInvitation): Promise<void> {
    const params = { path: { ...this.project.path, invitationId: id } };
    await unwrap(api.DELETE('/api/projects/{projectId}/invitations/{invitationId}', { params }));
    notify(t('people.open.revoked', { email }));
    await this.list.load();
  }

  async #sent({ id, email, link, expiresAt }: ProjectInvitation): Promise<void> {
    if (link) this.links.set(id, link);
    notify(t('people.invited', { email, day: day(expiresAt) }));
    await this.list.load();
  }
}
