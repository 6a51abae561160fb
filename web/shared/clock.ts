// Waiting and chance, so that tests can do without either.

export interface Clock {
  setTimeout(act: () => void, ms: number): unknown;
  clearTimeout(timer: unknown): void;
  /** From 0 to 1. */
  random(): number;
}

export const realClock: Clock = {
  setTimeout: (act, ms) => setTimeout(act, ms),
  clearTimeout: (timer) => clearTimeout(timer as number),
  random: Math.random,
};
