// Atlassian accounts and their OAuth 2.0 (3LO): codes for one use, access tokens with scopes, rotating refresh tokens.

import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { allSites } from './jira-sites.mjs';

const SCOPES = [
  'read:jira-work',
  'write:jira-work',
  'read:jira-user',
  'read:me',
  'read:account',
  'offline_access',
  'manage:jira-webhook',
];
const CODE_MS = 60_000;
const accounts = new Map();
const apps = new Map();
const codes = new Map();
const accessTokens = new Map();
const refreshTokens = new Map();

export const accountOf = (id) => accounts.get(id);
export const accountsOf = (siteId) => [...accounts.values()].filter(({ sites }) => sites.has(siteId));

/** Registers an app; without `redirectUris` each address is taken. */
export function registerApp({ clientId, clientSecret, redirectUris }) {
  apps.set(clientId, { clientId, clientSecret, redirectUris });
}

/** Makes an account; `given` is described at the head of jira.mjs. */
export function makeAccount({
  id = `712020:${randomUUID()}`,
  name = 'Ada Lovelace',
  email = `${randomUUID()}@example.com`,
  sites = [],
  ...settings
}) {
  const account = {
    id,
    name,
    email,
    sites: new Set(sites),
    apiToken: `ATATT3x${randomBytes(120).toString('base64url')}`,
    faults: [],
    scopes: null,
    denies: false,
    accessSeconds: null,
    leewayMs: 0,
    counts: { codes: 0, refreshes: 0, refused: 0, atOnce: 0, mostAtOnce: 0 },
  };
  accounts.set(id, account);
  return adjust(account, settings);
}

/** Changes what an account may do: `sites`, `scopes`, `denies`, `accessSeconds`, `leewayMs`, `name`. */
export function adjust(account, { sites, ...settings }) {
  const known = ['scopes', 'denies', 'accessSeconds', 'leewayMs', 'name'];
  for (const [name, value] of Object.entries(settings)) {
    if (!known.includes(name)) throw new Error(`an account has no ${name}`);
    account[name] = value;
  }
  if (sites) account.sites = new Set(sites);
  return account;
}

/** What the control API shows of an account. */
export function shownAccount({ id, name, email, sites, apiToken, scopes, counts }) {
  const isLive = ([, one]) => one.account.id === id && !one.usedAt && !one.revoked;
  const live = [...refreshTokens].filter(isLive).map(([token]) => token);
  const { atOnce, ...counted } = counts;
  return { id, name, email, apiToken, scopes, sites: [...sites], counts: counted, liveRefreshTokens: live };
}

/** Gives where `GET /authorize` sends to: `{location}`, or `{problem}` where Atlassian shows a page of its own. */
export function authorize(query) {
  const app = apps.get(query.get('client_id'));
  const redirect = query.get('redirect_uri');
  if (!app) return { problem: 'unknown client_id' };
  if (!URL.canParse(redirect ?? '') || (app.redirectUris && !app.redirectUris.includes(redirect)))
    return { problem: 'unknown redirect_uri' };
  const back = (answer) => {
    const location = new URL(redirect);
    for (const [name, value] of Object.entries(answer)) location.searchParams.set(name, value);
    if (query.has('state')) location.searchParams.set('state', query.get('state'));
    return { location: location.href };
  };
  const fail = (error, error_description) => back({ error, error_description });
  if (query.get('audience') !== 'api.atlassian.com') return { problem: 'audience is not api.atlassian.com' };
  if (query.get('response_type') !== 'code') return fail('unsupported_response_type', 'response_type is not code');
  const scopes = (query.get('scope') ?? '').split(' ').filter(Boolean);
  const unknown = scopes.find((scope) => !SCOPES.includes(scope));
  if (!scopes.length || unknown) return fail('invalid_scope', `unknown scope ${unknown ?? ''}`);
  const method = query.get('code_challenge_method') ?? 'plain';
  if (query.has('code_challenge') && method !== 'S256') return fail('invalid_request', 'code_challenge_method is not S256');
  const account = query.has('as') ? accounts.get(query.get('as')) : [...accounts.values()].at(-1);
  if (query.get('as') === 'denied' || account?.denies) return fail('access_denied', 'User did not authorize the request');
  if (!account) return { problem: 'nobody is called so' };
  const code = randomBytes(60).toString('base64url');
  codes.set(code, { account, app, redirect, scopes, challenge: query.get('code_challenge'), madeAt: Date.now() });
  return back({ code });
}

/** Whom a request for tokens is about, and which operation it is; before anything is used up. */
export function tokenRequest(body) {
  if (body?.grant_type === 'refresh_token')
    return { operation: 'tokenRefresh', account: refreshTokens.get(body.refresh_token)?.account };
  return { operation: 'tokenCode', account: codes.get(body?.code)?.account };
}

