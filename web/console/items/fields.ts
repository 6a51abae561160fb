// Items of a project as fields of text, to be shown beside each other.

import type { Schemas } from '$shared/api/client';
import { has, label, t } from '$shared/words/text.svelte';

export type Item = Schemas['ProjectItem'];
export interface FieldDifference { name: string; before: string; after: string }

/** What people read of an item of any kind first. */
export function titleOf(item: Item): string {
  if ('title' in item) return item.title;
  return 'question' in item ? item.question : item.text;
}

/** Fields whose values are names of the interface, each with the group of its words. */
const NAMED: Record<string, string> = { type: 'type', category: 'category', priority: 'priority', workflowStatus: 'workflow', severity: 'severity', likelihood: 'severity' };

/** A value of a field in the reader's words. */
export function valueWords(name: string, value: unknown): string {
  if (value === null || value === undefined) return '';
  const group = NAMED[name];
  if (group && typeof value === 'string') return label(group, value);
  if (Array.isArray(value)) return value.map((one) => valueWords('', one)).join('\n');
  if (typeof value === 'object') return 'text' in value ? String(value.text) : Object.values(value).filter((one) => typeof one === 'string').join(' ');
  return String(value);
}

/** The words for the name of a field; `AC-001.given` is a field of an acceptance criterion. */
export function fieldWords(name: string): string {
  const [, code, part] = /^(\w+-\d+)\.(\w+)$/.exec(name) ?? [];
  if (code && part) return `${code} · ${fieldWords(part)}`;
  const key = `field.${name}`;
  return has(key) ? t(key) : name;
}

/** The content of an item. */
export function fieldsOf(item: Item): [name: string, text: string][] {
  return Object.entries(contentOf(item)).map(([name, value]) => [name, valueWords(name, value)]);
}

function contentOf(item: Item): Record<string, unknown> {
  if ('statement' in item) return { title: item.title, statement: item.statement, type: item.type, category: item.category, priority: item.priority };
  if ('goal' in item) return { title: item.title, role: item.role, goal: item.goal, benefit: item.benefit, acceptanceCriteria: item.acceptanceCriteria, priority: item.priority };
  if ('severity' in item) return { title: item.title, description: item.description, severity: item.severity, likelihood: item.likelihood, mitigation: item.mitigation };
  if ('question' in item) return { question: item.question, why: item.why, raisedBy: item.raisedBy };
  return 'dueDate' in item ? { text: item.text, assignee: item.assignee, dueDate: item.dueDate } : { text: item.text };
}

/** The fields that differ; where there is only one version, all that it has. */
export function differencesOf(before: Item | null, after: Item | null): FieldDifference[] {
  const [old, young] = [before ? fieldsOf(before) : [], after ? fieldsOf(after) : []];
  const names = new Set([...old, ...young].map(([name]) => name));
  const [was, is] = [new Map(old), new Map(young)];
  const all = [...names].map((name) => ({ name, before: was.get(name) ?? '', after: is.get(name) ?? '' }));
  return all.filter(({ before: one, after: other }) => one !== other);
}
