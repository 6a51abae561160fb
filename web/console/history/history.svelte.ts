// The approval trail of a project, and whether it is intact.

import { attempt } from '$shared/account.svelte';
import { api, unwrap, type Schemas } from '$shared/api/client';
import { coalesce } from '../project/coalesce';
import { LiveList } from '../live-list.svelte';
import type { Project } from '../project/project.svelte';

export type ApprovalEvent = Schemas['ApprovalEvent'];
export interface HistoryFilter { action?: Schemas['ApprovalAction']; targetType?: Schemas['ProposalTarget']; actorId?: string }

/** The whole trail is read to verify it: not after each of many decisions. */
const VERIFY_MS = 3_000;

export class HistoryState {
  filter = $state.raw<HistoryFilter>({});
  verification = $state.raw<Schemas['TrailVerification'] | null>(null);
  isVerifying = $state(false);
  members = $state.raw<Schemas['ProjectMember'][]>([]);
  readonly list = new LiveList<ApprovalEvent>((cursor, limit) =>
    api.GET('/api/projects/{projectId}/approval-events', { params: { path: this.project.path, query: { ...this.filter, limit, ...(cursor && { cursor }) } } }));
  readonly #verifySoon = coalesce(() => this.verify(), VERIFY_MS);

  constructor(readonly project: Project) {}

  start(): () => void {
    void this.verify();
    void this.#loadMembers();
    const end = this.project.on(['item.'], () => {
      this.list.request();
      this.#verifySoon.request();
    });
    return () => {
      end();
      this.list.cancel();
      this.#verifySoon.cancel();
    };
  }

  narrow(filter: HistoryFilter): void {
    this.filter = filter;
    this.list.request();
  }

  readonly verify = (): Promise<void> => attempt(async () => {
    this.isVerifying = true;
    try {
      this.verification = await unwrap(api.GET('/api/projects/{projectId}/approval-events/verification', { params: { path: this.project.path } }));
    } finally {
      this.isVerifying = false;
    }
  });

  readonly #loadMembers = (): Promise<void> => attempt(async () => {
    const { items } = await unwrap(api.GET('/api/projects/{projectId}/members', { params: { path: this.project.path, query: { limit: 100 } } }));
    this.members = items;
  });
}
