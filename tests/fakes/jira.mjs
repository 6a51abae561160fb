// Jira Cloud with its OAuth 2.0 (3LO), as far as this server uses it: stateful, and checked by prism against Atlassian's
// own OpenAPI document, requests and answers both. One process holds many sites, so that many tests share it.
//
//   api.atlassian.com    /ex/jira/<cloud id>/rest/api/3/…  Bearer; /oauth/token/accessible-resources
//   auth.atlassian.com   /authorize (sends back at once), /oauth/token
//   a site's own host    /site/<cloud id>/rest/api/3/…  Basic, e-mail address and API token; /site/<cloud id>/_edge/tenant_info
//
// SPEC is the path of tests/fakes/jira/openapi.json; CLIENT_ID and CLIENT_SECRET are those of the app; REDIRECT_URI its
// addresses, separated by commas (any if it is not set); ACCESS_SECONDS how long access tokens last (3600).
//
// `GET /authorize?…&as=<account id>` says who signs in; without `as` the account that was made last does, and `as=denied`
// is somebody who says no.
//
// The control API speaks JSON. 400 is a mistake in the call, 404 something that is not there.
//
// POST /_control/sites {}                          a site with an account of its own: {id, name, url, projects, issueTypes,
//                                                  issues, account: {id, name, email, apiToken, …}}. All may be given:
//   {"id", "name", "lagMs": 300, "unknownIds": "leaveOut" | "refuse" (an unknown id in `id in (…)`), "maxSearch": 100,
//    "account": {…as below}, "accounts": ["<id>"] (in place of an account of its own),
//    "projects": [{"id": "10000", "key": "EX", "name": "Example"}],
//    "issueTypes": [{"id": "10001", "name": "Story", "subtask": false, "projects": ["EX"] (all if not given),
//      "off": ["description"] (usual fields not on its screen),
//      "fields": [{"fieldId": "customfield_10050", "name": "Team", "required": true, "kind": "select", "options": ["Red", "Blue"]},
//                 {"name": "Place", "kind": "cascade", "options": [{"value": "Europe", "children": ["Bern"]}]}]}]}
//   Kinds: text textarea url number date datetime select radio multiselect checkboxes cascade labels user epicName; or
//   Jira's own {"schema", "allowedValues", "hasDefaultValue", "defaultValue"}. One with the id of a usual field replaces it.
// GET /_control/sites/<id>                         the site again, without the account
// POST /_control/sites/<id> {"lagMs": 0}           changes lagMs, unknownIds, maxSearch, name, url
// POST /_control/sites/<id>/projects {"id", "key", "name"}   adds a project, or names it anew
// POST /_control/sites/<id>/faults {"operation": "createIssues", "kind": "dropAfter", "count": 1, "skip": 0}
//   operation: one or a list of Atlassian's operation ids, "search" (both), or "*"; count: null for ever; skip: calls that
//   pass before. Kinds: timeoutBefore timeoutAfter (executed, never answered), dropBefore dropAfter (the connection is cut),
//   partial {"keep": 20} (a bulk executes its first 20, then the connection is cut), truncate (half an answer), slow {"ms"}
//   (before it executes), status {"status", "body", "headers", "executes": false}, rateLimit {"reason", "retryAfter": seconds},
//   redirect {"url", "status": 302}, selfUrls {"url"} (all addresses in the answer lead there), huge {"bytes"}.
// GET, DELETE /_control/sites/<id>/faults          the faults with their `hits`; removes all
// POST /_control/sites/<id>/limits {"quota": {"points": 100, "windowMs": 3600000, "reason": "jira-quota-tenant-based"},
//   "burst": {"perSecond": 2, "capacity": 2, "operations": ["createIssues"]}, "perIssue": {"short": 20, "shortMs": 2000,
//   "long": 100, "longMs": 30000}}                 those not given are off, perIssue is as at Atlassian then
// GET /_control/sites/<id>/issues                  [{id, key, fields, properties, creator, status, created, updated}] (ms)
// POST /_control/sites/<id>/issues {"fields", "properties", "by": "<account id>"}   creates one, as a person does
// GET, DELETE /_control/sites/<id>/issues/<id or key>
// POST /_control/sites/<id>/issues/<id or key> {"fields", "properties"}             changes one, as a person does; unchecked
// POST /_control/sites/<id>/issues/<id or key>/move {"project": "OTHER"}            new key, same id
// POST /_control/sites/<id>/issues/<id or key>/status {"status": "new" | "indeterminate" | "done"}
// GET /_control/sites/<id>/calls                   calls by operation, refused ones too: {"createIssues": 4}
// GET /_control/sites/<id>/violations              [{site, side: "request" | "response" | "document" (not valid ADF), operation,
//                                                  request, location, code, message}]; a test asserts that it is []
// GET /_control/sites/<id>/duplicates?property=colloquy.story&by=<path in the value>
//                                                  {issues, marked, values, duplicates, repeated: [{value, ids}]}
// GET /_control/violations?site=<id>, GET /_control/calls      of all sites, or one
// POST /_control/accounts {"name", "email", "sites": ["<id>"], "scopes": ["read:jira-work"] (no token has others),
//   "denies": true, "accessSeconds", "leewayMs": 0 (how long a used refresh token works again)}
//                                                  {id, name, email, apiToken, scopes, sites, counts: {codes, refreshes, refused,
//                                                  mostAtOnce}, liveRefreshTokens}
// GET, POST /_control/accounts/<id>                shows, changes (same keys but the email)
// POST /_control/accounts/<id>/expire              its access tokens are expired now
// POST /_control/accounts/<id>/revoke              its refresh tokens are worth nothing now
// POST /_control/accounts/<id>/tokens {"scopes"}   tokens without a sign-in: {access_token, refresh_token, expires_in, …}
// POST /_control/accounts/<id>/faults              as at sites; operations: tokenCode tokenRefresh accessibleResources
// POST /_control/apps {"clientId", "clientSecret", "redirectUris"}     a further app
//
// Announced: {"http": <port>}.

import { createServer } from 'node:http';
import { listen, tell } from './beginning.mjs';
import { control } from './jira-control.mjs';
import { front } from './jira-front.mjs';
import { registerApp } from './jira-oauth.mjs';
import { readDocument } from './prism.mjs';

const { SPEC, CLIENT_ID = 'client', CLIENT_SECRET = 'secret', REDIRECT_URI, ACCESS_SECONDS = '3600' } = process.env;
const accessSeconds = Number(ACCESS_SECONDS);
registerApp({ clientId: CLIENT_ID, clientSecret: CLIENT_SECRET, redirectUris: REDIRECT_URI?.split(',') });

const toControl = control({ accessSeconds });
const toFront = front({ document: await readDocument(SPEC), accessSeconds });

const server = createServer(async (request, response) => {
  try {
    const pieces = [];
    for await (const piece of request) pieces.push(piece);
    const url = new URL(request.url, 'http://fake');
    const handle = url.pathname.startsWith('/_control/') ? toControl : toFront;
    await handle(request, response, url, Buffer.concat(pieces).toString());
  } catch (error) {
    console.error('the fake Jira failed:', error);
    response.destroy();
  }
});
// A connection that is never answered stays open for as long as the client wants.
server.requestTimeout = 0;
// An idle connection is not closed, or a request could meet the end of it: such a fault comes on demand only.
server.keepAliveTimeout = 0;
tell({ http: await listen(server) });
