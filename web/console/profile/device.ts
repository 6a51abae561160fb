// What a User-Agent says of the browser and the system, in words that people know.

const BROWSERS: readonly [RegExp, string][] = [
  [/Edg\//, 'Edge'], [/OPR\//, 'Opera'], [/Firefox\//, 'Firefox'], [/(HeadlessChrome|Chrome|CriOS)\//, 'Chrome'], [/Safari\//, 'Safari'], [/^curl\//, 'curl'],
];
const SYSTEMS: readonly [RegExp, string][] = [
  [/iPhone|iPad/, 'iOS'], [/Android/, 'Android'], [/Windows/, 'Windows'], [/Mac OS X/, 'macOS'], [/Linux/, 'Linux'],
];

/** Such as `Firefox, Linux`; the text as it is where it names no browser that is known, null where there is none. */
export function deviceOf(agent: string): string | null {
  const found = [BROWSERS, SYSTEMS].map((known) => known.find(([pattern]) => pattern.test(agent))?.[1]).filter(Boolean);
  return found.length > 0 ? found.join(', ') : agent.trim() || null;
}
