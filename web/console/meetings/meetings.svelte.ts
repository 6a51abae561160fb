// The meetings of a project by what they are now, kept up to date by events.

import { api, type Schemas } from '$shared/api/client';
import { LiveList } from '../live-list.svelte';
import type { Project } from '../project/project.svelte';

export type Meeting = Schemas['MeetingListItem'];
type Status = Schemas['MeetingStatus'];

/** Of more meetings than these no single events are heard. */
const MOST_FOLLOWED = 40;

export class MeetingLists {
  search = $state('');
  readonly #lists: Record<Status, LiveList<Meeting>>;
  readonly #followed = new Map<string, () => void>();

  constructor(readonly project: Project) {
    const list = (status: Status, whole: boolean) => new LiveList<Meeting>((cursor, limit) => {
      const search = this.search.trim();
      const query = { status, limit, ...(cursor && { cursor }), ...(search && { search }) };
      return api.GET('/api/projects/{projectId}/meetings', { params: { path: project.path, query } });
    }, { whole });
    // What is to come is sorted by its time, for which all of it has to be here.
    this.#lists = { LIVE: list('LIVE', true), SCHEDULED: list('SCHEDULED', true), ENDED: list('ENDED', false), CANCELLED: list('CANCELLED', false) };
  }

  get live(): Meeting[] { return byTime(this.#lists.LIVE.items); }
  get upcoming(): Meeting[] { return byTime(this.#lists.SCHEDULED.items); }
  get past(): Meeting[] { return byTime(this.#lists.ENDED.items).reverse(); }
  get cancelled(): Meeting[] { return byTime(this.#lists.CANCELLED.items).reverse(); }
  get isLoaded(): boolean { return this.#all.every(({ isLoaded }) => isLoaded); }
  get hasFailed(): boolean { return this.#all.some(({ hasFailed }) => hasFailed); }
  get isEmpty(): boolean { return this.#all.every(({ items }) => items.length === 0); }
  list(status: Status): LiveList<Meeting> { return this.#lists[status]; }

  get #all(): LiveList<Meeting>[] { return Object.values(this.#lists); }

  /** Loads the lists and follows them; returns what ends that. */
  start(): () => void {
    void this.load();
    const end = this.project.on(['meeting.', 'recording.'], this.request);
    return () => {
      end();
      for (const list of this.#all) list.cancel();
      for (const unfollow of this.#followed.values()) unfollow();
      this.#followed.clear();
    };
  }

  readonly request = (): void => this.#all.forEach((list) => list.request());

  readonly load = async (): Promise<void> => {
    await Promise.all(this.#all.map((list) => list.load()));
  };

  /** Hears of each meeting that may still change. */
  follow(): void {
    const open = [...this.live, ...this.upcoming].slice(0, MOST_FOLLOWED);
    const wanted = new Set(open.map(({ id }) => `meeting:${id}`));
    for (const [topic, unfollow] of this.#followed) {
      if (wanted.has(topic)) continue;
      unfollow();
      this.#followed.delete(topic);
    }
    for (const topic of wanted) {
      if (this.#followed.has(topic)) continue;
      const event = ({ event: name }: { event: string }): void => {
        if (/^(meeting|participant)\./.test(name)) this.request();
      };
      this.#followed.set(topic, this.project.follow(topic, { snapshot: () => undefined, event }));
    }
  }
}

const byTime = (meetings: readonly Meeting[]): Meeting[] =>
  [...meetings].sort((one, other) => Date.parse(one.scheduledAt) - Date.parse(other.scheduledAt));
