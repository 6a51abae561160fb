// What a stakeholder reads and answers, one after the other: the summary, each requirement, each story with its
// criteria, then risks, questions and actions.

import { folded } from '$shared/text/fold';
import type {
  Quote, ReviewAction, ReviewCriterion, ReviewDashboard, ReviewQuestion, ReviewRequirement, ReviewRisk, ReviewSummary,
  ReviewUserStory, StakeholderFeedback, TargetType,
} from './types';

type Content =
  | { targetType: 'SUMMARY'; of: ReviewSummary }
  | { targetType: 'REQUIREMENT'; of: ReviewRequirement }
  | { targetType: 'USER_STORY'; of: ReviewUserStory }
  | { targetType: 'ACCEPTANCE_CRITERION'; of: ReviewCriterion; story: ReviewUserStory }
  | { targetType: 'RISK'; of: ReviewRisk }
  | { targetType: 'OPEN_QUESTION'; of: ReviewQuestion }
  | { targetType: 'ACTION_ITEM'; of: ReviewAction };

export type Item = Content & {
  /** Unique in the project. */
  id: string;
  targetId: string | null;
  /** Empty for the summary. */
  code: string;
  /** The sentence that stands for the item. */
  text: string;
  quotes: readonly Quote[];
};

const idOf = (targetType: TargetType, targetId: string | null): string => `${targetType}:${targetId ?? ''}`;
export const itemIdOf = ({ targetType, targetId }: Pick<StakeholderFeedback, 'targetType' | 'targetId'>): string =>
  idOf(targetType, targetType === 'SUMMARY' ? null : targetId);

const byCode = new Intl.Collator('en', { numeric: true });
const inOrder = <Coded extends { code: string }>(list: readonly Coded[]): Coded[] =>
  [...list].sort((one, other) => byCode.compare(one.code, other.code));

interface Coded { id: string; code: string; quotes?: Quote[] }
const common = (targetType: TargetType, { id, code, quotes }: Coded, text: string) =>
  ({ id: idOf(targetType, id), targetId: id, code, text, quotes: quotes ?? [] });

export function itemsOf(dashboard: ReviewDashboard): Item[] {
  const { summary } = dashboard;
  const isSummarised = summary.text !== '' || summary.keyDecisions.length + summary.scope.length + summary.outOfScope.length + summary.assumptions.length > 0;
  const text = withoutCodes(summary.text.split('\n')[0] ?? '');
  const items: Item[] = isSummarised ? [{ targetType: 'SUMMARY', id: idOf('SUMMARY', null), targetId: null, code: '', text, quotes: [], of: summary }] : [];
  for (const of of inOrder(dashboard.requirements)) items.push({ targetType: 'REQUIREMENT', of, ...common('REQUIREMENT', of, of.statement) });
  for (const story of inOrder(dashboard.userStories)) {
    items.push({ targetType: 'USER_STORY', of: story, ...common('USER_STORY', story, story.description) });
    for (const of of story.acceptanceCriteria) {
      items.push({ targetType: 'ACCEPTANCE_CRITERION', of, story, ...common('ACCEPTANCE_CRITERION', of, of.text), code: `${story.code} · ${of.code}` });
    }
  }
  for (const of of inOrder(dashboard.risks)) items.push({ targetType: 'RISK', of, ...common('RISK', of, of.title || of.description) });
  for (const of of inOrder(dashboard.openQuestions)) items.push({ targetType: 'OPEN_QUESTION', of, ...common('OPEN_QUESTION', of, of.question) });
  for (const of of inOrder(dashboard.actionItems)) items.push({ targetType: 'ACTION_ITEM', of, ...common('ACTION_ITEM', of, of.text) });
  return items;
}

export type Kind = 'ALL' | Exclude<TargetType, 'SUMMARY' | 'ACCEPTANCE_CRITERION'>;
/** The kinds by which the list can be narrowed; a criterion belongs to its story, the summary to none. */
export const KINDS: readonly Kind[] = ['ALL', 'REQUIREMENT', 'USER_STORY', 'RISK', 'OPEN_QUESTION', 'ACTION_ITEM'];
export const kindOf = ({ targetType }: Item): Kind =>
  targetType === 'ACCEPTANCE_CRITERION' ? 'USER_STORY' : targetType === 'SUMMARY' ? 'ALL' : targetType;

/** A part of the summary without the codes of the items that it names: whoever looks for a code looks for its item. */
function withoutCodes(text: string): string { return text.replace(/ ?\(?\b(?:REQ|US|RISK|Q|ACT|DEC)-\d+\)?/g, ''); }

function wordsOf(item: Item): string {
  const more = ((): (string | null)[] => {
    switch (item.targetType) {
      case 'SUMMARY': return [item.of.text, ...item.of.keyDecisions, ...item.of.scope, ...item.of.outOfScope, ...item.of.assumptions].map(withoutCodes);
      case 'REQUIREMENT': case 'USER_STORY': return [item.of.title];
      case 'ACCEPTANCE_CRITERION': return [item.of.given, item.of.when, item.of.then];
      case 'RISK': return [item.of.description, item.of.mitigation];
      case 'OPEN_QUESTION': return [item.of.why];
      case 'ACTION_ITEM': return [];
    }
  })();
  return folded([item.code, item.text, ...more].filter(Boolean).join('\n'));
}

export interface Search {
  words: string;
  kind: Kind;
  /** Only what has no feedback of this person. */
  unanswered: boolean;
}

/** Finds items of which each searched word is a part. Folding is dear, so an index is made once for the items. */
export function searcher(items: readonly Item[]): (search: Search, isAnswered: (item: Item) => boolean) => Item[] {
  let index: string[] | null = null;
  return ({ words, kind, unanswered }, isAnswered) => {
    const wanted = folded(words).split(/\s+/).filter(Boolean);
    if (wanted.length > 0) index ??= items.map(wordsOf);
    return items.filter((item, at) =>
      (kind === 'ALL' || kindOf(item) === kind) && !(unanswered && isAnswered(item)) && wanted.every((word) => index?.[at]?.includes(word)));
  };
}

/**
 * The item to which a step leads. The present one may be out of the list, where it was answered or the search has
 * changed; then the step counts from the place at which it would stand. Null: there is none.
 */
export function neighbour(all: readonly Item[], shown: readonly Item[], id: string | null, by: 1 | -1): Item | null {
  const at = shown.findIndex((item) => item.id === id);
  if (at >= 0) return shown[at + by] ?? null;
  const place = all.findIndex((item) => item.id === id);
  const order = new Map(all.map((item, index) => [item.id, index]));
  const isBeyond = (item: Item): boolean => ((order.get(item.id) ?? 0) - place) * by > 0;
  const beyond = shown.filter(isBeyond);
  return beyond.at(by > 0 ? 0 : -1) ?? null;
}
