// Short messages about what has just happened.

export interface Toast { id: number; text: string; kind: 'news' | 'fault' }

const SHOWN_MS = 6_000;
let last = 0;
export const toasts = $state<Toast[]>([]);

export function notify(text: string, kind: Toast['kind'] = 'news'): void {
  const id = ++last;
  toasts.push({ id, text, kind });
  // A failure stays until it is dismissed.
  if (kind === 'news') setTimeout(() => dismiss(id), SHOWN_MS);
}

export function dismiss(id: number): void {
  const index = toasts.findIndex((toast) => toast.id === id);
  if (index >= 0) toasts.splice(index, 1);
}
