// Times in the reader's own zone, for inputs of the type datetime-local.

export const timeZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone;

export function nextHour(now: Date): Date {
  const next = new Date(now);
  next.setHours(now.getHours() + 1, 0, 0, 0);
  return next;
}

/** As `2026-11-24T10:00`, which `new Date()` reads as local time. */
export function localInput(at: Date): string {
  const two = (value: number): string => String(value).padStart(2, '0');
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}T${two(at.getHours())}:${two(at.getMinutes())}`;
}

/** As `2026-11-24T10:00:00+02:00`: e-mails show the time at this offset. */
export function withOffset(at: Date): string {
  const minutes = -at.getTimezoneOffset();
  const two = (value: number): string => String(Math.trunc(value)).padStart(2, '0');
  return `${localInput(at)}:00${minutes < 0 ? '-' : '+'}${two(Math.abs(minutes) / 60)}:${two(Math.abs(minutes) % 60)}`;
}
