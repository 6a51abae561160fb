// How sure the engine is, in words: a figure of two digits would promise more than it knows.

export type Confidence = 'LOW' | 'MEDIUM' | 'HIGH';

/** Of a confidence from 0 to 1. */
export function confidenceOf(value: number): Confidence {
  if (value < 0.5) return 'LOW';
  return value < 0.8 ? 'MEDIUM' : 'HIGH';
}
