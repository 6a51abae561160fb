// A passage of the item that a comment speaks of.

/** A comment has as many characters at most, its quotation included. */
export const MOST_CHARACTERS = 5_000;
/** More than this of a passage is cut: the comment is to have room, too. */
const MOST_QUOTED = 1_000;

/** The comment with the passage at its head, marked as a quotation, and with what was written before below it. */
export function quoting(passage: string, comment: string): string {
  const letters = [...passage.trim()];
  if (letters.length === 0) return comment;
  const cut = letters.length > MOST_QUOTED ? `${letters.slice(0, MOST_QUOTED).join('').trimEnd()}…` : letters.join('');
  const lines = cut.split(/\s*\n\s*/).map((line) => `> ${line}`);
  return `${lines.join('\n')}\n\n${comment.trimStart()}`;
}

/** As the server counts: Unicode scalar values. */
export const lengthOf = (comment: string): number => [...comment.trim()].length;

/** What is selected within an element, as people read it; empty where nothing is, or where the selection begins elsewhere. */
export function selectedIn(element: Element | undefined, selection: Selection | null): string {
  if (!element || !selection || selection.isCollapsed || selection.rangeCount === 0) return '';
  const range = selection.getRangeAt(0);
  return element.contains(range.startContainer) && element.contains(range.endContainer) ? selection.toString().trim() : '';
}

/** A comment without its quotation has said nothing. */
export const saysNothing = (comment: string): boolean =>
  comment.split('\n').every((line) => line.trim() === '' || line.startsWith('> '));
