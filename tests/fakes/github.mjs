// A GitHub for tests: sign-in, repositories and issues, with GitHub's checks, limits and failures. It serves github.com and its API
// at one address, and the API below /api/v3 as well, as GitHub Enterprise Server does. Says {"port": …} when it listens.
// SPEC is the path of tests/fakes/github/openapi.json.
// CLIENT_ID, CLIENT_SECRET and REDIRECT_URI (or several, with commas): the one OAuth application. The sign-in permits access at once, as whom is said by the
// query `as` that a test adds to the address: the personal token of a world, or `denied`.
//
// Requests that are permitted, and their answers, are checked against GitHub's OpenAPI description: a request that is not valid is
// answered with 422, an answer with 500, in prism's words.
//
// Under /_control, in JSON:
//   POST /worlds                        {login, repositories: [{full_name, organization, private, has_issues, archived, permissions: {push, triage},
//                                       milestones: [title], avatarUrl}], issueTypes: [name or {name, is_enabled}], collaborators: [login],
//                                       limits: {perMinute, perHour, retryAfter (null: not said),
//                                       asValidation: whether they are told by a 422}, expiring: whether OAuth tokens expire}
//                                       → {token, login, id, repositories: [{id, full_name}]}; all else is below /worlds/TOKEN:
//   GET  /issues                        all issues, with their repository's id, the deleted and moved ones as well
//   POST /issues/REPOSITORY             adds one, as the account or another `login`; `isPullRequest`, `created_at` …
//   PATCH, DELETE /issues/REPOSITORY/N  edits (title, body, state: closed), deletes
//   POST /issues/REPOSITORY/N/transfer  {to: REPOSITORY} → {number}
//   PATCH /repositories/REPOSITORY      changes it; another full_name renames it
//   POST /repositories                  adds one → {id, full_name}
//   PATCH /limits                       changes limits
//   POST /faults                        {on: OPERATION, kind, skip: how many calls go well before, status, headers, body}; each fault once:
//                                       status      answers so and does nothing
//                                       dropBefore  closes the connection and does nothing
//                                       dropAfter   does it and closes the connection; timeoutAfter: and never answers;
//                                       truncate    and cuts its answer
//   GET  /violations                    what was against GitHub's OpenAPI description: [{side: request or response, location, code, message}]
//   GET  /counts                        how many calls there were, by operation; `limited`: refused for their number
//   DELETE /tokens                      revokes every token of the account but the personal one; DELETE /tokens/all: that one too
// Operations: user, listRepositories, readRepository, listIssueTypes, listMilestones, createIssue, listIssues, readIssue, updateIssue,
// exchange, refresh (both with a code or token that is valid), revoke.

import { createServer } from 'node:http';
import { listen, tell } from './beginning.mjs';
import { SignIn } from './github-oauth.mjs';
import { accountShape, issueShape, issueTypeShape, milestoneShape, repositoryShape } from './github-shapes.mjs';
import { Refusal, World, notFound } from './github-world.mjs';
import { readDocument } from './prism.mjs';

const { CLIENT_ID = 'client', CLIENT_SECRET = 'secret', REDIRECT_URI = 'http://127.0.0.1/callback' } = process.env;
const document = await readDocument(process.env.SPEC);
const signIn = new SignIn({ clientId: CLIENT_ID, clientSecret: CLIENT_SECRET, redirectUris: REDIRECT_URI.split(',') });
let origin;

const byName = (operation, method, rest, run) => ({
  operation,
  method,
  path: new RegExp(`^/repos/([^/]+)/([^/]+)${rest}$`),
  run: (call, owner, repository, ...more) =>
    run(call, call.world.named(owner, repository, method, call.path.replace(/^\/repos\/[^/]+\/[^/]+/, '')), ...more),
});
const byId = (operation, method, rest, run) => ({
  operation,
  method,
  path: new RegExp(`^/repositories/(\\d+)${rest}$`),
  run: (call, id, ...more) => run(call, call.world.withId(id), ...more),
});
/** An operation on a repository, which can be had by its name and by its id. */
const onRepository = (operation, method, rest, run) => [byName(operation, method, rest, run), byId(operation, method, rest, run)];

