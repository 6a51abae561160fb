// Who is here and who is not, what each said about recording, and who speaks: all of it in words.

import { element, shows, write } from './elements.js';
import { answered } from './meeting.js';
import { compare, list, say } from './words.js';

/** @typedef {import('./meeting.js').MeetingState} MeetingState */
/** @typedef {import('./meeting.js').Participant} Participant */
/** What the room says of somebody who is connected to it. @typedef {{microphone: boolean, speaking: boolean}} Heard */

/** Many changes in a moment are drawn once. */
const DRAWN_EVERY_MS = 60;
const ROLES = ['HOST', 'CO_HOST', 'PARTICIPANT', 'OBSERVER'];

export class People {
  constructor() {
    /** @type {MeetingState | null} */
    this.state = null;
    /** @type {string | null} */
    this.me = null;
    /** By participant. @type {Map<string, Heard>} */
    this.heard = new Map();
    /** @type {Map<string, {item: HTMLLIElement, drawn: string}>} */
    this.items = new Map();
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined;
  }

  /** Draws what has changed, soon. */
  draw() {
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      this.drawNow();
    }, DRAWN_EVERY_MS);
  }

  drawNow() {
    if (!this.state) return;
    const all = [...this.state.participants.values()].filter((one) => one.status !== 'REMOVED');
    const here = all.filter((one) => one.status === 'JOINED').sort(order);
    const away = all.filter((one) => one.status !== 'JOINED').sort(order);
    write('here-heading', say('people.here', { count: here.length }));
    write('away-heading', say('people.away', { count: away.length }));
    shows('away-part', away.length > 0);
    this.fill('here', here);
    this.fill('away', away);
    const known = new Set(all.map((one) => one.id));
    for (const id of this.items.keys()) if (!known.has(id)) this.items.delete(id);
  }

  /** @param {string} id @param {Participant[]} people */
  fill(id, people) {
    const where = element(id);
    const items = people.map((one) => this.item(one));
    const stands = where.children.length === items.length && items.every((item, at) => where.children[at] === item);
    if (!stands) where.replaceChildren(...items);
  }

  /** The item of somebody, drawn anew only where it says something else than before. @param {Participant} one */
  item(one) {
    const facts = this.facts(one);
    const drawn = JSON.stringify([one.displayName, facts]);
    let known = this.items.get(one.id);
    if (!known) {
      known = { item: document.createElement('li'), drawn: '' };
      this.items.set(one.id, known);
    }
    if (known.drawn !== drawn) {
      known.drawn = drawn;
      known.item.replaceChildren(named(one.displayName), told(facts));
    }
    return known.item;
  }

  /** @param {Participant} one @returns {{kind: string, text: string}[]} */
  facts(one) {
    const facts = [];
    if (one.id === this.me) facts.push({ kind: 'you', text: say('people.you') });
    facts.push({ kind: 'role', text: say(`role.${one.role}`) }, { kind: 'presence', text: presence(one) });
    const heard = this.heard.get(one.id);
    if (one.status === 'JOINED' && heard) {
      facts.push({ kind: 'microphone', text: say(heard.microphone ? 'people.unmuted' : 'people.muted') });
      if (heard.speaking) facts.push({ kind: 'speaking', text: say('people.speaking') });
    }
    const answer = answered(one);
    // Somebody who never came was never asked.
    if (one.status !== 'INVITED' || answer !== 'unanswered') {
      facts.push({ kind: answer, text: say(`people.${answer}`, { scopes: scopes(one.consent?.scopes ?? []) }) });
    }
    return facts;
  }
}

/** @param {string[]} given */
export const scopes = (given) => list(given.map((scope) => say(`scope.${scope}`)));

/** @param {Participant} one */
function presence(one) {
  if (one.status === 'INVITED') return say('people.invited');
  if (one.status === 'LEFT') return say('people.left');
  return say(one.connected === false ? 'people.disconnected' : 'people.connected');
}

/** The host first, then those with more to say, then by name. @param {Participant} a @param {Participant} b */
function order(a, b) {
  return ROLES.indexOf(a.role) - ROLES.indexOf(b.role) || compare(a.displayName, b.displayName);
}

/** @param {string} name */
function named(name) {
  const element = document.createElement('bdi');
  element.className = 'name';
  element.textContent = name;
  return element;
}

/** @param {{kind: string, text: string}[]} facts */
function told(facts) {
  const paragraph = document.createElement('p');
  paragraph.className = 'facts';
  paragraph.append(
    ...facts.map(({ kind, text }) => {
      const fact = document.createElement('span');
      fact.className = kind;
      fact.textContent = text;
      return fact;
    }),
  );
  return paragraph;
}
