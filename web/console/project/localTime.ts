// Times in the reader's own zone or another one, for inputs of the type datetime-local.

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

const MINUTE_MS = 60_000;

/** The minutes by which the clocks of a zone are ahead of UTC at an instant. */
function offsetAt(zone: string, at: number): number {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: zone, hourCycle: 'h23', year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric', second: 'numeric',
  });
  const part = Object.fromEntries(format.formatToParts(at).map(({ type, value }) => [type, Number(value)]));
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = part;
  return Math.round((Date.UTC(year, month - 1, day, hour, minute, second) - at) / MINUTE_MS);
}

/** What the clocks of a zone show at an instant, as `2026-11-24T10:00`. */
export const wallClock = (at: Date, zone: string): string =>
  new Date(at.getTime() + offsetAt(zone, at.getTime()) * MINUTE_MS).toISOString().slice(0, 16);

/** The instant at which the clocks of a zone show `local`, at its offset: `2026-11-24T10:00:00+02:00`. Null for no time. */
export function inZone(local: string, zone: string): string | null {
  const shown = /^\d{4,}-\d\d-\d\dT\d\d:\d\d/.test(local) ? Date.parse(`${local.slice(0, 16)}:00Z`) : NaN;
  if (Number.isNaN(shown)) return null;
  // The offset at the instant itself, which is not known yet: near a change of the clocks the first guess may be wrong.
  const guess = offsetAt(zone, shown);
  const offset = offsetAt(zone, shown - guess * MINUTE_MS);
  const two = (value: number): string => String(Math.trunc(value)).padStart(2, '0');
  return `${local.slice(0, 16)}:00${offset < 0 ? '-' : '+'}${two(Math.abs(offset) / 60)}:${two(Math.abs(offset) % 60)}`;
}

/** The zones that the browser knows, the reader's own among them. */
export const zones = (): string[] => [...new Set([timeZone(), 'UTC', ...Intl.supportedValuesOf('timeZone')])].sort();
