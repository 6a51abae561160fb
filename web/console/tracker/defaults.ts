// Values for the fields that an issue type requires and stories don't have, as they are written in a form and as they are sent.

import type { Schemas } from '$shared/api/client';

export type MissingField = Schemas['MissingTrackerField'];
/** What stands in the form: a text, an id, or (of a cascade) `value/child`; a list where several may be chosen. */
export type Written = string | string[];

/** Whether a person can give a value here. */
export const canBeGiven = ({ kind }: MissingField): boolean => kind !== 'FROM_STORY' && kind !== 'OFF_SCREEN';

function other(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** The value to be saved; undefined where nothing was given. */
export function valueOf({ kind }: MissingField, written: Written | undefined): unknown {
  if (Array.isArray(written)) return written.length > 0 ? written : undefined;
  const text = written?.trim() ?? '';
  if (text === '') return undefined;
  switch (kind) {
    case 'NUMBER': return Number.isNaN(Number(text)) ? text : Number(text);
    case 'CASCADE': return text.split('/');
    case 'WORDS': return text.split(/[\s,]+/).filter(Boolean);
    case 'OTHER': return other(text);
    default: return text;
  }
}

/** The choices of a field: a cascade has one for each value with each of its children. */
export function choicesOf({ kind, allowedValues }: MissingField): [value: string, words: string][] {
  if (kind !== 'CASCADE') return allowedValues.map(({ id, name }) => [id, name]);
  return allowedValues.flatMap(({ id, name, children = [] }): [string, string][] =>
    children.length > 0 ? children.map((child) => [`${id}/${child.id}`, `${name} › ${child.name}`]) : [[id, name]]);
}
