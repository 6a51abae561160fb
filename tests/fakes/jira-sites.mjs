// The sites of the fake Jira: their projects, issue types and issues, and the index of their search, which lags behind.

import { randomUUID } from 'node:crypto';
import { describeField, usualFields } from './jira-fields.mjs';

const TYPES = [
  { id: '10000', name: 'Epic', hierarchyLevel: 1 },
  { id: '10001', name: 'Story' },
  { id: '10002', name: 'Task' },
  { id: '10003', name: 'Sub-task', subtask: true, hierarchyLevel: -1 },
];
const STATUSES = {
  new: { id: '10100', name: 'To Do', statusCategory: { id: 2, key: 'new', colorName: 'blue-gray', name: 'To Do' } },
  indeterminate: {
    id: '10101',
    name: 'In Progress',
    statusCategory: { id: 4, key: 'indeterminate', colorName: 'yellow', name: 'In Progress' },
  },
  done: { id: '10102', name: 'Done', statusCategory: { id: 3, key: 'done', colorName: 'green', name: 'Done' } },
};
const sites = new Map();

/** The site with this cloud id, or `undefined`. */
export const siteOf = (id) => sites.get(id);
export const allSites = () => [...sites.values()];

/** Makes a site; `given` is described at the head of jira.mjs. `accounts` gives who may use it. */
export function makeSite(given, accounts) {
  const site = new Site(given, accounts);
  if (sites.has(site.id)) throw new Error('there is a site with this id');
  sites.set(site.id, site);
  return site;
}

export class Site {
  constructor(
    { id = randomUUID(), name = 'acme', projects, issueTypes = TYPES, lagMs = 300, unknownIds = 'leaveOut', maxSearch = 100 },
    accounts,
  ) {
    Object.assign(this, { id, name, url: `https://${name}.atlassian.net`, lagMs, unknownIds, maxSearch });
    this.accounts = () => accounts(this.id);
    this.projects = (projects ?? [{ id: '10000', key: 'EX', name: 'Example' }]).map((one) => ({
      ...one,
      id: String(one.id),
      last: 0,
    }));
    this.types = issueTypes.map((type) => this.#describe(type));
    this.calls = {};
    this.violations = [];
    this.faults = [];
    this.limits = {};
    this.buckets = new Map();
    // Issues by id; keys, former ones too, to ids; versions of issues as the search finds them, by id.
    this.issues = new Map();
    this.keys = new Map();
    this.index = new Map();
    this.last = 10_000;
  }

  #describe({ subtask = false, hierarchyLevel = 0, projects, fields = [], off = [], ...type }) {
    const described = {
      description: '',
      ...type,
      id: String(type.id),
      subtask,
      hierarchyLevel,
      iconUrl: `${this.url}/images/${type.id}.svg`,
    };
    const screen = usualFields(described, this.projects, off);
    for (const [number, field] of fields.entries()) {
      const one = describeField(field, Number(`${described.id}${number}`) % 100_000);
      const usual = screen.findIndex(({ fieldId }) => fieldId === one.fieldId);
      if (usual < 0) screen.push(one);
      else screen[usual] = one;
    }
    return { ...described, projects: projects?.map(String), screen };
  }

  /** The project with this id or key. */
  project(idOrKey) {
    const word = String(idOrKey ?? '').toUpperCase();
    return this.projects.find(({ id, key }) => id === word || key.toUpperCase() === word);
  }

  /** The issue types of a project. */
  typesOf(project) {
    return this.types.filter(({ projects }) => !projects || projects.includes(project.id) || projects.includes(project.key));
  }

  /** The issue with this id or key, which may be one from before a move. */
  find(idOrKey) {
    return this.issues.get(String(idOrKey)) ?? this.issues.get(this.keys.get(String(idOrKey).toUpperCase()));
  }

  /** Adds an issue with values that were checked. */
  create({ project, type, values, properties, creator }) {
    const id = String(++this.last);
    const now = Date.now();
    const issue = {
      id,
      key: this.#nextKey(project),
      projectId: project.id,
      typeId: type.id,
      values,
      properties,
      creator,
      status: 'new',
      created: now,
      updated: now,
    };
    this.#store(issue);
    return issue;
  }

  /** Changes values, properties or the status of an issue. */
  change(issue, { values = {}, properties = {}, status = issue.status }) {
    const changed = {
      ...issue,
      values: { ...issue.values, ...values },
      properties: { ...issue.properties, ...properties },
      status,
      updated: Date.now(),
    };
    this.#store(changed);
    return changed;
  }

  /** Moves an issue to another project: it gets a new key, and keeps its id. */
  move(issue, project) {
    const moved = { ...issue, key: this.#nextKey(project), projectId: project.id, updated: Date.now() };
    this.#store(moved);
    return moved;
  }

  remove(issue) {
    this.issues.delete(issue.id);
    for (const [key, id] of this.keys) if (id === issue.id) this.keys.delete(key);
    this.#reindex(issue.id, null);
  }

  /** The issues as the search knows them now; those in `reconciled` (a set of ids) as they are. */
  indexed(reconciled) {
    const now = Date.now();
    const found = [];
    for (const [id, versions] of this.index) {
      // Later versions are kept until their time has come; of those that have, only the last counts.
      while (versions.length > 1 && versions[1].from <= now) versions.shift();
      const view = versions[0].from <= now ? versions[0].issue : null;
      const issue = reconciled.has(id) ? this.issues.get(id) : view;
      if (issue) found.push(issue);
    }
    return found;
  }

  /** An issue as the API shows it: all of its fields. */
  fieldsOf(issue) {
    const project = this.project(issue.projectId);
    const type = this.types.find(({ id }) => id === issue.typeId);
    const person = ({ id, name }) => ({ accountId: id, displayName: name, active: true, accountType: 'atlassian' });
    const creator = person(issue.creator);
    const { screen, projects, ...issuetype } = type;
    return {
      description: null,
      labels: [],
      assignee: null,
      duedate: null,
      reporter: creator,
      ...issue.values,
      project: { id: project.id, key: project.key, name: project.name, self: this.self(`project/${project.id}`) },
      issuetype: { ...issuetype, self: this.self(`issuetype/${type.id}`) },
      status: { ...STATUSES[issue.status], self: this.self(`status/${STATUSES[issue.status].id}`) },
      statusCategory: STATUSES[issue.status].statusCategory,
      resolution: issue.status === 'done' ? { id: '10000', name: 'Done' } : null,
      creator,
      created: stamp(issue.created),
      updated: stamp(issue.updated),
    };
  }

  /** The address of something at this site, as the gateway writes it. */
  self(path) {
    return `https://api.atlassian.com/ex/jira/${this.id}/rest/api/3/${path}`;
  }

  #nextKey(project) {
    project.last += 1;
    return `${project.key}-${project.last}`;
  }

  #store(issue) {
    this.issues.set(issue.id, issue);
    this.keys.set(issue.key.toUpperCase(), issue.id);
    this.#reindex(issue.id, issue);
  }

  #reindex(id, issue) {
    const versions = this.index.get(id) ?? [];
    versions.push({ from: Date.now() + this.lagMs, issue });
    this.index.set(id, versions);
  }
}

/** A time as Jira writes it: 2026-11-25T21:36:30.123+0000. */
function stamp(time) {
  return new Date(time).toISOString().replace('Z', '+0000');
}
