// The sign-in of the GitHub of tests: codes that are good once and for ten minutes, bound to PKCE, the redirect address and the
// application; tokens that don't expire, or that do, with refresh tokens that are good once.

import { createHash } from 'node:crypto';
import { Refusal, notFound, secret } from './github-world.mjs';

export class SignIn {
  constructor({ clientId, clientSecret, redirectUris }) {
    Object.assign(this, { clientId, clientSecret, redirectUris });
    this.codes = new Map();
    this.tokens = new Map();
    this.refreshTokens = new Map();
  }

  /** A token that doesn't expire, made by its owner. */
  personal(world) {
    const token = secret('ghp');
    this.tokens.set(token, { world, expiresAt: Infinity });
    return token;
  }

  /** The world of a token; `undefined` where it is not valid. */
  world(token) {
    const known = this.tokens.get(token);
    return known && known.expiresAt > Date.now() ? known.world : undefined;
  }

  /** Permits the access at once, as the user whose personal token is in `as`; `as=denied`: somebody who says no. Returns where
   * the browser is sent. */
  authorize(query) {
    if (query.client_id !== this.clientId) throw notFound();
    const uri = query.redirect_uri ?? this.redirectUris[0];
    if (!this.redirectUris.includes(uri)) throw new Refusal(400, 'redirect_uri_mismatch');
    const back = new URL(uri);
    if (query.state) back.searchParams.set('state', query.state);
    const world = this.world(query.as);
    if (!world) {
      back.searchParams.set('error', 'access_denied');
      back.searchParams.set('error_description', 'The user has denied your application access.');
      return back.href;
    }
    const code = secret('code').slice(0, 25);
    const challenge = query.code_challenge_method === 'S256' ? query.code_challenge : undefined;
    this.codes.set(code, { world, uri, challenge, scope: query.scope ?? '', until: Date.now() + 600_000 });
    back.searchParams.set('code', code);
    return back.href;
  }

  /** The world that a code or a refresh token is of. */
  owner(form) {
    return (form.grant_type === 'refresh_token' ? this.refreshTokens.get(form.refresh_token) : this.codes.get(form.code))?.world;
  }

  /** Returns tokens, or an error: both with the status 200. */
  exchange(form) {
    const error = (name, description) => ({
      error: name,
      error_description: description,
      error_uri: 'https://docs.github.com/apps',
    });
    if (form.client_id !== this.clientId || form.client_secret !== this.clientSecret) {
      return error('incorrect_client_credentials', 'The client_id and/or client_secret passed are incorrect.');
    }
    if (form.grant_type === 'refresh_token') {
      const known = this.refreshTokens.get(form.refresh_token);
      if (!known) return error('bad_refresh_token', 'The refresh token passed is incorrect or expired.');
      this.refreshTokens.delete(form.refresh_token);
      this.tokens.delete(known.access);
      return this.issue(known.world, known.scope);
    }
    const known = this.codes.get(form.code);
    this.codes.delete(form.code);
    const verified =
      !known?.challenge ||
      known.challenge ===
        createHash('sha256')
          .update(form.code_verifier ?? '')
          .digest('base64url');
    if (!known || known.until < Date.now() || !verified) {
      return error('bad_verification_code', 'The code passed is incorrect or expired.');
    }
    if (form.redirect_uri && form.redirect_uri !== known.uri) {
      return error('redirect_uri_mismatch', 'The redirect_uri MUST match the registered callback URL for this application.');
    }
    return this.issue(known.world, known.scope);
  }

  issue(world, scope) {
    const access = secret(world.expiring ? 'ghu' : 'gho');
    this.tokens.set(access, { world, expiresAt: world.expiring ? Date.now() + 28_800_000 : Infinity });
    const tokens = { access_token: access, scope: scope.split(' ').join(','), token_type: 'bearer' };
    if (!world.expiring) return tokens;
    const refresh = secret('ghr');
    this.refreshTokens.set(refresh, { world, scope, access });
    return { ...tokens, expires_in: 28_800, refresh_token: refresh, refresh_token_expires_in: 15_811_200 };
  }

  /** Revokes a token for the application, which presents itself with its secret. */
  revoke(authorization, clientId, token) {
    const own = Buffer.from(`${this.clientId}:${this.clientSecret}`).toString('base64');
    if (clientId !== this.clientId || authorization !== `Basic ${own}`) throw notFound();
    if (typeof token !== 'string' || !this.tokens.has(token)) throw new Refusal(422, 'Validation Failed', { errors: [] });
    this.tokens.delete(token);
    for (const [refresh, known] of this.refreshTokens) if (known.access === token) this.refreshTokens.delete(refresh);
  }
}
