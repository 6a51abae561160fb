/** Letters without case, accents, vowel signs and the Arabic stretching sign: as people type when they search. */
export const folded = (text: string): string => text.normalize('NFKD').replace(/[\p{M}\u0640]/gu, '').toLowerCase();
