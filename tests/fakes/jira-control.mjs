// The control API of the fake Jira: what a test arranges and asks. It is described at the head of jira.mjs.

import { addFault, send } from './jira-faults.mjs';
import { create } from './jira-issues.mjs';
import { setLimits } from './jira-limits.mjs';
import {
  accountOf,
  accountsOf,
  adjust,
  expireAccess,
  makeAccount,
  registerApp,
  revokeRefresh,
  shownAccount,
  tokensFor,
} from './jira-oauth.mjs';
import { allSites, makeSite, siteOf } from './jira-sites.mjs';

const SETTINGS = ['lagMs', 'unknownIds', 'maxSearch', 'name', 'url'];
const STATUSES = ['new', 'indeterminate', 'done'];

/** Makes the handler of `/_control/…`. */
export function control({ accessSeconds }) {
  return (request, response, url, text) => {
    const words = url.pathname.split('/').slice(2).map(decodeURIComponent);
    try {
      const body = text ? JSON.parse(text) : {};
      const found = answerTo({ method: request.method, words, query: url.searchParams, body, accessSeconds });
      return send(
        response,
        found === undefined ? { status: 404, body: { error: 'nothing of this name' } } : { status: 200, body: found },
      );
    } catch (error) {
      return send(response, { status: 400, body: { error: error.message } });
    }
  };
}

function answerTo(call) {
  const [noun, id] = call.words;
  switch (noun) {
    case 'sites': {
      if (!id) return newSite(call.body);
      const site = siteOf(id);
      return site && ofSite(site, call);
    }
    case 'accounts': {
      if (!id) return shownAccount(makeAccount(call.body));
      const account = accountOf(id);
      return account && ofAccount(account, call);
    }
    case 'apps':
      registerApp(call.body);
      return {};
    case 'violations':
      return violations(call.query.has('site') ? [siteOf(call.query.get('site'))] : allSites());
    case 'calls':
      return sum(allSites().map(({ calls }) => calls));
    default:
      return undefined;
  }
}

function newSite({ account = {}, accounts, ...given }) {
  const site = makeSite(given, accountsOf);
  for (const id of accounts ?? []) accountOf(id).sites.add(site.id);
  const own = accounts ? {} : { account: shownAccount(makeAccount({ ...account, sites: [site.id] })) };
  return { ...shownSite(site), ...own };
}

function shownSite({ id, name, url, projects, types, issues }) {
  return {
    id,
    name,
    url,
    projects,
    issueTypes: types.map(({ screen, ...type }) => ({ ...type, fields: screen })),
    issues: issues.size,
  };
}

function ofSite(site, { method, words, query, body }) {
  const [, , noun, idOrKey, verb] = words;
  switch (noun) {
    case undefined:
      return method === 'POST' ? change(site, body) : shownSite(site);
    case 'faults': {
      if (method === 'POST') addFault(site.faults, body);
      else if (method === 'DELETE') site.faults.length = 0;
      return site.faults;
    }
    case 'limits':
      setLimits(site, body);
      return {};
    case 'calls':
      return site.calls;
    case 'violations':
      return violations([site]);
    case 'duplicates':
      return duplicates(site, query.get('property') ?? 'colloquy.story', query.get('by'));
    case 'projects':
      return addProject(site, body);
    case 'issues':
      return idOrKey ? ofIssue(site, site.find(idOrKey), { method, verb, body }) : ofIssues(site, method, body);
    default:
      return undefined;
  }
}

function change(site, settings) {
  for (const [name, value] of Object.entries(settings)) {
    if (!SETTINGS.includes(name)) throw new Error(`a site has no ${name}`);
    site[name] = value;
  }
  return shownSite(site);
}

function addProject(site, { id, key, name }) {
  const former = site.project(id);
  if (former) Object.assign(former, { name });
  else site.projects.push({ id: String(id), key, name, last: 0 });
  return site.projects;
}

function ofIssues(site, method, { by, ...given }) {
  if (method !== 'POST') return [...site.issues.values()].map((issue) => shownIssue(site, issue));
  const creator = by ? accountOf(by) : { id: '712020:somebody', name: 'Somebody' };
  const { issue, errors, errorMessages } = create(site, creator, given);
  if (!issue) throw new Error(JSON.stringify({ errors, errorMessages }));
  return shownIssue(site, issue);
}

function ofIssue(site, issue, { method, verb, body }) {
  if (!issue) return undefined;
  if (method === 'DELETE') {
    site.remove(issue);
    return {};
  }
  if (method !== 'POST') return shownIssue(site, issue);
  if (verb === 'move') {
    const project = site.project(body.project);
    if (!project) throw new Error(`there is no project ${body.project}`);
    return shownIssue(site, site.move(issue, project));
  }
  if (verb === 'status') {
    if (!STATUSES.includes(body.status)) throw new Error(`a status is one of ${STATUSES}`);
    return shownIssue(site, site.change(issue, { status: body.status }));
  }
  return shownIssue(site, site.change(issue, { values: body.fields, properties: body.properties }));
}

function shownIssue(site, issue) {
  const { id, key, properties, creator, status, created, updated } = issue;
  return { id, key, fields: site.fieldsOf(issue), properties, creator: creator.id, status, created, updated };
}

/** How many issues have a property, how many values it has, and which values more than one issue has. */
function duplicates(site, property, by) {
  const ids = new Map();
  for (const { id, properties } of site.issues.values()) {
    if (!(property in properties)) continue;
    const part = by ? by.split('.').reduce((value, name) => value?.[name], properties[property]) : properties[property];
    const value = JSON.stringify(part ?? null);
    ids.set(value, [...(ids.get(value) ?? []), id]);
  }
  const marked = [...ids.values()].reduce((total, same) => total + same.length, 0);
  const repeated = [...ids]
    .filter(([, same]) => same.length > 1)
    .map(([value, same]) => ({ value: JSON.parse(value), ids: same }));
  return { issues: site.issues.size, marked, values: ids.size, duplicates: marked - ids.size, repeated };
}

function violations(sites) {
  return sites.flatMap((site) => site?.violations.map((one) => ({ site: site.id, ...one })) ?? []);
}

function sum(counts) {
  const total = {};
  for (const [operation, count] of counts.flatMap(Object.entries)) total[operation] = (total[operation] ?? 0) + count;
  return total;
}

function ofAccount(account, { method, words, body, accessSeconds }) {
  const [, , verb] = words;
  switch (verb) {
    case undefined:
      return shownAccount(method === 'POST' ? adjust(account, body) : account);
    case 'expire':
      expireAccess(account);
      return {};
    case 'revoke':
      revokeRefresh(account);
      return {};
    case 'tokens':
      return tokensFor(account, body.scopes, accessSeconds);
    case 'faults': {
      if (method === 'POST') addFault(account.faults, body);
      else if (method === 'DELETE') account.faults.length = 0;
      return account.faults;
    }
    default:
      return undefined;
  }
}
