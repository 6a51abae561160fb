// What is decided about items: shown at once, sent, and taken back where the server refuses. The last one can be undone.

import { reportFailure } from '$shared/account.svelte';
import { api, ApiError, unwrap, type Schemas } from '$shared/api/client';
import { dismissKey, notify } from '$shared/ui/toasts.svelte';
import { explain } from '$shared/words/errors';
import { t } from '$shared/words/text.svelte';
import { impactOf, itemOf, type Decision, type Requirement, type Reviewed, type UserStory } from './items';
import type { Expected, Results } from './results.svelte';

type Signature = Schemas['SignatureInput'];
/** A decision with what goes with it. */
export type Verdict =
  | { decision: 'APPROVED'; signature?: Signature }
  | { decision: 'REJECTED'; comment: string; reasonCode: Schemas['RejectionReason'] }
  | { decision: 'NEEDS_REVIEW' }
  | { decision: 'DEFERRED'; deferredUntil: string; comment?: string };

export type RequirementEdit = Schemas['EditRequirement'];
export type StoryEdit = Schemas['EditUserStory'];

/** Takes the last change back; gives what to say then, null for nothing. */
type Undo = () => Promise<string | null>;

/** The most items of one call. */
const MOST_AT_ONCE = 200;
/** After so many calls in a row that failed, no further one is made for the same items. */
const MOST_FAILURES_IN_A_ROW = 2;
const TOAST = 'results.decision';

const SAID = { APPROVED: 'results.approved', REJECTED: 'results.rejected', NEEDS_REVIEW: 'results.reopened', DEFERRED: 'results.deferred' } as const;
const SAID_OF_MANY = {
  APPROVED: 'results.many.approved', REJECTED: 'results.many.rejected', NEEDS_REVIEW: 'results.many.reopened', DEFERRED: 'results.many.deferred',
} as const;

const bodyOf = (verdict: Verdict): Schemas['UpdateItemStatus'] => {
  const { decision, ...more } = verdict;
  return { workflowStatus: decision === 'DEFERRED' ? 'NEEDS_REVIEW' : decision, ...more };
};
const expectedOf = (verdict: Verdict): Expected => ({
  workflowStatus: verdict.decision === 'DEFERRED' ? 'NEEDS_REVIEW' : verdict.decision,
  deferredUntil: verdict.decision === 'DEFERRED' ? verdict.deferredUntil : null,
  suspect: false,
});

export class Decisions {
  #undo = $state.raw<Undo | null>(null);
  /** How many calls are on their way. */
  sending = $state(0);
  /** How far a change of many items is. */
  bulk = $state.raw<{ done: number; total: number; isStopping: boolean } | null>(null);

  constructor(readonly results: Results) {}

  get canUndo(): boolean {
    return this.#undo !== null;
  }

  /** Takes the last change back. */
  readonly undo = async (): Promise<void> => {
    // What is being decided about many comes to its end first.
    if (this.bulk !== null) return;
    const undo = this.#undo;
    dismissKey(TOAST);
    if (!undo) return notify(t('results.undo.nothing'));
    this.#undo = null;
    let words: string | null;
    try {
      words = await undo();
    } catch (thrown) {
      if (!(thrown instanceof ApiError)) throw thrown;
      if (thrown.status === 412) notify(t('results.undo.changed'), 'fault');
      else reportFailure(thrown);
      return;
    }
    if (words !== null) notify(words, 'news', { key: TOAST });
  };

  /** Decides about one item: shown at once, and taken back where the server refuses, which is said then. Returns whether it was done. */
  async decide(item: Reviewed, verdict: Verdict): Promise<boolean> {
    const sent = this.#decided(item, verdict);
    // Undone before it was answered, it is undone once it was.
    const undo = this.#undoOf([item], sent.then((saved) => (saved ? [saved] : [])), verdict.decision);
    this.#offer(t(SAID[verdict.decision], { code: item.code }), undo);
    const saved = await sent;
    if (saved === null && this.#undo === undo) {
      this.#undo = null;
      dismissKey(TOAST);
    }
    return saved !== null;
  }

