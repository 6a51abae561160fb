// Who is here: nobody yet, a guest of this one meeting, or somebody with an account.
//
// A script that got into the page could read whatever the page can, so the policy of the page lets none in. Beyond that,
// tokens are in memory alone. What is to outlast a reload is put aside when the page goes, and taken away again when it
// comes, so that a copy of the tab finds nothing and two tabs never rotate the same refresh token. A guest's token, good
// for one meeting and some hours, is kept aside all along: a phone may drop the page without a word, and the link that
// gave it is gone from the address.

import { Refusal, send } from './api.js';

/** @typedef {{kind: 'guest', token: string, until: number} | {kind: 'member', access: string, refresh: string}} Standing */
/** @typedef {{standing: Standing | null, invitation: string | null}} Kept */

export class Session {
  /** @param {string} meetingId */
  constructor(meetingId) {
    this.place = `colloquy.join.${meetingId}`;
    /** @type {Standing | null} */
    this.standing = null;
    /** The token of an invitation that is not answered yet. @type {string | null} */
    this.invitation = null;
    /** @type {Promise<boolean> | null} */
    this.renewing = null;
    this.take();
    addEventListener('pagehide', () => this.put());
    // Back from the browser's cache of pages: everything is in memory still.
    addEventListener('pageshow', (event) => event.persisted && this.take());
  }

  isMember = () => this.standing?.kind === 'member';
  isGuest = () => this.standing?.kind === 'guest';

  /** @returns {string | null} */
  token = () => {
    if (this.standing?.kind === 'guest') return this.standing.token;
    return this.standing?.access ?? null;
  };

  /** @param {string} token @param {number} expiresIn seconds */
  beGuest(token, expiresIn) {
    this.standing = { kind: 'guest', token, until: Date.now() + expiresIn * 1000 };
    this.keep();
  }

  /**
   * Logs in; gives the language of the account.
   * @param {string} email @param {string} password
   */
  async logIn(email, password) {
    const loggedIn = await this.authenticate('/auth/login', { email, password });
    return loggedIn.user.language;
  }

  /** A new access token, by the refresh token. Whoever asks meanwhile waits for the same one. */
  renew = () => {
    this.renewing ??= this.renewOnce().finally(() => {
      this.renewing = null;
    });
    return this.renewing;
  };

  async renewOnce() {
    if (this.standing?.kind !== 'member') return false;
    try {
      await this.authenticate('/auth/refresh-token', { refreshToken: this.standing.refresh });
      return true;
    } catch (refusal) {
      if (refusal instanceof Refusal && refusal.status !== 401) throw refusal;
      this.forget();
      return false;
    }
  }

  /**
   * @param {string} path @param {object} body
   * @returns {Promise<import('./api.js').LoggedIn>}
   */
  async authenticate(path, body) {
    const { status, envelope, retryAfter } = await send('POST', path, body, null);
    if (!envelope?.isSuccess) throw new Refusal(status, envelope?.errors?.[0]?.code ?? 'Unreadable', retryAfter);
    this.standing = { kind: 'member', access: envelope.data.accessToken, refresh: envelope.data.refreshToken };
    return envelope.data;
  }

  forget() {
    this.standing = null;
    this.keep();
  }

  /** Takes what was put aside. */
  take() {
    const kept = this.read();
    if (kept) {
      const { standing } = kept;
      const over = standing?.kind === 'guest' && standing.until < Date.now();
      this.standing = over ? null : standing;
      this.invitation = kept.invitation;
    }
    this.keep();
  }

  /** @returns {Kept | null} */
  read() {
    try {
      return JSON.parse(sessionStorage.getItem(this.place) ?? 'null');
    } catch {
      // Storage is off, or holds what is not ours.
      return null;
    }
  }

  /** Puts everything aside, for the page that comes next. */
  put() {
    this.store({ standing: this.standing, invitation: this.invitation });
  }

  /** Keeps what may lie there while the page is open: a guest's token. */
  keep() {
    this.store({ standing: this.standing?.kind === 'guest' ? this.standing : null, invitation: null });
  }

  /** @param {Kept} kept */
  store(kept) {
    try {
      if (kept.standing || kept.invitation) sessionStorage.setItem(this.place, JSON.stringify(kept));
      else sessionStorage.removeItem(this.place);
    } catch {
      // Without storage a reload asks for the log-in, or the link, again.
    }
  }
}