/** Answers `POST /oauth/token`. */
export function grantTokens(body, accessSeconds) {
  const app = apps.get(body?.client_id);
  if (!app || app.clientSecret !== body.client_secret) return refuse(401, 'access_denied', 'Unauthorized');
  if (body.grant_type === 'authorization_code') return grantForCode(app, body, accessSeconds);
  if (body.grant_type === 'refresh_token') return grantForRefresh(app, body, accessSeconds);
  return refuse(403, 'unsupported_grant_type', 'Unsupported grant type');
}

const refuse = (status, error, error_description) => ({ status, body: { error, error_description } });

function grantForCode(app, { code, redirect_uri, code_verifier }, accessSeconds) {
  const found = codes.get(code);
  codes.delete(code);
  if (!found || found.app !== app || Date.now() - found.madeAt > CODE_MS)
    return refuse(403, 'invalid_grant', 'Invalid authorization code');
  if (found.redirect !== redirect_uri)
    return refuse(403, 'invalid_grant', 'The redirect_uri is not the one of the authorization');
  if (found.challenge !== null) {
    const hash = createHash('sha256')
      .update(code_verifier ?? '')
      .digest('base64url');
    if (hash !== found.challenge) return refuse(403, 'invalid_grant', 'Failed to verify code verifier');
  }
  found.account.counts.codes += 1;
  return { status: 200, body: issueTokens(found.account, app, found.scopes, accessSeconds) };
}

function grantForRefresh(app, { refresh_token }, accessSeconds) {
  const found = refreshTokens.get(refresh_token);
  const invalid = () => {
    if (found) found.account.counts.refused += 1;
    return refuse(403, 'invalid_grant', 'Unknown or invalid refresh token.');
  };
  if (!found || found.app !== app || found.revoked) return invalid();
  if (found.usedAt && Date.now() - found.usedAt >= found.account.leewayMs) return invalid();
  found.usedAt ??= Date.now();
  found.account.counts.refreshes += 1;
  return { status: 200, body: issueTokens(found.account, app, found.scopes, accessSeconds) };
}

/** Makes tokens for an account. They are as long as Atlassian's, which are about 2 KB. */
export function issueTokens(account, app, scopes, accessSeconds) {
  const expires_in = account.accessSeconds ?? accessSeconds;
  const granted = account.scopes ? scopes.filter((one) => account.scopes.includes(one) || one === 'offline_access') : scopes;
  const token = () => `eyJ${randomBytes(1500).toString('base64url')}`;
  const access_token = token();
  accessTokens.set(access_token, { account, scopes: granted, expiresAt: Date.now() + expires_in * 1000 });
  const tokens = { access_token, expires_in, token_type: 'Bearer', scope: granted.join(' ') };
  if (!scopes.includes('offline_access')) return tokens;
  const refresh_token = token();
  refreshTokens.set(refresh_token, { account, app, scopes });
  return { ...tokens, refresh_token };
}

/** Tokens without a sign-in, for the app that was registered first. */
export function tokensFor(account, scopes, accessSeconds) {
  return issueTokens(account, [...apps.values()][0], scopes ?? SCOPES, accessSeconds);
}

/** Ends all access tokens of an account. */
export function expireAccess(account) {
  for (const one of accessTokens.values()) if (one.account === account) one.expiresAt = 0;
}

/** Ends all refresh tokens of an account, as when somebody removes the app in their Atlassian settings. */
export function revokeRefresh(account) {
  for (const one of refreshTokens.values()) if (one.account === account) one.revoked = true;
}

/** Whose access token this is: `{account, scopes}`, or `null`. */
export function bearer(headers) {
  const [, token] = /^Bearer (\S+)$/i.exec(headers.authorization ?? '') ?? [];
  const found = accessTokens.get(token);
  return found && found.expiresAt > Date.now() ? found : null;
}

/** Whose e-mail address and API token these are, or `null`. */
export function basic(headers) {
  const [, given] = /^Basic (\S+)$/i.exec(headers.authorization ?? '') ?? [];
  const text = Buffer.from(given ?? '', 'base64').toString();
  return [...accounts.values()].find(({ email, apiToken }) => text === `${email}:${apiToken}`) ?? null;
}

/** Answers `GET /oauth/token/accessible-resources`. */
export function accessibleResources(headers) {
  const found = bearer(headers);
  if (!found) return { status: 401, body: { code: 401, message: 'Unauthorized' } };
  const scopes = found.scopes.filter((one) => one.includes(':jira'));
  const sites = allSites().filter(({ id }) => found.account.sites.has(id));
  const avatarUrl = 'https://site-admin-avatar-cdn.prod.public.atl-paas.net/avatars/240/flag.png';
  return {
    status: 200,
    account: found.account,
    body: sites.map(({ id, url, name }) => ({ id, url, name, scopes, avatarUrl })),
  };
}
