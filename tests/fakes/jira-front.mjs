// The gateway in front of the fake Jira: api.atlassian.com and the hosts of sites. It knows who calls, with which scopes,
// counts and limits, lets things go wrong, and leaves the rest to the operations behind prism.

import { answer, send, takeFault } from './jira-faults.mjs';
import { chargeObjects, takeCall } from './jira-limits.mjs';
import { accessibleResources, authorize, basic, bearer, grantTokens, tokenRequest } from './jira-oauth.mjs';
import { operations } from './jira-operations.mjs';
import { siteOf } from './jira-sites.mjs';

const UNAUTHORIZED = { status: 401, headers: { 'www-authenticate': 'Bearer' }, body: { code: 401, message: 'Unauthorized' } };
const SCOPE = { status: 401, body: { code: 401, message: 'Unauthorized; scope does not match' } };
const NOT_FOUND = { status: 404, body: { code: 404, message: 'Not Found' } };
const NOT_JSON = { status: 400, body: { errorMessages: ['The request body is not JSON.'], errors: {} } };
const UNSUPPORTED_TYPE = { status: 415, body: { errorMessages: ['Unsupported Media Type'], errors: {} } };
const ANONYMOUS = {
  status: 401,
  body: { message: 'Client must be authenticated to access this resource.', 'status-code': 401 },
};
const WRONG_TOKEN = {
  status: 401,
  headers: { 'x-seraph-loginreason': 'AUTHENTICATED_FAILED' },
  body: 'Client must be authenticated to access this resource.',
};

/** Makes the handler of everything but the control API: `(request, response, url, text) => …`. */
export function front({ document, accessSeconds }) {
  return async (request, response, url, text) => {
    const exchange = { request, response };
    if (url.pathname === '/authorize') return toAuthorize(exchange, url.searchParams);
    if (url.pathname === '/oauth/token' && request.method === 'POST') return toTokens(exchange, text, accessSeconds);
    if (url.pathname === '/oauth/token/accessible-resources') {
      const outcome = accessibleResources(request.headers);
      return answer(takeFault(outcome.account?.faults ?? [], 'accessibleResources'), exchange, async () => outcome);
    }
    const [, host, cloudId, path] = /^\/(ex\/jira|site)\/([^/]+)(\/.*)$/.exec(url.pathname) ?? [];
    const site = siteOf(cloudId);
    if (host === 'site' && path === '/_edge/tenant_info' && site) return send(response, { status: 200, body: { cloudId } });
    if (!host) return send(response, NOT_FOUND);
    const caller = host === 'site' ? callerOfSite(request.headers, site) : callerOfGateway(request.headers, site);
    return toJira(exchange, { document, site, caller, path, query: url.searchParams, text });
  };
}

/** Who calls through api.atlassian.com: `{account, scopes}`, or `{refused}`. */
function callerOfGateway(headers, site) {
  const found = bearer(headers);
  if (!found) return { refused: UNAUTHORIZED };
  return site && found.account.sites.has(site.id) ? found : { refused: NOT_FOUND };
}

/** Who calls a site itself, where tokens of OAuth are worth nothing. `account` is null for nobody. */
function callerOfSite(headers, site) {
  if (!site) return { refused: NOT_FOUND };
  if (!headers.authorization) return { account: null };
  const account = basic(headers);
  if (account?.sites.has(site.id)) return { account };
  return { refused: headers.authorization.startsWith('Basic ') ? WRONG_TOKEN : ANONYMOUS };
}

function toAuthorize({ response }, query) {
  const { location, problem } = authorize(query);
  if (problem) return send(response, { status: 400, body: `Something went wrong: ${problem}` });
  return send(response, { status: 302, headers: { location } });
}

async function toTokens(exchange, text, accessSeconds) {
  const body = isJson(exchange.request.headers) ? parsed(text) : undefined;
  if (body === undefined)
    return send(exchange.response, { status: 400, body: { error: 'invalid_request', error_description: 'not JSON' } });
  const { operation, account } = tokenRequest(body);
  if (!account) return send(exchange.response, grantTokens(body, accessSeconds));
  const { counts } = account;
  counts.atOnce += 1;
  counts.mostAtOnce = Math.max(counts.mostAtOnce, counts.atOnce);
  exchange.response.on('close', () => (counts.atOnce -= 1));
  return answer(takeFault(account.faults, operation), exchange, async () => grantTokens(body, accessSeconds));
}

async function toJira(exchange, { document, site, caller, path, query, text }) {
  const { request, response } = exchange;
  const route = document.route(request.method, path);
  const operation = route?.operationId ?? `${request.method} ${path}`;
  if (site) site.calls[operation] = (site.calls[operation] ?? 0) + 1;
  if (caller.refused) return send(response, caller.refused);
  if (!route || !operations[operation]) {
    tell(site, exchange, operation, [{ side: 'request', location: 'path', code: '404', message: 'no such operation' }]);
    return send(response, NOT_FOUND);
  }
  if (caller.account === null && !route.anonymous) return send(response, ANONYMOUS);
  if (caller.scopes && !route.scopes.every((scope) => caller.scopes.includes(scope))) return send(response, SCOPE);
  const fault = takeFault(site.faults, operation);
  const issueId = route.params.issueIdOrKey && site.find(route.params.issueIdOrKey)?.id;
  const taken = takeCall(site, { operation, issueId, quoted: Boolean(caller.scopes) });
  if (taken.status) return send(response, taken);
  return answer(fault, exchange, async ({ keep }) => {
    const body = parsed(text);
    if (text && body === undefined) {
      tell(site, exchange, operation, [{ side: 'request', location: 'body', code: '400', message: 'the body is not JSON' }]);
      return NOT_JSON;
    }
    if (text && !isJson(request.headers)) {
      tell(site, exchange, operation, [{ side: 'request', location: 'headers', code: '415', message: 'the type is not JSON' }]);
      return UNSUPPORTED_TYPE;
    }
    if (keep !== undefined && body?.issueUpdates) body.issueUpdates = body.issueUpdates.slice(0, keep);
    const asked = { method: request.method, path, query, headers: request.headers, body };
    const given = { site, account: caller.account, params: route.params, query, body };
    const { violations, ...outcome } = await document.check(asked, () => operations[operation](given));
    tell(site, exchange, operation, violations);
    if (caller.scopes) chargeObjects(site, operation, outcome.body);
    return { ...outcome, headers: { ...outcome.headers, ...taken.headers } };
  });
}

function tell(site, { request }, operation, violations) {
  for (const one of violations) site.violations.push({ ...one, operation, request: `${request.method} ${request.url}` });
}

const isJson = (headers) => /^application\/json\b/.test(headers['content-type'] ?? '');

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
