// The issue tracker of a project: its connection, where stories go, and the exports there.

import { attempt } from '$shared/account.svelte';
import { api, unwrap, type Schemas } from '$shared/api/client';
import { BASE } from '$shared/base';
import { notify } from '$shared/ui/toasts.svelte';
import { t } from '$shared/words/text.svelte';
import { LiveList } from '../live-list.svelte';
import { coalesce } from '../project/coalesce';
import type { Project } from '../project/project.svelte';
import { pathOf } from '../route.svelte';

export type Connection = Schemas['TrackerConnection'];
export type Destination = Schemas['TrackerDestination'];
export type TrackerExport = Schemas['TrackerExport'];
export type Provider = Schemas['TrackerProvider'];

/** How often at most the items of an export under way are read again. */
const ITEMS_MS = 700;
export const isUnderWay = ({ status }: Pick<TrackerExport, 'status'>): boolean => status === 'QUEUED' || status === 'RUNNING';

export class TrackerState {
  connection = $state.raw<Connection | null>(null);
  destination = $state.raw<Destination | null>(null);
  /** The export that is looked at, with its items. */
  shown = $state.raw<TrackerExport | null>(null);
  readonly list = new LiveList<TrackerExport>((cursor, limit) =>
    api.GET('/api/projects/{projectId}/tracker/exports', { params: { path: this.project.path, query: { limit, ...(cursor && { cursor }) } } }));
  readonly #reload = coalesce(() => this.reload());
  readonly #reloadShown = coalesce(() => this.#loadShown(), ITEMS_MS);
  #shownId: string | null = null;

  constructor(readonly project: Project) {}

  get isConnected(): boolean { return this.connection?.status === 'ACTIVE' || this.connection?.status === 'NEEDS_REAUTH'; }
  get current(): TrackerExport | undefined { return this.list.items.find(isUnderWay); }

  start(): () => void {
    void this.reload();
    void this.list.load().then(() => this.show(this.list.items[0]?.id ?? null));
    const end = this.project.on(['tracker.', 'export.'], (event) => {
      if (!event || event.event.startsWith('tracker.')) this.#reload.request();
      if (event?.event.startsWith('export.')) this.#take(event.data as TrackerExport);
      if (!event) {
        this.list.request();
        this.#reloadShown.request();
      }
    });
    return () => {
      end();
      this.list.cancel();
      this.#reload.cancel();
      this.#reloadShown.cancel();
    };
  }

  readonly reload = (): Promise<void> => attempt(async () => {
    const { connection, destination } = await unwrap(api.GET('/api/projects/{projectId}/tracker', { params: { path: this.project.path } }));
    this.connection = connection;
    this.destination = destination;
  });

  show(exportId: string | null): void {
    this.#shownId = exportId;
    if (!exportId) this.shown = null;
    else this.#reloadShown.request();
  }

  /** Sends the browser to the tracker, where access is permitted; it comes back to this view. Throws ApiError. */
  async signIn(provider: Provider): Promise<void> {
    const returnUrl = `/${pathOf(this.project.id, 'exports', 'tracker').slice(BASE.length)}`;
    const { authorizeUrl } = await unwrap(api.POST('/api/projects/{projectId}/tracker/connection', { params: { path: this.project.path }, body: { provider, returnUrl } }));
    if (authorizeUrl) location.assign(authorizeUrl);
  }

  /** Throws ApiError. */
  async connect(body: Schemas['StartTrackerConnection']): Promise<void> {
    const { connection } = await unwrap(api.POST('/api/projects/{projectId}/tracker/connection', { params: { path: this.project.path }, body }));
    this.connection = connection;
    notify(t('tracker.connected'));
    await this.reload();
  }

  /** Throws ApiError. */
  readonly disconnect = async (): Promise<void> => {
    this.connection = await unwrap(api.DELETE('/api/projects/{projectId}/tracker/connection', { params: { path: this.project.path } }));
    notify(t('tracker.disconnected'));
    await this.reload();
  };

  /** Throws ApiError. */
  async saveDestination(body: Schemas['SaveTrackerDestination']): Promise<void> {
    this.destination = await unwrap(api.PUT('/api/projects/{projectId}/tracker/destination', { params: { path: this.project.path }, body }));
    notify(t('tracker.destinationSaved'));
  }

  readonly export = (body: Schemas['ExportApprovedUserStories']): Promise<void> => attempt(async () => {
    this.#take(await unwrap(api.POST('/api/projects/{projectId}/tracker/exports', { params: { path: this.project.path }, body })), true);
  });

  readonly cancel = ({ id }: TrackerExport): Promise<void> => attempt(async () => {
    this.#take(await unwrap(api.POST('/api/projects/{projectId}/tracker/exports/{exportId}/cancel', { params: { path: { ...this.project.path, exportId: id } } })));
  });

  #take(found: TrackerExport, isNew = false): void {
    this.list.put(found);
    if (isNew) this.#shownId = found.id;
    if (this.#shownId !== found.id) return;
    // Events leave the items out; those that are known stay until they are read again.
    const items = found.items ?? (this.shown?.id === found.id ? this.shown.items : []);
    this.shown = { ...found, items };
    this.#reloadShown.request();
  }

  readonly #loadShown = (): Promise<void> => attempt(async () => {
    const exportId = this.#shownId;
    if (!exportId) return;
    const found = await unwrap(api.GET('/api/projects/{projectId}/tracker/exports/{exportId}', { params: { path: { ...this.project.path, exportId } } }));
    if (this.#shownId === exportId) this.shown = found;
    if (this.list.items.some(({ id }) => id === exportId)) this.list.put(found);
  });
}
