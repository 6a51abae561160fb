// The operations of the fake Jira on issues: create, read, change, delete, search.

import { checkFields } from './jira-fields.mjs';
import { JqlError, parse, select } from './jira-jql.mjs';

const BULK = 50;
const RECONCILED = 50;
const WITH_FIELDS = 100;
const ONLY_IDS = 5000;
const ABSENT = 'Issue does not exist or you do not have permission to see it.';

/** An answer that refuses. */
export const refusal = (status, errorMessages, errors = {}) => ({ status, body: { errorMessages, errors } });

export const issueOperations = {
  createIssue({ site, account, body }) {
    const { issue, errors, errorMessages } = create(site, account, body);
    if (!issue) return refusal(400, errorMessages, errors);
    return { status: 201, body: created(site, issue) };
  },

  createIssues({ site, account, body }) {
    const updates = body.issueUpdates ?? [];
    if (updates.length > BULK) {
      const elementErrors = { errorMessages: [`Too many issues to create: at most ${BULK}.`], errors: {} };
      return { status: 400, body: { issues: [], errors: [{ status: 400, elementErrors, failedElementNumber: BULK }] } };
    }
    const issues = [];
    const errors = [];
    for (const [failedElementNumber, update] of updates.entries()) {
      const outcome = create(site, account, update);
      if (outcome.issue) {
        issues.push(created(site, outcome.issue));
      } else {
        const elementErrors = { errorMessages: outcome.errorMessages, errors: outcome.errors };
        errors.push({ status: 400, elementErrors, failedElementNumber });
      }
    }
    return { status: issues.length ? 201 : 400, body: { issues, errors } };
  },

  getIssue({ site, params, query }) {
    const issue = site.find(params.issueIdOrKey);
    if (!issue) return refusal(404, [ABSENT]);
    const fields = list(query.getAll('fields'));
    return { status: 200, body: shown(site, issue, fields.length ? fields : ['*all'], list(query.getAll('properties'))) };
  },

  editIssue({ site, params, query, body }) {
    const issue = site.find(params.issueIdOrKey);
    if (!issue) return refusal(404, [ABSENT]);
    if (body.transition) return refusal(400, ['Transitions are not done by an edit.']);
    const type = site.types.find(({ id }) => id === issue.typeId);
    const screen = type.screen.filter(({ fieldId }) => !['project', 'issuetype'].includes(fieldId));
    const { errors, values, flaws } = checkFields({ ...body.fields, ...updated(issue, body.update) }, screen, {
      whole: false,
      site,
    });
    tell(site, 'editIssue', flaws);
    const { properties, wrong } = propertiesOf(body.properties);
    if (wrong) return refusal(400, [wrong]);
    if (Object.keys(errors).length) return refusal(400, [], errors);
    const changed = site.change(issue, { values, properties });
    if (query.get('returnIssue') === 'true') return { status: 200, body: shown(site, changed, ['*all'], []) };
    return { status: 204 };
  },

  deleteIssue({ site, params }) {
    const issue = site.find(params.issueIdOrKey);
    if (!issue) return refusal(404, [ABSENT]);
    site.remove(issue);
    return { status: 204 };
  },

  searchAndReconsileIssuesUsingJql({ site, account, query }) {
    const number = (name) => (query.has(name) ? Number(query.get(name)) : undefined);
    return search(site, account, {
      jql: query.get('jql') ?? '',
      nextPageToken: query.get('nextPageToken') ?? undefined,
      maxResults: number('maxResults'),
      fields: list(query.getAll('fields')),
      properties: list(query.getAll('properties')),
      reconcileIssues: list(query.getAll('reconcileIssues')),
    });
  },

  searchAndReconsileIssuesUsingJqlPost: ({ site, account, body }) => search(site, account, body),
};

/** Makes an issue out of `{fields, properties}`, or gives `{errors, errorMessages}`. */
export function create(site, creator, { fields = {}, properties, update, transition }) {
  const fail = (errors, errorMessages = []) => ({ errors, errorMessages });
  if (transition) return fail({}, ['Transitions are not done here.']);
  const project = site.project(fields.project?.id ?? fields.project?.key);
  if (!project) return fail({ project: 'Specify a valid project ID or key' });
  const types = site.typesOf(project);
  const type = types.find(({ id, name }) =>
    fields.issuetype?.id === undefined ? name === fields.issuetype?.name : id === String(fields.issuetype.id),
  );
  if (!type) return fail({ issuetype: 'Specify a valid issue type' });
  const given = { ...fields, ...updated({ values: {} }, update) };
  const { errors, values, flaws } = checkFields(given, type.screen, { whole: true, site });
  tell(site, 'createIssue', flaws);
  const { properties: kept, wrong } = propertiesOf(properties);
  if (wrong) return fail({}, [wrong]);
  if (Object.keys(errors).length) return fail(errors);
  return { issue: site.create({ project, type, values, properties: kept, creator: { id: creator.id, name: creator.name } }) };
}

