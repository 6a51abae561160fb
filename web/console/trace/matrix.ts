// The trace matrix as lines of a table: one for each story of a requirement, or one where it has none.

import type { Schemas } from '$shared/api/client';

export const GAPS = ['NO_STORY', 'NO_CRITERIA', 'NO_SOURCE', 'NOT_EXPORTED', 'SUSPECT'] as const;
export type Gap = (typeof GAPS)[number];
export type Row = Schemas['TraceRow'];
export interface Line {
  id: string;
  /** The row whose first line this is; what belongs to the requirement is shown there alone. */
  row: Row | null;
  /** Null for a story of no requirement. */
  requirement: Row['requirement'] | null;
  story: Schemas['TracedStory'] | null;
}

export function linesOf({ rows, orphans }: Pick<Schemas['TraceMatrix'], 'rows' | 'orphans'>): Line[] {
  const lines = rows.flatMap((row): Line[] => {
    const { requirement } = row;
    if (row.userStories.length === 0) return [{ id: requirement.id, row, requirement, story: null }];
    return row.userStories.map((story, index) => ({ id: `${requirement.id} ${story.id}`, row: index === 0 ? row : null, requirement, story }));
  });
  return [...lines, ...orphans.map((story) => ({ id: story.id, row: null, requirement: null, story }))];
}

/** The rows with a gap (`ANY`: with any) whose requirement or stories have the words in their codes or title. */
export function narrowed(rows: readonly Row[], gap: Gap | 'ANY' | '', words: string): Row[] {
  const wanted = words.trim().toLocaleLowerCase();
  const has = ({ requirement: { code, title }, userStories }: Row): boolean =>
    [code, title, ...userStories.map((story) => story.code)].some((text) => text.toLocaleLowerCase().includes(wanted));
  return rows.filter((row) => (gap === '' || (gap === 'ANY' ? row.gaps.length > 0 : row.gaps.includes(gap))) && (wanted === '' || has(row)));
}
