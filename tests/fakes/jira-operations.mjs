// The operations of the fake Jira on a site, its projects and their issue types. Those on issues are in jira-issues.mjs.

import { issueOperations, refusal } from './jira-issues.mjs';

const NO_PROJECT = (idOrKey) => `No project could be found with key '${idOrKey}'.`;

/** By the name of the operation: `({site, account, params, query, body}) => {status, body}`. `account` is null for nobody. */
export const operations = {
  ...issueOperations,

  getCurrentUser({ site, account }) {
    const { id, name, email } = account;
    const avatarUrls = avatars(site, `useravatar/${id}`);
    return {
      status: 200,
      body: {
        self: site.self(`user?accountId=${id}`),
        accountId: id,
        accountType: 'atlassian',
        emailAddress: email,
        avatarUrls,
        displayName: name,
        active: true,
        timeZone: 'Etc/UTC',
        locale: 'en_US',
      },
    };
  },

  getServerInfo({ site }) {
    const body = {
      baseUrl: site.url,
      displayUrl: site.url,
      version: '1001.0.0-SNAPSHOT',
      versionNumbers: [1001, 0, 0],
      deploymentType: 'Cloud',
      buildNumber: 100300,
      serverTime: new Date().toISOString(),
      serverTitle: 'Jira',
      serverTimeZone: 'Etc/UTC',
    };
    return { status: 200, body };
  },

  searchProjects({ site, query }) {
    const startAt = Number(query.get('startAt') ?? 0);
    const maxResults = Math.min(Number(query.get('maxResults') ?? 50), 100);
    const words = (query.get('query') ?? '').toLowerCase();
    const ids = query.getAll('id');
    const keys = query.getAll('keys').flatMap((one) => one.split(','));
    const found = site.projects
      .filter(({ key, name }) => key.toLowerCase().includes(words) || name.toLowerCase().includes(words))
      .filter(({ id, key }) => (!ids.length || ids.includes(id)) && (!keys.length || keys.includes(key)))
      .sort(ordered(query.get('orderBy') ?? 'key'));
    const values = found.slice(startAt, startAt + maxResults).map((project) => shownProject(site, project));
    const isLast = startAt + maxResults >= found.length;
    const page = (from) => site.self(`project/search?maxResults=${maxResults}&startAt=${from}`);
    const nextPage = isLast ? {} : { nextPage: page(startAt + maxResults) };
    return {
      status: 200,
      body: { self: page(startAt), ...nextPage, maxResults, startAt, total: found.length, isLast, values },
    };
  },

  getProject({ site, params }) {
    const project = site.project(params.projectIdOrKey);
    if (!project) return refusal(404, [NO_PROJECT(params.projectIdOrKey)]);
    const issueTypes = site.typesOf(project).map((type) => shownType(site, type));
    return { status: 200, body: { ...shownProject(site, project), description: '', issueTypes } };
  },

  getIssueTypesForProject({ site, query }) {
    const project = site.project(query.get('projectId'));
    if (!project) return refusal(404, [NO_PROJECT(query.get('projectId'))]);
    return { status: 200, body: site.typesOf(project).map((type) => shownType(site, type)) };
  },

  getCreateIssueMetaIssueTypes({ site, params, query }) {
    const project = site.project(params.projectIdOrKey);
    if (!project) return refusal(400, [NO_PROJECT(params.projectIdOrKey)]);
    return paged(
      query,
      'issueTypes',
      site.typesOf(project).map((type) => shownType(site, type)),
    );
  },

  getCreateIssueMetaIssueTypeId({ site, params, query }) {
    const project = site.project(params.projectIdOrKey);
    const type = project && site.typesOf(project).find(({ id }) => id === params.issueTypeId);
    if (!type)
      return refusal(400, project ? ['The issue type does not exist in this project.'] : [NO_PROJECT(params.projectIdOrKey)]);
    return paged(query, 'fields', type.screen);
  },
};

function paged(query, name, all) {
  const startAt = Number(query.get('startAt') ?? 0);
  const maxResults = Math.min(Number(query.get('maxResults') ?? 50), 200);
  return { status: 200, body: { startAt, maxResults, total: all.length, [name]: all.slice(startAt, startAt + maxResults) } };
}

function ordered(by) {
  const name = by.replace(/^[+-]/, '');
  const sign = by.startsWith('-') ? -1 : 1;
  const value = (project) => (name === 'name' ? project.name : project.key);
  return (one, other) => sign * value(one).localeCompare(value(other));
}

function shownProject(site, { id, key, name }) {
  return {
    id,
    key,
    name,
    self: site.self(`project/${id}`),
    avatarUrls: avatars(site, `project/avatar/${id}`),
    projectTypeKey: 'software',
    simplified: false,
    style: 'classic',
    isPrivate: false,
  };
}

function shownType(site, { id, name, description, iconUrl, subtask, hierarchyLevel }) {
  return { id, name, description, iconUrl, subtask, hierarchyLevel, self: site.self(`issuetype/${id}`) };
}

function avatars(site, path) {
  const sizes = ['48x48', '24x24', '16x16', '32x32'];
  return Object.fromEntries(sizes.map((size) => [size, `${site.url}/rest/api/3/${path}?size=${size}`]));
}
