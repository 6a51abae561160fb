// The project that is open: what it is, what its reader may do in it, and its events for the views that show parts of it.

import { reportFailure } from '$shared/account.svelte';
import { api, ApiError, unwrap, type Schemas } from '$shared/api/client';
import { readAgain } from '$shared/api/retries.svelte';
import { TopicSocket, type Listener, type TopicEvent } from '$shared/topics/socket';
import { coalesce } from './coalesce';
import { Waiting } from './waiting.svelte';

/** How often views look again by themselves while no events arrive. */
const POLL_MS = 5_000;
/** So long the views wait for the project to be followed. */
const PATIENCE_MS = 1_000;

/** Called with the event, or with null where events may have been missed. */
type Wanted = (event: TopicEvent | null) => void;
interface Subscription { prefixes: readonly string[]; wanted: Wanted }

export class Project {
  details = $state.raw<Schemas['Project'] | null>(null);
  /** Whether the project does not exist, or is not open to this user. */
  isMissing = $state(false);
  /** Whether it could not be loaded. */
  hasFailed = $state(false);
  /**
   * Whether its views are shown. What they load once the project is followed is told of its changes; what they loaded before may be old by
   * then, and would have to be loaded a second time.
   */
  readonly isReady: boolean = $derived.by(() => this.details !== null && this.#hasBegun);
  /** Whether events arrive. */
  isConnected = $state(true);
  readonly waiting = new Waiting(this);

  /** Whether the project is followed, or that has taken too long. */
  #hasBegun = $state(false);
  readonly #subscriptions = new Set<Subscription>();
  readonly #reload = coalesce(() => this.reload());
  readonly #socket = new TopicSocket({
    ticket: async () => (await unwrap(api.POST('/api/ws/tickets'))).ticket,
    connection: (isUp) => {
      this.isConnected = isUp;
      if (!isUp) this.#hasBegun = true;
    },
  });
  #polling: ReturnType<typeof setInterval> | undefined;

  constructor(readonly id: string) {}

  get role(): Schemas['ProjectRole'] | null { return this.details?.myRole ?? null; }
  get isActive(): boolean { return this.details?.status === 'ACTIVE'; }
  /** Analysts and those above, in any project. */
  get isAnalyst(): boolean { return this.role !== null && this.role !== 'STAKEHOLDER'; }
  get isManager(): boolean { return this.role === 'MANAGER' || this.role === 'OWNER'; }
  get isOwner(): boolean { return this.role === 'OWNER'; }
  /** Whether content may be changed: by analysts, in a project that is not archived. */
  get canWork(): boolean { return this.isActive && this.isAnalyst; }
  get canManage(): boolean { return this.isActive && this.isManager; }

  /** The path parameter of every operation on the project. */
  get path(): { projectId: string } { return { projectId: this.id }; }

  /** Loads the project and follows it; returns what ends that. */
  start(): () => void {
    this.#follow();
    void this.reload();
    const patience = setTimeout(() => { this.#hasBegun = true; }, PATIENCE_MS);
    this.#polling = setInterval(() => {
      if (!this.isConnected && navigator.onLine) this.#tell(null);
    }, POLL_MS);
    return () => {
      clearTimeout(patience);
      clearInterval(this.#polling);
      this.#reload.cancel();
      this.waiting.cancel();
      this.#socket.close();
    };
  }

  readonly reload = async (): Promise<void> => {
    this.hasFailed = false;
    try {
      this.details = await readAgain(() => unwrap(api.GET('/api/projects/{projectId}', { params: { path: this.path } })));
    } catch (thrown) {
      if (thrown instanceof ApiError && [400, 403, 404].includes(thrown.status)) {
        this.isMissing = true;
        this.#socket.close();
        return;
      }
      this.hasFailed = true;
      reportFailure(thrown);
    }
  };

  /**
   * Calls `wanted` for the project's events whose names begin with one of `prefixes`, such as `document.`; with null where
   * events may have been missed: after a gap, and now and then while the connection is broken. Returns what ends it.
   */
  on(prefixes: readonly string[], wanted: Wanted): () => void {
    const subscription = { prefixes, wanted };
    this.#subscriptions.add(subscription);
    return () => this.#subscriptions.delete(subscription);
  }

  /** Follows another topic, such as `run:ID`, over the same socket. Returns what ends it. */
  follow(topic: string, listener: Listener): () => void {
    return this.#socket.follow(topic, listener);
  }

  #follow(): void {
    this.#socket.follow(`project:${this.id}`, {
      // Something may have changed between a load and the snapshot.
      snapshot: () => {
        this.#tell(null);
        this.#hasBegun = true;
      },
      event: (event) => this.#tell(event),
      refused: () => this.#reload.request(),
    });
  }

  #tell(event: TopicEvent | null): void {
    // The counts of the project come by GET alone. Progress changes none of them.
    if (event === null || !/\.(progressed|chunk)$/.test(event.event)) this.#reload.request();
    this.waiting.tell(event);
    for (const { prefixes, wanted } of this.#subscriptions) {
      if (event === null || prefixes.some((prefix) => event.event.startsWith(prefix))) wanted(event);
    }
  }
}
