// What happens in a meeting, as it happens: the socket, its tickets, and going on after it broke.

import { BASE, Refusal } from './api.js';

/** @typedef {{event: string, offset: number, at: string, data: any}} Happening */
/**
 * @typedef {object} Listener
 * @property {(snapshot: any) => void} snapshot everything anew
 * @property {(happening: Happening) => void} happened the next event, none left out
 * @property {(up: boolean) => void} connection whether what is shown is kept up to date
 * @property {(code: string) => void} refused the server no longer tells this reader
 */

const SHORTEST_MS = 1_000;
const LONGEST_MS = 20_000;
/** A connection may break without a word: it is asked now and then. */
const ASKED_EVERY_MS = 20_000;
const ANSWER_WITHIN_MS = 10_000;

export class Feed {
  /** @param {string} topic @param {() => Promise<{ticket: string}>} ticket @param {Listener} listener */
  constructor(topic, ticket, listener) {
    this.topic = topic;
    this.ticket = ticket;
    this.listener = listener;
    /** Where this reader stands. @type {{epoch: string, offset: number} | null} */
    this.since = null;
    /** @type {WebSocket | null} */
    this.socket = null;
    this.tries = 0;
    this.isOver = false;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.asking = undefined;
    this.online = () => this.hurry();
    addEventListener('online', this.online);
    this.open();
  }

  /** Ends it for good. */
  close() {
    this.isOver = true;
    removeEventListener('online', this.online);
    this.drop();
  }

  drop() {
    clearTimeout(this.timer);
    clearTimeout(this.asking);
    const socket = this.socket;
    this.socket = null;
    socket?.close();
  }

  async open() {
    let ticket;
    try {
      ({ ticket } = await this.ticket());
    } catch (refusal) {
      if (this.isOver) return;
      if (refusal instanceof Refusal && !refusal.passes) return this.end(refusal.code);
      return this.retry(refusal instanceof Refusal ? refusal.retryAfter : undefined);
    }
    if (this.isOver) return;
    const scheme = location.protocol === 'https:' ? 'wss:' : 'ws:';
    const socket = new WebSocket(`${scheme}//${location.host}${BASE}/ws?ticket=${encodeURIComponent(ticket)}`);
    this.socket = socket;
    socket.onopen = () => this.subscribe();
    socket.onmessage = (message) => this.socket === socket && this.read(JSON.parse(message.data));
    socket.onclose = () => {
      if (this.socket !== socket) return;
      this.drop();
      this.retry();
    };
    this.expect();
  }

  subscribe() {
    const since = this.since ? { since: this.since } : {};
    this.socket?.send(JSON.stringify({ type: 'subscribe', topic: this.topic, ...since }));
  }

  /** @param {any} frame */
  read(frame) {
    this.quiet();
    if (frame.type === 'subscribed' && frame.topic === this.topic) {
      this.tries = 0;
      this.since = { epoch: frame.epoch, offset: frame.offset };
      if (frame.snapshot) this.listener.snapshot(frame.snapshot);
      this.listener.connection(true);
    } else if (frame.type === 'event' && frame.topic === this.topic && this.since) {
      if (frame.offset <= this.since.offset) return;
      if (frame.offset > this.since.offset + 1) {
        // Never a silent hole: everything anew.
        this.since = null;
        return this.subscribe();
      }
      this.since.offset = frame.offset;
      this.listener.happened(frame);
    } else if (frame.type === 'error') {
      const passes = ['ServiceUnavailable', 'TooManyRequests', 'InternalServerError'].includes(frame.code);
      if (!passes) return this.end(frame.code);
      this.drop();
      this.retry();
    }
  }

  /** Something came: the next question can wait. */
  quiet() {
    clearTimeout(this.asking);
    this.asking = setTimeout(() => {
      this.socket?.send('{"type":"ping"}');
      this.expect();
    }, ASKED_EVERY_MS);
  }

  /** Something has to come soon, else the connection counts as broken. */
  expect() {
    clearTimeout(this.asking);
    this.asking = setTimeout(() => {
      this.drop();
      this.retry();
    }, ANSWER_WITHIN_MS);
  }

  /** @param {number} [seconds] that the server asks for */
  retry(seconds = 0) {
    if (this.isOver) return;
    this.listener.connection(false);
    const wait = Math.min(LONGEST_MS, SHORTEST_MS * 2 ** this.tries);
    this.tries += 1;
    // Spread out, so that a whole meeting does not come back in one moment.
    const spread = wait * (0.5 + Math.random() / 2);
    this.timer = setTimeout(() => this.open(), Math.max(spread, seconds * 1000));
  }

  /** The network is back: no need to wait. */
  hurry() {
    if (this.isOver || this.socket) return;
    clearTimeout(this.timer);
    this.tries = 0;
    this.open();
  }

  /** @param {string} code */
  end(code) {
    this.close();
    this.listener.refused(code);
  }
}
