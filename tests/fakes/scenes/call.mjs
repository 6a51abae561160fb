// Scenes of a call through a real media server: what is heard is taken from the statistics of the browser's connections.

import { Person } from './person.mjs';
import { RecorderProbe } from './recorder-probe.mjs';

/** Keeps the connections that a page makes where the scene can ask them. */
function keepConnections() {
  const connections = [];
  globalThis.connections = connections;
  globalThis.RTCPeerConnection = class extends globalThis.RTCPeerConnection {
    constructor(...given) {
      super(...given);
      connections.push(this);
    }
  };
}

class Caller extends Person {
  static settings = { permissions: ['microphone', 'camera'], prepare: keepConnections };

  /** The sound that comes in: for each stream, the energy so far. */
  async heard() {
    return this.page.evaluate(async () => {
      const energies = [];
      for (const connection of globalThis.connections.filter(({ connectionState }) => connectionState === 'connected')) {
        for (const report of (await connection.getStats()).values()) {
          if (report.type === 'inbound-rtp' && report.kind === 'audio') energies.push([report.id, report.totalAudioEnergy ?? 0]);
        }
      }
      return Object.fromEntries(energies);
    });
  }

  /** Waits until so many others are heard: the energy of that many streams grows. */
  async hears(count) {
    const before = await this.heard();
    const louder = async () => {
      const now = await this.heard();
      return Object.entries(now).filter(([id, energy]) => energy > (before[id] ?? 0)).length;
    };
    await this.eventually(async () => (await louder()) === count, `hearing ${count} others`);
  }

  /** Whether a stream of this person's own goes out. */
  async isSending() {
    return this.page.evaluate(async () => {
      for (const connection of globalThis.connections) {
        for (const report of (await connection.getStats()).values()) {
          if (report.type === 'outbound-rtp' && report.packetsSent > 0) return true;
        }
      }
      return false;
    });
  }

  async comesIn(name) {
    await this.sees('You are invited to a meeting');
    await this.write('Your name', name);
    await this.page.keyboard.press('Enter');
  }

  async agrees() {
    await this.sees('Do you agree to be recorded?');
    await this.tick('My audio and video may be recorded');
    await this.press('I agree');
  }

  async refuses() {
    await this.sees('Do you agree to be recorded?');
    await this.press('I do not agree');
    await this.reads('does not agree to be recorded');
  }
}

/** The host, whose microphone is off, and guests who talk; everybody agreed to be recorded. */
async function gather(browser, { page, host, guests }, probe) {
  const ada = await Caller.at(browser, page, Caller.settings);
  if (probe) {
    await probe.attach(ada.context);
    await ada.opens(page);
  }
  await ada.logIn(host);
  await ada.press('Start the meeting');
  await ada.agrees();
  const callers = [];
  for (const { link, name } of guests) {
    const guest = await Caller.at(browser, link, Caller.settings);
    await guest.comesIn(name);
    await guest.agrees();
    await guest.reads('You are connected.');
    await guest.press('Turn microphone on');
    callers.push(guest);
  }
  await ada.hears(callers.length);
  return [ada, ...callers];
}

