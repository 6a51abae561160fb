// How many items were decided on each day, from the approval events.

import type { Schemas } from '$shared/api/client';

type Event = Pick<Schemas['ApprovalEvent'], 'at' | 'fromStatus' | 'toStatus'>;
export interface DayCounts { day: Date; approved: number; rejected: number; reopened: number }

const startOfDay = (at: Date): Date => new Date(at.getFullYear(), at.getMonth(), at.getDate());

/**
 * The last `days` days in the reader's zone, oldest first, the days without decisions too. `events` are newest first; where
 * they are not all there are (`isWhole` false), days of which some may be missing are left out.
 */
export function decisionsByDay(events: readonly Event[], isWhole: boolean, now: Date, days: number): DayCounts[] {
  const oldest = events.at(-1);
  const known = isWhole || !oldest ? null : startOfDay(new Date(oldest.at));
  const counts = new Map<number, DayCounts>();
  for (let back = days - 1; back >= 0; back--) {
    const day = new Date(now.getFullYear(), now.getMonth(), now.getDate() - back);
    if (known === null || day > known) counts.set(day.getTime(), { day, approved: 0, rejected: 0, reopened: 0 });
  }
  for (const { at, fromStatus, toStatus } of events) {
    const count = counts.get(startOfDay(new Date(at)).getTime());
    if (!count || fromStatus === toStatus) continue;
    if (toStatus === 'APPROVED') count.approved += 1;
    else if (toStatus === 'REJECTED') count.rejected += 1;
    else if (fromStatus !== null) count.reopened += 1;
  }
  return [...counts.values()];
}