  async #decided(item: Reviewed, verdict: Verdict): Promise<Reviewed | null> {
    const { results } = this;
    results.expect([item.id], expectedOf(verdict));
    this.sending += 1;
    try {
      const saved = await this.#send(item, bodyOf(verdict));
      results.put(saved);
      return saved;
    } catch (thrown) {
      if (!(thrown instanceof ApiError)) throw thrown;
      await this.refused(item, thrown);
      return null;
    } finally {
      this.sending -= 1;
      results.expect([item.id], null);
    }
  }

  /**
   * Decides about all items that take it, portion after portion, until `stop` is called. What could not be sent stays selected. Throws
   * ApiError if nothing was done.
   */
  async decideAll(items: readonly Reviewed[], verdict: Verdict): Promise<void> {
    const { results } = this;
    const meant = items.filter((item) => impactOf(item, verdict.decision) === 'changes');
    const { done, left } = await this.#sendAll(meant, bodyOf(verdict), expectedOf(verdict));
    const stay = new Set(left.map(({ id }) => id));
    for (const { id } of items) if (!stay.has(id)) results.marked.delete(id);
    const saved = done.flatMap(({ id }) => (results.find(id) as Reviewed | undefined) ?? []);
    if (done.length === 0) return;
    const undo = this.#undoOf(done, Promise.resolve(saved), verdict.decision);
    this.#offer(t(SAID_OF_MANY[verdict.decision], { count: done.length }), undo);
  }

  /** Sends no further portion of what is being decided about many. */
  readonly stop = (): void => {
    if (this.bulk) this.bulk = { ...this.bulk, isStopping: true };
  };

  /**
   * Sets the status of many items. What was changed meanwhile, what could not be sent, and what was not sent any more is said. Gives
   * those that were set, and those that were not sent. Throws ApiError if nothing was done.
   */
  async #sendAll(
    items: readonly Reviewed[], body: Schemas['UpdateItemStatus'], expected: Expected | null,
  ): Promise<{ done: Reviewed[]; left: Reviewed[] }> {
    const { results } = this;
    const done: Reviewed[] = [];
    const left: Reviewed[] = [];
    let refused = 0;
    let failure: ApiError | null = null;
    let failuresInARow = 0;
    let isOver = false;
    const resume = results.hold();
    this.bulk = { done: 0, total: items.length, isStopping: false };
    try {
      for (let from = 0; from < items.length; from += MOST_AT_ONCE) {
        const part = items.slice(from, from + MOST_AT_ONCE);
        if (isOver || this.bulk.isStopping) {
          left.push(...part);
          continue;
        }
        if (expected) results.expect(part.map(({ id }) => id), expected);
        try {
          const accepted = await this.#sendPart(part, body);
          done.push(...part.filter(({ id }) => accepted.has(id)));
          refused += part.length - accepted.size;
          failuresInARow = 0;
        } catch (thrown) {
          if (!(thrown instanceof ApiError)) throw thrown;
          failure ??= thrown;
          left.push(...part);
          results.expect(part.map(({ id }) => id), null);
          failuresInARow += 1;
          // What is wrong with all of them, or a server that takes no more, is met once.
          isOver = !thrown.passes || failuresInARow === MOST_FAILURES_IN_A_ROW;
        }
        this.bulk = { ...this.bulk, done: from + part.length };
      }
    } finally {
      this.bulk = null;
      resume();
      if (left.length < items.length) await results.refresh(items);
      results.expect(items.map(({ id }) => id), null);
    }
    if (failure && done.length === 0) throw failure;
    if (refused > 0) notify(t('results.many.refused', { count: refused }), 'fault');
    if (failure) notify(t('results.many.failed', { count: left.length, reason: explain(failure) }), 'fault');
    else if (left.length > 0) notify(t('results.many.stopped', { count: left.length }));
    return { done, left };
  }

  /** Gives the ids of those that were set. */
  async #sendPart(part: readonly Reviewed[], body: Schemas['UpdateItemStatus']): Promise<ReadonlySet<string>> {
    const items = part.map(({ kind, id, of }) => ({ targetType: kind, id, version: of.version }));
    const { path } = this.results.project;
    const answer = await unwrap(api.POST('/api/projects/{projectId}/items/status', { params: { path }, body: { ...body, items } }));
    return new Set(answer.items.filter(({ ok }) => ok).map(({ id }) => id));
  }

  /** Saves an edit of the version that was edited, and approves it at once if that is wanted. Throws ApiError; 412 if the item is at another version by now. */
  async edit(item: Reviewed, edit: RequirementEdit | StoryEdit, isApproved = false): Promise<void> {
    const saved = await this.#edit(item, isApproved ? { ...edit, workflowStatus: 'APPROVED' } : edit);
    this.results.put(saved);
    if (Object.keys(edit).length === 0) return this.#offer(t('results.approved', { code: item.code }), this.#undoOf([item], Promise.resolve([saved]), 'APPROVED'));
    const former = Object.fromEntries(Object.keys(edit).map((name) => [name, formerOf(item, name)]));
    this.#offer(t(isApproved ? 'results.savedAndApproved' : 'results.saved', { code: item.code }), async () => {
      this.results.put(await this.#edit(saved, former));
      this.results.chosen = item.id;
      return t('results.undo.edit', { code: item.code });
    });
  }

  /** Writes a story anew, heeding a wish and open feedback of others. Throws ApiError. */
  async regenerate(item: Extract<Reviewed, { kind: 'USER_STORY' }>, feedback: string, feedbackIds: string[]): Promise<Schemas['RegeneratedUserStory']> {
    const params = { path: { ...this.results.project.path, userStoryId: item.id }, header: match(item) };
    const written = await unwrap(api.POST('/api/projects/{projectId}/user-stories/{userStoryId}/regenerate', { params, body: { feedback, feedbackIds } }));
    const { diff, notes, ...story } = written;
    void notes;
    this.results.putStory(story);
    if (diff.length > 0) this.#undo = this.#undoOfRegeneration(item, story);
    return written;
  }

  /** Takes the former text of a story back. */
  #undoOfRegeneration(former: Extract<Reviewed, { kind: 'USER_STORY' }>, story: UserStory): Undo {
    const edit = Object.fromEntries(STORY_FIELDS.map((name) => [name, formerOf(former, name)]));
    return async () => {
      this.results.put(await this.#edit({ ...former, of: story }, edit));
      return t('results.undo.edit', { code: former.code });
    };
  }

  #offer(words: string, undo: Undo | null): void {
    this.#undo = undo;
    notify(words, 'news', { key: TOAST, ...(undo && { action: { words: t('results.undo'), act: () => void this.undo() } }) });
  }

  /** What was decided is taken back by reopening; what was reopened gets its former status again where that needs no reason. */
  #undoOf(before: readonly Reviewed[], after: Promise<readonly Reviewed[]>, decision: Decision): Undo | null {
    const [first] = before;
    const code = before.length === 1 && first ? first.code : null;
    if (decision !== 'NEEDS_REVIEW') {
      return () => this.#setAll(after, { workflowStatus: 'NEEDS_REVIEW' }, (count) => (code === null ? t('results.many.reopened', { count }) : t('results.undo.reopened', { code })));
    }
    if (this.results.project.details?.signedApprovals) return null;
    if (!before.every(({ of }) => of.workflowStatus === 'APPROVED')) return null;
    return () => this.#setAll(after, { workflowStatus: 'APPROVED' }, (count) => (code === null ? t('results.many.approved', { count }) : t('results.approved', { code })));
  }

  /** Those that were changed meanwhile stay as they are, which is said. Gives what `words` says of how many were set, null where none was. */
  async #setAll(decided: Promise<readonly Reviewed[]>, body: Schemas['UpdateItemStatus'], words: (count: number) => string): Promise<string | null> {
    const items = await decided;
    const [only] = items;
    if (items.length === 1 && only) {
      this.results.put(await this.#send(only, body));
      this.results.chosen = only.id;
      return words(1);
    }
    const { done } = await this.#sendAll(items, body, null);
    return done.length > 0 ? words(done.length) : null;
  }

  async #send({ kind, id, of }: Reviewed, body: Schemas['UpdateItemStatus']): Promise<Reviewed> {
    const header = match({ of });
    const path = this.results.project.path;
    if (kind === 'REQUIREMENT') {
      const saved = await unwrap(api.PATCH('/api/projects/{projectId}/requirements/{requirementId}/status', { params: { path: { ...path, requirementId: id }, header }, body }));
      return itemOf({ kind, of: saved });
    }
    const saved = await unwrap(api.PATCH('/api/projects/{projectId}/user-stories/{userStoryId}/status', { params: { path: { ...path, userStoryId: id }, header }, body }));
    return itemOf({ kind, of: saved });
  }

  async #edit({ kind, id, of }: Reviewed, body: RequirementEdit | StoryEdit): Promise<Reviewed> {
    const header = match({ of });
    const path = this.results.project.path;
    if (kind === 'REQUIREMENT') {
      const params = { path: { ...path, requirementId: id }, header };
      return itemOf({ kind, of: await unwrap(api.PATCH('/api/projects/{projectId}/requirements/{requirementId}', { params, body: body as RequirementEdit })) });
    }
    const params = { path: { ...path, userStoryId: id }, header };
    return itemOf({ kind, of: await unwrap(api.PATCH('/api/projects/{projectId}/user-stories/{userStoryId}', { params, body: body as StoryEdit })) });
  }

  /** Says why an item was not changed. Where somebody else was quicker, what is there now is shown. */
  async refused(item: Reviewed, error: ApiError): Promise<void> {
    if (error.status !== 412 && error.status !== 409) return reportFailure(error);
    await this.results.refresh([item]);
    const action = { words: t('results.look'), act: () => { this.results.chosen = item.id; } };
    notify(error.status === 412 ? t('results.changedMeanwhile', { code: item.code }) : `${item.code}: ${explain(error)}`, 'fault', { action });
  }
}

const match = ({ of }: { of: { version: number } }): { 'If-Match': string } => ({ 'If-Match': `"${of.version}"` });

const STORY_FIELDS = ['title', 'role', 'goal', 'benefit', 'priority', 'acceptanceCriteria'] as const;

/** A field as an edit would set it to what it was. */
function formerOf({ of }: Reviewed, name: string): unknown {
  if (name === 'acceptanceCriteria') return (of as UserStory).acceptanceCriteria.map(({ text, given, when, then }) => ({ text, given, when, then }));
  return (of as Requirement & UserStory)[name as keyof (Requirement & UserStory)];
}