const created = (site, { id, key }) => ({ id, key, self: site.self(`issue/${id}`) });

/** A document that Jira does not take is told with its reason, which Jira keeps to itself. */
function tell(site, operation, flaws) {
  for (const message of flaws) site.violations.push({ side: 'document', operation, location: '', code: 'adf', message });
}

/** The values that the `update` of a request comes to: `{"labels": [{"add": "a"}]}`. */
function updated(issue, update = {}) {
  const values = {};
  for (const [fieldId, operations] of Object.entries(update)) {
    for (const { set, add, remove } of operations) {
      const former = values[fieldId] ?? issue.values[fieldId] ?? [];
      if (set !== undefined) values[fieldId] = set;
      if (add !== undefined) values[fieldId] = [...former, add];
      if (remove !== undefined) values[fieldId] = former.filter((one) => one !== remove);
    }
  }
  return values;
}

function propertiesOf(given = []) {
  const properties = {};
  for (const { key, value } of given) {
    if (!key || key.length > 255) return { wrong: 'The length of the property key must be from 1 to 255 characters.' };
    if (JSON.stringify(value ?? null).length > 32_768)
      return { wrong: 'The property value is too long. The maximum length is 32768 characters.' };
    if (key in properties) return { wrong: `The property key '${key}' is repeated.` };
    properties[key] = value;
  }
  return { properties };
}

function search(
  site,
  account,
  { jql = '', nextPageToken, maxResults = 50, fields = [], properties = [], reconcileIssues = [] },
) {
  if (reconcileIssues.length > RECONCILED) return refusal(400, [`At most ${RECONCILED} issues can be reconciled.`]);
  if (properties.length > 5) return refusal(400, ['At most 5 properties can be requested.']);
  if (maxResults < 1) return refusal(400, ['The maxResults parameter must be at least 1.']);
  const reconciled = new Set(reconcileIssues.map(String));
  try {
    const found = select(site, account, parse(jql), reconciled);
    const from = nextPageToken === undefined ? 0 : resume(nextPageToken, jql);
    const ids = fields.every((one) => ['id', 'key'].includes(one)) && !properties.length;
    const size = Math.min(maxResults, ids ? ONLY_IDS : Math.min(site.maxSearch, WITH_FIELDS));
    const page = found.slice(from, from + size);
    const isLast = from + size >= found.length;
    const issues = page.map((issue) => listed(site, issue, fields, properties));
    return { status: 200, body: { issues, isLast, ...(!isLast && { nextPageToken: pageToken(jql, from + size) }) } };
  } catch (error) {
    if (error instanceof JqlError) return refusal(400, [error.message]);
    throw error;
  }
}

const pageToken = (jql, from) => Buffer.from(JSON.stringify({ jql, from })).toString('base64url');

function resume(token, jql) {
  const wrong = () => new JqlError('The next page token is invalid or does not belong to this query.');
  let page;
  try {
    page = JSON.parse(Buffer.from(token, 'base64url').toString());
  } catch {
    throw wrong();
  }
  if (page.jql !== jql || !Number.isInteger(page.from)) throw wrong();
  return page.from;
}

/** An issue in a list: without fields that were asked for it is its id alone. */
function listed(site, issue, fields, properties) {
  if (fields.every((one) => one === 'id') && !properties.length) return { id: issue.id };
  if (fields.every((one) => ['id', 'key'].includes(one)) && !properties.length) return { id: issue.id, key: issue.key };
  return shown(site, issue, fields, properties);
}

function shown(site, issue, fields, properties) {
  const all = site.fieldsOf(issue);
  const off = fields.filter((one) => one.startsWith('-')).map((one) => one.slice(1));
  const every = fields.some((one) => one === '*all' || one === '*navigable') || (off.length && off.length === fields.length);
  const chosen = Object.entries(all).filter(([name]) => (every || fields.includes(name)) && !off.includes(name));
  const kept = Object.entries(issue.properties).filter(([key]) => properties.includes('*all') || properties.includes(key));
  return {
    expand: 'renderedFields,names,schema,operations,editmeta,changelog,versionedRepresentations',
    id: issue.id,
    self: site.self(`issue/${issue.id}`),
    key: issue.key,
    fields: Object.fromEntries(chosen),
    ...(properties.length && { properties: Object.fromEntries(kept) }),
  };
}

const list = (values) => values.flatMap((one) => one.split(',')).filter(Boolean);
