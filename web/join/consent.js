// Asking for consent, in the words of the meeting: nothing is chosen beforehand, no answer is easier than another, and
// closing the question is no answer.

import { Refusal } from './api.js';
import { announce, button, dialog, element, form, once, pressed, shows, write } from './elements.js';
import { fault } from './faults.js';
import { answered } from './meeting.js';
import { scopes } from './people.js';
import { languageName, say, time } from './words.js';

/** @typedef {import('./api.js').Wording} Wording */
/** @typedef {import('./meeting.js').Participant} Participant */
/**
 * @typedef {object} Asking
 * @property {() => Wording | null} wording today's words
 * @property {() => Promise<void>} reread reads the words anew
 * @property {() => Participant | undefined} me
 * @property {(answer: {recordingConsent: boolean, scopes?: string[], wordingVersion?: string}) => Promise<void>} save
 */

export class Consent {
  /** @param {Asking} asking */
  constructor(asking) {
    this.asking = asking;
    const form_ = form('consent-form');
    form_.addEventListener('submit', (event) => {
      event.preventDefault();
      const isAgreed = event.submitter?.id === 'agree';
      once(form_, () => this.answer(isAgreed));
    });
    button('later').addEventListener('click', () => dialog('consent-dialog').close());
    pressed('consent-ask', () => this.ask());
    pressed('consent-withdraw', () => this.withdraw());
  }

  /** Puts the question; the page behind waits. */
  ask() {
    const where = dialog('consent-dialog');
    if (where.open || !this.asking.wording()) return;
    this.clear();
    write('wording-changed', '');
    this.draw();
    where.showModal();
    element('wording-heading').focus();
    where.scrollTop = 0;
  }

  close() {
    dialog('consent-dialog').close();
  }

  clear() {
    form('consent-form').reset();
    write('scope-fault', '');
  }

  /** @param {boolean} isAgreed */
  async answer(isAgreed) {
    const chosen = new FormData(form('consent-form')).getAll('scope').map(String);
    const wording = this.asking.wording();
    write('scope-fault', '');
    if (isAgreed && !chosen.includes('RECORDING')) {
      write('scope-fault', say('consent.chooseRecording'));
      form('consent-form').querySelector('input')?.focus();
      return;
    }
    try {
      await this.asking.save(
        isAgreed && wording
          ? { recordingConsent: true, scopes: chosen, wordingVersion: wording.version }
          : { recordingConsent: false },
      );
      this.close();
      write('consent-fault', '');
      announce(say('consent.saved'));
    } catch (refusal) {
      if (refusal instanceof Refusal && refusal.code === 'WordingChanged') await this.changed();
      else write('scope-fault', fault(refusal));
    }
  }

  /** Other words than were read: they are shown, and nothing of the answer stays. */
  async changed() {
    await this.asking.reread();
    this.clear();
    this.draw();
    write('wording-changed', say('consent.changed'));
    element('wording-heading').focus();
    dialog('consent-dialog').scrollTop = 0;
  }

  async withdraw() {
    try {
      await this.asking.save({ recordingConsent: false });
      write('consent-fault', '');
      announce(say('consent.saved'));
      // The button that was pressed is gone.
      button('consent-ask').focus();
    } catch (refusal) {
      write('consent-fault', fault(refusal));
    }
  }

  /** What is shown of the words, and of the answer that was given. */
  draw() {
    const wording = this.asking.wording();
    if (wording) {
      const tag = wording.language.toLowerCase();
      const text = element('wording-text');
      text.lang = tag;
      text.dir = 'auto';
      write('wording-text', wording.text);
      write('wording-version', say('consent.version', { version: wording.version, language: languageName(tag) }));
    }
    const me = this.asking.me();
    const answer = answered(me);
    const at = me?.consent?.consentedAt;
    const said = say(`consent.${answer}`, { scopes: scopes(me?.consent?.scopes ?? []) });
    write('consent-answer', at && answer !== 'unanswered' ? `${said} (${time(at)})` : said);
    write('consent-ask', say(answer === 'unanswered' ? 'consent.ask' : 'consent.change'));
    // Whoever was put out may take their consent back, and no more.
    shows('consent-ask', wording !== null && me?.status !== 'REMOVED');
    shows('consent-withdraw', answer === 'granted');
  }
}
