// Calls of the interface: one method an operation, the envelope taken off, a refusal as an error.

import { current } from './words.js';

/** @typedef {import('./meeting.js').Meeting} Meeting */
/** @typedef {import('./meeting.js').Participant} Participant */
/** @typedef {{version: string, language: string, text: string, textHash: string}} Wording */
/** @typedef {Meeting & {myRole: string | null, myParticipantId: string | null, endReason: string | null,
 *   consentWording?: Wording | null}} Details */
/** @typedef {{meetingTitle: string, projectName: string, inviterName: string, scheduledAt: string,
 *   inviteeEmail: string, role: string, status: string, expiresAt: string}} Preview */
/** @typedef {{participant: Participant | null, meeting: Meeting, guestToken: string | null,
 *   expiresIn: number | null}} Accepted */
/** @typedef {{accessToken: string, refreshToken: string, user: {fullName: string, language: string}}} LoggedIn */
/** @typedef {{serverUrl: string, token: string, grants?: {canPublish?: boolean}}} Credentials */

/** A call that was not answered with success. `status` 0: nothing answered at all. */
export class Refusal extends Error {
  /** @param {number} status @param {string} code @param {number} [retryAfter] seconds */
  constructor(status, code, retryAfter) {
    super(`${status} ${code}`);
    this.status = status;
    this.code = code;
    this.retryAfter = retryAfter;
  }

  /** Whether the same call may be answered otherwise in a moment. */
  get passes() {
    return this.status === 0 || this.status === 429 || (this.status >= 500 && !this.code.endsWith('NotConfigured'));
  }
}

/** Where the interface is: below whatever the page is below. */
export const BASE = `${location.pathname.split(/\/meetings\//i)[0]}/api`;
/** No answer for so long is none. */
const PATIENCE_MS = 20_000;

export class Api {
  /** @param {{token: () => string | null, renew: () => Promise<boolean>}} session */
  constructor(session) {
    this.session = session;
  }

  /**
   * @param {string} method
   * @param {string} path below /api
   * @param {unknown} [body]
   * @param {boolean} [renewed] its token was renewed already
   * @returns {Promise<any>} the envelope's data
   */
  async call(method, path, body, renewed = false) {
    const token = this.session.token();
    const { status, envelope, retryAfter } = await send(method, path, body, token);
    if (envelope?.isSuccess) return envelope.data;
    if (status === 401 && token && !renewed && (await this.session.renew())) return this.call(method, path, body, true);
    throw new Refusal(status, envelope?.errors?.[0]?.code ?? 'Unreadable', retryAfter);
  }

  /** @param {string} token @returns {Promise<Preview>} */
  previewInvitation = (token) => this.call('GET', `/meeting-invitations/${encodeURIComponent(token)}`);
  /** @param {string} token @param {string} displayName @returns {Promise<Accepted>} */
  acceptInvitation = (token, displayName) =>
    this.call('POST', `/meeting-invitations/${encodeURIComponent(token)}/accept`, displayName ? { displayName } : {});
  /** @param {string} token */
  declineInvitation = (token) => this.call('POST', `/meeting-invitations/${encodeURIComponent(token)}/decline`);
  /** @param {string} id @returns {Promise<Details>} */
  meeting = (id) => this.call('GET', `/meetings/${id}`);
  /** @param {string} id @returns {Promise<Participant>} */
  join = (id) => this.call('POST', `/meetings/${id}/join`, {});
  /** @param {string} id */
  leave = (id) => this.call('POST', `/meetings/${id}/leave`);
  /** @param {string} id @returns {Promise<Meeting>} */
  start = (id) => this.call('POST', `/meetings/${id}/start`);
  /** @param {string} id @returns {Promise<Meeting>} */
  end = (id) => this.call('POST', `/meetings/${id}/end`, {});
  /** @param {string} id @returns {Promise<Credentials>} */
  credentials = (id) => this.call('POST', `/meetings/${id}/room-credentials`);
  /**
   * @param {string} id
   * @param {string} participantId
   * @param {{recordingConsent: boolean, scopes?: string[], wordingVersion?: string}} answer
   * @returns {Promise<Participant>}
   */
  consent = (id, participantId, answer) =>
    this.call('POST', `/meetings/${id}/participants/${participantId}/consent`, answer);
  /** @returns {Promise<{ticket: string}>} */
  ticket = () => this.call('POST', '/ws/tickets');
  logOut = () => this.call('POST', '/auth/logout', {}, true);
}

/**
 * @param {string} method
 * @param {string} path
 * @param {unknown} body
 * @param {string | null} token
 * @returns {Promise<{status: number, envelope: any, retryAfter: number | undefined}>}
 */
export async function send(method, path, body, token) {
  /** @type {Record<string, string>} */
  const headers = { Accept: 'application/json', 'Accept-Language': current() };
  if (token) headers.Authorization = `Bearer ${token}`;
  if (body !== undefined) headers['Content-Type'] = 'application/json';
  const cut = new AbortController();
  const patience = setTimeout(() => cut.abort(), PATIENCE_MS);
  try {
    const answer = await fetch(`${BASE}${path}`, {
      method, headers, body: body === undefined ? null : JSON.stringify(body), signal: cut.signal,
      cache: 'no-store', credentials: 'same-origin', redirect: 'error',
    });
    const envelope = await answer.json().catch(() => null);
    return { status: answer.status, envelope, retryAfter: Number(answer.headers.get('Retry-After')) || undefined };
  } catch {
    throw new Refusal(0, 'Offline');
  } finally {
    clearTimeout(patience);
  }
}
