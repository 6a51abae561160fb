// The ways in: a log-in, or an invitation that is read, accepted or declined.

import { Refusal } from './api.js';
import { button, form, input, once, pressed, show, shown, write } from './elements.js';
import { fault } from './faults.js';
import { known, say, time } from './words.js';

/** @typedef {import('./api.js').Api} Api */
/** @typedef {import('./api.js').Preview} Preview */
/** @typedef {import('./session.js').Session} Session */
/**
 * @typedef {object} Ways
 * @property {() => Promise<void>} enter who is here may go to the meeting
 * @property {(name: string, code?: string) => void} end the way leads no further
 * @property {(language: import('./words.js').Language) => Promise<void>} prefer somebody's own language is known
 */

export class Door {
  /** @param {Api} api @param {Session} session @param {Ways} ways */
  constructor(api, session, ways) {
    this.api = api;
    this.session = session;
    this.ways = ways;
    /** Why a log-in is asked for: a word. */
    this.why = 'login.why';
    /** @type {Preview | null} */
    this.preview = null;
    /** The name given in the invitation, while a log-in comes between. */
    this.name = '';
    submits('login-form', () => this.logIn());
    submits('invitation-form', () => this.accept());
    pressed('decline', () => this.decline());
  }

  /** @param {string} [why] */
  askToLogIn(why = 'login.why') {
    this.why = why;
    this.draw();
    write('login-fault', '');
    show('login');
  }

  async logIn() {
    const [email, password] = [input('email'), input('password')];
    mark([email, password], [email.validity.valueMissing, password.validity.valueMissing]);
    if (email.validity.valueMissing || password.validity.valueMissing) {
      write('login-fault', say('fault.Fields'));
      return (email.validity.valueMissing ? email : password).focus();
    }
    if (!email.validity.valid) {
      mark([email], [true]);
      write('login-fault', say('fault.Email'));
      return email.focus();
    }
    write('login-fault', '');
    try {
      const language = known(await this.session.logIn(email.value.trim(), password.value));
      password.value = '';
      if (language) await this.ways.prefer(language);
    } catch (refusal) {
      write('login-fault', fault(refusal));
      return password.focus();
    }
    if (this.session.invitation && this.preview) return this.acceptAs(this.name);
    return this.ways.enter();
  }

  /** Reads the invitation that the link brought. */
  async read() {
    const token = this.session.invitation;
    if (!token) return;
    try {
      this.preview = await this.api.previewInvitation(token);
    } catch (refusal) {
      return this.fail(refusal);
    }
    if (this.preview.status === 'DECLINED') return this.over('declined');
    this.draw();
    write('invitation-fault', '');
    show('invitation');
  }

  async accept() {
    const name = input('name');
    const given = name.value.trim();
    mark([name], [given === '']);
    if (given === '') {
      write('invitation-fault', say('fault.Name'));
      return name.focus();
    }
    return this.acceptAs(given);
  }

  /** @param {string} name */
  async acceptAs(name) {
    const token = this.session.invitation;
    if (!token) return;
    this.name = name;
    write('invitation-fault', '');
    try {
      const { guestToken, expiresIn } = await this.api.acceptInvitation(token, name);
      if (guestToken) this.session.beGuest(guestToken, expiresIn ?? 0);
    } catch (refusal) {
      return this.fail(refusal);
    }
    this.session.invitation = null;
    this.preview = null;
    await this.ways.enter();
  }

  async decline() {
    const token = this.session.invitation;
    if (!token) return;
    write('invitation-fault', '');
    try {
      await this.api.declineInvitation(token);
    } catch (refusal) {
      return this.fail(refusal);
    }
    this.over('declined');
  }

  /** @param {string} name */
  over(name) {
    this.session.invitation = null;
    this.ways.end(name);
  }

  /** What a refused invitation means. @param {unknown} refusal */
  async fail(refusal) {
    if (!(refusal instanceof Refusal)) throw refusal;
    const { status } = refusal;
    if (status === 401) return this.askToLogIn('login.whyInvitation');
    if (status === 403) {
      this.session.forget();
      return this.askToLogIn('login.whyOther');
    }
    if (status === 404 || status === 400) return this.over('unknown');
    if (status === 410) return this.over('gone');
    if (shown() === 'invitation') return write('invitation-fault', fault(refusal));
    this.ways.end('failed', refusal.code);
  }

  draw() {
    button('log-out').hidden = !this.session.isMember();
    write('login-why', say(this.why));
    if (!this.preview) return;
    write('title', this.preview.meetingTitle);
    write('invitation-meeting', this.preview.meetingTitle);
    write('invitation-project', this.preview.projectName);
    write('invitation-inviter', this.preview.inviterName);
    write('invitation-time', time(this.preview.scheduledAt));
    write('invitation-for', this.preview.inviteeEmail);
  }
}

/** @param {string} id @param {() => Promise<void> | void} act */
function submits(id, act) {
  const where = form(id);
  where.addEventListener('submit', (event) => {
    event.preventDefault();
    once(where, act);
  });
}

/** @param {HTMLInputElement[]} inputs @param {boolean[]} faulty */
function mark(inputs, faulty) {
  inputs.forEach((one, at) => one.setAttribute('aria-invalid', String(faulty[at] ?? false)));
}
