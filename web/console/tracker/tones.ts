// The colours of what became of exports and their items.

export const EXPORT_TONES = { QUEUED: 'plain', RUNNING: 'accent', COMPLETED: 'good', PARTIAL: 'warn', FAILED: 'grave', CANCELLED: 'plain' } as const;
export const ITEM_TONES = { PENDING: 'plain', CREATED: 'good', UPDATED: 'accent', SKIPPED_UNCHANGED: 'plain', FAILED: 'grave' } as const;