export const call = {
  /**
   * A host, two guests and an observer meet. `remove` is the call that removes the first guest; a call of `story` stops the server
   * of the meeting, and another one starts it again.
   */
  async call(browser, { page, host, guests, observer, remove, story }) {
    const ada = await Caller.at(browser, page, Caller.settings);
    await ada.logIn(host);
    await ada.press('Start the meeting');
    await ada.refuses();
    const callers = [];
    for (const { link, name } of guests) {
      const guest = await Caller.at(browser, link, Caller.settings);
      await guest.comesIn(name);
      await guest.refuses();
      callers.push(guest);
    }
    const everybody = [ada, ...callers];
    for (const caller of everybody) {
      await caller.reads('You are connected.');
      await caller.press('Turn microphone on');
    }
    for (const caller of everybody) await caller.hears(callers.length);

    const silent = await Caller.at(browser, observer.link, Caller.settings);
    await silent.comesIn(observer.name);
    await silent.refuses();
    await silent.reads('As an observer you can watch and listen');
    await silent.hears(everybody.length);
    if (await silent.isSending()) silent.faults.push('an observer sends');

    // Sound does not go through the server of the meeting.
    for (let turn = 0; turn < 2; turn += 1) {
      await fetch(story);
      for (const caller of everybody) await caller.hears(callers.length);
    }

    const [removed, ...staying] = callers;
    const people = await (await fetch(remove.people, { headers: { authorization: remove.authorization } })).json();
    const { id } = people.data.items.find(({ displayName }) => displayName === guests[0].name);
    const done = await fetch(`${remove.people}/${id}`, { method: 'DELETE', headers: { authorization: remove.authorization } });
    if (!done.ok) throw new Error(`removing: ${done.status}`);
    await removed.page.getByRole('heading', { name: /You were removed from the meeting|Your access has ended/ }).waitFor();
    for (const caller of [ada, ...staying]) await caller.hears(staying.length);

    await ada.press('End the meeting for all');
    await ada.page.keyboard.press('Tab');
    await ada.page.getByRole('dialog').getByRole('button', { name: 'End the meeting for all' }).press('Enter');
    for (const caller of [ada, ...staying, silent]) await caller.sees('The meeting has ended');
    const faults = [];
    for (const caller of [...everybody, silent]) faults.push(...(await caller.isGone()));
    return faults;
  },

  /**
   * The host, whose microphone is off, records two guests for `seconds`. Their network drops twice, and a call of `story` stops the
   * server and starts it again.
   */
  async recordedCall(browser, { page, host, guests, seconds, story }) {
    const probe = new RecorderProbe();
    const [ada, ...callers] = await gather(browser, { page, host, guests }, probe);
    await ada.press('Record');
    for (const person of [ada, ...callers]) await person.reads('This meeting is being recorded.');
    const part = (share) => ada.page.waitForTimeout(seconds * 1000 * share);
    await part(0.3);
    await fetch(story);
    for (let drop = 0; drop < 2; drop += 1) {
      await ada.context.setOffline(true);
      await part(0.2);
      await ada.context.setOffline(false);
      await part(0.15);
    }
    await ada.hears(callers.length);
    await ada.press('Stop recording');
    await ada.reads('Everything recorded here is saved on the server.');
    const faults = [];
    for (const person of [ada, ...callers]) faults.push(...(await person.isGone()));
    return { faults, found: { sha256: probe.sha256, sizes: probe.sizes, seconds: probe.seconds } };
  },

  /** The host records each voice separately; the own one from when the microphone is on, after `seconds`. */
  async voices(browser, { page, host, guests, seconds }) {
    const [ada, ...callers] = await gather(browser, { page, host, guests });
    await ada.press('Record each voice separately');
    for (const person of [ada, ...callers]) await person.reads('This meeting is being recorded.');
    await ada.page.waitForTimeout(seconds * 1000);
    await ada.press('Turn microphone on');
    await ada.page.waitForTimeout(seconds * 1000);
    await ada.press('Stop recording');
    await ada.reads('Everything recorded here is saved on the server.');
    const faults = [];
    for (const person of [ada, ...callers]) faults.push(...(await person.isGone()));
    return faults;
  },

  /** Somebody is in the room alone until it is closed at the media server, which a call of `story` does. */
  async closed(browser, { page, host, story }) {
    const ada = await Caller.at(browser, page, Caller.settings);
    await ada.logIn(host);
    await ada.press('Start the meeting');
    await ada.refuses();
    await ada.reads('You are connected.');
    await fetch(story);
    await ada.sees('The meeting has ended');
    await ada.reads('The media room was closed.');
    return ada.isGone();
  },
};
