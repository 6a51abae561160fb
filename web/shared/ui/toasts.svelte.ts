// Short words about what just event.

export interface Toast { id: number; text: string; kind: 'news' | 'fault' }

const LASTS_MS = 6_000;
let last = 0;
export const toasts = $state<Toast[]>([]);

export function notify(text: string, kind: Toast['kind'] = 'news'): void {
  const id = ++last;
  toasts.push({ id, text, kind });
  // A fault stays until it was read.
  if (kind === 'news') setTimeout(() => dismiss(id), LASTS_MS);
}

export function dismiss(id: number): void {
  const place = toasts.findIndex((toast) => toast.id === id);
  if (place >= 0) toasts.splice(place, 1);
}
