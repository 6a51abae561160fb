// The views of a project: what each is called, who sees it, and where its script is.

import type { Component } from 'svelte';
import type { Schemas } from '$shared/api/client';
import type { IconName } from '$shared/ui/Icon.svelte';
import type { Key } from '$shared/words/text.svelte';
import type { Project } from './project/project.svelte';

export interface View {
  /** The segment of the address. */
  name: string;
  label: Key;
  icon: IconName;
  /** Which of the project's counts stands beside the name. */
  count?: keyof Schemas['Project']['counts'];
  /** Who may see it; without it, every member. */
  isFor?: (project: Project) => boolean;
  load: () => Promise<{ default: Component<{ project: Project }> }>;
}

const VIEWS: readonly View[] = [
  { name: 'home', label: 'home.heading', icon: 'home', load: () => import('./home/Home.svelte') },
  { name: 'documents', label: 'documents.heading', icon: 'file', count: 'documents', load: () => import('./documents/Documents.svelte') },
  { name: 'meetings', label: 'meetings.heading', icon: 'calendar', count: 'meetings', load: () => import('./meetings/Meetings.svelte') },
  { name: 'runs', label: 'run.heading', icon: 'spark', load: () => import('./runs/Runs.svelte') },
  { name: 'results', label: 'results.heading', icon: 'list', count: 'requirements', load: () => import('./results/Results.svelte') },
  { name: 'proposals', label: 'proposals.heading', icon: 'columns', load: () => import('./proposals/Proposals.svelte') },
  { name: 'conflicts', label: 'conflicts.heading', icon: 'warn', load: () => import('./conflicts/Conflicts.svelte') },
  { name: 'trace', label: 'trace.heading', icon: 'link', load: () => import('./trace/Trace.svelte') },
  { name: 'baselines', label: 'baselines.heading', icon: 'flag', load: () => import('./baselines/Baselines.svelte') },
  { name: 'feedback', label: 'feedback.heading', icon: 'comment', isFor: (project) => project.isAnalyst, load: () => import('./feedback/FeedbackView.svelte') },
  { name: 'exports', label: 'exports.heading', icon: 'out', load: () => import('./exports/Exports.svelte') },
  { name: 'history', label: 'history.heading', icon: 'history', load: () => import('./history/History.svelte') },
  { name: 'people', label: 'people.heading', icon: 'people', count: 'members', load: () => import('./people/People.svelte') },
  { name: 'settings', label: 'settings.heading', icon: 'gear', load: () => import('./settings/SettingsView.svelte') },
];

export const viewsFor = (project: Project): View[] => VIEWS.filter(({ isFor }) => !isFor || isFor(project));

export const viewOf = (project: Project, name: string): View | undefined => viewsFor(project).find((view) => view.name === name);

export const countOf = ({ count }: View, { counts }: Schemas['Project']): number => (count ? counts[count] : 0);