const operations = [
  { operation: 'user', method: 'GET', path: /^\/user$/, run: ({ world }) => accountShape(origin, world.user) },
  { operation: 'listRepositories', method: 'GET', path: /^\/user\/repos$/, run: listRepositories },
  { operation: 'listIssueTypes', method: 'GET', path: /^\/orgs\/([^/]+)\/issue-types$/, run: listIssueTypes },
  ...onRepository('readRepository', 'GET', '', (call, repository) => repositoryShape(origin, repository)),
  ...onRepository('listMilestones', 'GET', '/milestones', ({ world, ...call }, repository) =>
    page(
      call,
      repository.milestones.map((one) => milestoneShape(origin, repository, world.user, one)),
    ),
  ),
  ...onRepository('createIssue', 'POST', '/issues', (call, repository) => {
    call.status = 201;
    return issueShape(origin, repository, call.world.create(repository, call.body));
  }),
  ...onRepository('listIssues', 'GET', '/issues', (call, repository) => {
    if (!repository.has_issues) throw notFound();
    return page(
      call,
      call.world.list(repository, call.query).map((issue) => issueShape(origin, repository, issue)),
    );
  }),
  ...onRepository('readIssue', 'GET', '/issues/(\\d+)', (call, repository, number) =>
    issueShape(origin, repository, call.world.issue(repository, number)),
  ),
  ...onRepository('updateIssue', 'PATCH', '/issues/(\\d+)', (call, repository, number) =>
    issueShape(origin, repository, call.world.change(repository, number, call.body)),
  ),
];

function listRepositories(call) {
  const all = [...call.world.repositories].sort((one, other) => one.full_name.localeCompare(other.full_name));
  return page(
    call,
    all.map((one) => repositoryShape(origin, one)),
  );
}

function listIssueTypes({ world }, login) {
  const owner = world.owners.get(login);
  if (owner?.kind !== 'Organization' || world.issueTypes.length === 0) throw notFound();
  return world.issueTypes.map(issueTypeShape);
}

/** Cuts a page out of a list, and says in the header Link where the next one is. */
function page(call, items) {
  const size = Math.min(Math.max(Number(call.query.per_page ?? 30), 1), 100);
  const number = Math.max(Number(call.query.page ?? 1), 1);
  if (number * size < items.length) {
    const next = new URLSearchParams({ ...call.query, page: number + 1 });
    call.headers.link = `<${origin}${call.path}?${next}>; rel="next"`;
  }
  return items.slice((number - 1) * size, number * size);
}

const json = (text) => {
  try {
    return text === '' ? {} : JSON.parse(text);
  } catch {
    throw new Refusal(400, 'Problems parsing JSON');
  }
};

/** Counts a call and takes its fault; returns whether nothing more is to be done. */
function begin(call, world, operation) {
  if (!world) return false;
  world.count(operation);
  call.fault = world.fault(operation);
  if (call.fault?.kind === 'status') {
    const { status, headers, body } = call.fault;
    throw Object.assign(new Refusal(status, 'Server Error', { headers }), body ? { body } : {});
  }
  return call.fault?.kind === 'dropBefore';
}

async function api(request, call, text) {
  if (!request.headers['user-agent'])
    throw new Refusal(403, 'Request forbidden by administrative rules. Please make sure your request has a User-Agent header.');
  const version = request.headers['x-github-api-version'];
  if (version && !['2022-11-28', '2026-03-10'].includes(version))
    throw new Refusal(400, `The version ${version} is not supported.`);
  const revoked = /^\/applications\/([^/]+)\/token$/.exec(call.path);
  if (revoked && request.method === 'DELETE') {
    if (begin(call, signIn.tokens.get(json(text).access_token)?.world, 'revoke')) return '';
    signIn.revoke(request.headers.authorization, revoked[1], json(text).access_token);
    call.status = 204;
    return '';
  }
  const token = /^(?:bearer|token) (.+)$/i.exec(request.headers.authorization ?? '')?.[1];
  call.world = signIn.world(token);
  if (!call.world) throw new Refusal(401, token ? 'Bad credentials' : 'Requires authentication');
  for (const { operation, method, path, run } of operations) {
    const match = method === request.method ? path.exec(call.path) : null;
    if (!match) continue;
    if (begin(call, call.world, operation)) return '';
    call.body = json(text);
    return described(request, call, () => run(call, ...match.slice(1).map(decodeURIComponent)));
  }
  throw notFound();
}

/** Runs an operation if GitHub's description permits the request, and answers what it permits. */
async function described(request, call, run) {
  const answer = async () => {
    try {
      return { body: await run(), status: call.status };
    } catch (refusal) {
      if (!(refusal instanceof Refusal)) throw refusal;
      Object.assign(call.headers, refusal.headers);
      return refusal;
    }
  };
  const { path, query, body } = call;
  const asked = { method: request.method, path, query: new URLSearchParams(query), headers: request.headers, body };
  const { violations, ...answered } = await document.check(asked, answer);
  // The description leaves out that calls which change something are redirected too.
  if (answered.status === 307) violations.length = 0;
  call.world.violations.push(...violations.map((one) => ({ ...one, request: `${request.method} ${request.url}` })));
  call.status = answered.status;
  return answered.body;
}

