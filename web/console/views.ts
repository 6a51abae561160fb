// The views of a project: what each is called, who sees it, and where its script is.

import type { Component } from 'svelte';
import type { Schemas } from '$shared/api/client';
import type { IconName } from '$shared/ui/Icon.svelte';
import type { Key } from '$shared/words/text.svelte';
import type { Project } from './project/project.svelte';

/** The groups of the navigation, in the order of the work. */
const GROUPS = ['sources', 'results', 'sharing', 'project'] as const;
type Group = (typeof GROUPS)[number];

export interface View {
  /** The segment of the address. */
  name: string;
  /** Without a group, before all of them. */
  group?: Group;
  label: Key;
  icon: IconName;
  /** How many of what it shows stand beside the name; of pairs, proposals and feedback, how many wait for the reader. */
  count?: (project: Project) => number;
  /** Who may see it; without it, every member. */
  isFor?: (project: Project) => boolean;
  load: () => Promise<{ default: Component<{ project: Project }> }>;
}

const counted = (name: keyof Schemas['Project']['counts']) => ({ details }: Project): number => details?.counts[name] ?? 0;

const VIEWS: readonly View[] = [
  { name: 'home', label: 'home.heading', icon: 'home', load: () => import('./home/Home.svelte') },
  { name: 'documents', group: 'sources', label: 'documents.heading', icon: 'file', count: counted('documents'), load: () => import('./documents/Documents.svelte') },
  { name: 'meetings', group: 'sources', label: 'meetings.heading', icon: 'calendar', count: counted('meetings'), load: () => import('./meetings/Meetings.svelte') },
  { name: 'runs', group: 'sources', label: 'run.heading', icon: 'spark', load: () => import('./runs/Runs.svelte') },
  { name: 'results', group: 'results', label: 'results.heading', icon: 'list', count: counted('requirements'), load: () => import('./results/Results.svelte') },
  { name: 'proposals', group: 'results', label: 'proposals.heading', icon: 'columns', count: ({ waiting }) => waiting.proposals, load: () => import('./proposals/Proposals.svelte') },
  { name: 'conflicts', group: 'results', label: 'conflicts.heading', icon: 'warn', count: ({ waiting }) => waiting.pairs, load: () => import('./conflicts/Conflicts.svelte') },
  { name: 'trace', group: 'results', label: 'trace.heading', icon: 'link', load: () => import('./trace/Trace.svelte') },
  { name: 'baselines', group: 'results', label: 'baselines.heading', icon: 'flag', load: () => import('./baselines/Baselines.svelte') },
  { name: 'history', group: 'results', label: 'history.heading', icon: 'history', load: () => import('./history/History.svelte') },
  { name: 'feedback', group: 'sharing', label: 'feedback.heading', icon: 'comment', count: ({ waiting }) => waiting.feedback, isFor: (project) => project.isAnalyst, load: () => import('./feedback/FeedbackView.svelte') },
  { name: 'exports', group: 'sharing', label: 'exports.heading', icon: 'out', load: () => import('./exports/Exports.svelte') },
  { name: 'people', group: 'project', label: 'people.heading', icon: 'people', count: counted('members'), load: () => import('./people/People.svelte') },
  { name: 'settings', group: 'project', label: 'settings.heading', icon: 'gear', load: () => import('./settings/SettingsView.svelte') },
];

const viewsFor = (project: Project): View[] => VIEWS.filter(({ isFor }) => !isFor || isFor(project));

/** The views in their groups, those without a view left out. */
export const groupsFor = (project: Project): { name: Group | null; views: View[] }[] =>
  [null, ...GROUPS].map((name) => ({ name, views: viewsFor(project).filter(({ group = null }) => group === name) })).filter(({ views }) => views.length > 0);

export const viewOf = (project: Project, name: string): View | undefined => viewsFor(project).find((view) => view.name === name);