function web(request, call, text) {
  if (call.path === '/login/oauth/authorize') {
    call.headers.location = signIn.authorize(call.query);
    call.status = 302;
    return '';
  }
  const form = Object.fromEntries(new URLSearchParams(text));
  if (begin(call, signIn.owner(form), form.grant_type === 'refresh_token' ? 'refresh' : 'exchange')) return '';
  const answer = signIn.exchange(form);
  if (request.headers.accept?.includes('json')) return answer;
  call.headers['content-type'] = 'application/x-www-form-urlencoded; charset=utf-8';
  return new URLSearchParams(answer).toString();
}

const shown = ({ id, full_name }) => ({ id, full_name });

function control(request, call, text) {
  const body = json(text);
  const [, , kind, token, what, first, second, third] = call.path.split('/').map(decodeURIComponent);
  if (kind !== 'worlds') throw notFound();
  if (!token) {
    const world = new World(body);
    return { token: signIn.personal(world), ...world.user, repositories: world.repositories.map(shown) };
  }
  const world = signIn.tokens.get(token)?.world;
  if (!world) throw notFound();
  const repository = first && what !== 'tokens' ? world.withId(first) : null;
  switch (`${request.method} ${what}${third ? `/${third}` : ''}`) {
    case 'GET issues':
      return world.repositories.flatMap((one) => [...one.issues.values()].map((issue) => ({ repository: one.id, ...issue })));
    case 'POST issues': {
      const { login, ...content } = body;
      const user = login ? { login, id: 1 } : world.user;
      return { number: world.add(repository, { title: '', user, ...content }).number };
    }
    case 'PATCH issues':
      Object.assign(world.issue(repository, second), body, { updated_at: new Date().toISOString() });
      return {};
    case 'DELETE issues':
      world.issue(repository, second).isDeleted = true;
      return {};
    case 'POST issues/transfer':
      return { number: world.transfer(repository, second, world.withId(body.to)).number };
    case 'POST repositories':
      return shown(world.repositories[world.repositories.push(world.repository(body)) - 1]);
    case 'PATCH repositories':
      if (body.full_name) repository.formerNames.push(repository.full_name.toLowerCase());
      return shown(Object.assign(repository, body));
    case 'PATCH limits':
      return Object.assign(world.limits, body);
    case 'POST faults':
      world.faults.push({ skip: 0, ...body });
      return {};
    case 'GET violations':
      return world.violations;
    case 'GET counts':
      return world.counts;
    case 'DELETE tokens':
      for (const [each, known] of signIn.tokens)
        if (known.world === world && (first === 'all' || each !== token)) signIn.tokens.delete(each);
      for (const [each, known] of signIn.refreshTokens) if (known.world === world) signIn.refreshTokens.delete(each);
      return {};
    default:
      throw notFound();
  }
}

function send(response, call, fault, body) {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  if (fault?.kind === 'dropBefore' || fault?.kind === 'dropAfter') return response.socket.destroy();
  if (fault?.kind === 'timeoutAfter') return undefined;
  const reset = Math.ceil(Date.now() / 1000) + 3600;
  response.writeHead(call.status, {
    'content-type': 'application/json; charset=utf-8',
    'x-github-media-type': 'github.v3; format=json',
    'x-ratelimit-limit': '5000',
    'x-ratelimit-remaining': '4999',
    'x-ratelimit-used': '1',
    'x-ratelimit-reset': String(reset),
    'x-ratelimit-resource': 'core',
    ...(call.status === 204 ? {} : { 'content-length': Buffer.byteLength(text) }),
    ...call.headers,
  });
  if (fault?.kind !== 'truncate') return response.end(text);
  return response.write(text.slice(0, text.length / 2), () => response.socket.destroy());
}

const server = createServer(async (request, response) => {
  const pieces = [];
  for await (const piece of request) pieces.push(piece);
  const text = Buffer.concat(pieces).toString();
  const url = new URL(request.url, origin);
  const path = url.pathname.replace(/^\/api\/v3(?=\/)/, '');
  const call = { path, query: Object.fromEntries(url.searchParams), headers: {}, status: 200 };
  let body;
  try {
    const part = path.startsWith('/_control/') ? control : path.startsWith('/login/oauth/') ? web : api;
    body = await part(request, call, text);
  } catch (refusal) {
    const { status = 500, headers = {}, body: said = { message: String(refusal.stack) } } = refusal;
    call.status = status;
    Object.assign(call.headers, headers);
    if (call.headers.location) call.headers.location = call.headers.location.replace('ORIGIN', origin);
    body = said;
  }
  send(response, call, call.fault, body);
});

// Idle connections stay: a client that uses one again just as it is closed would be in doubt of its call.
server.keepAliveTimeout = 0;
const port = await listen(server);
origin = `http://127.0.0.1:${port}`;
tell({ port });
