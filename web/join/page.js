// The page on which people join a meeting, from the link to the end. It shows one view at a time:
//
//   loading --> login ------+--> waiting --> meeting --> ended (over, cancelled, removed, left, ...)
//         `---> invitation -'       `---------'^ `--- joins again --'
//
// What the meeting is comes from the server alone, by the socket; each change of it goes through `settle`, which says
// what this person is to see.

import { Api, Refusal } from './api.js';
import { Consent } from './consent.js';
import { announce, dialog, element, entitle, headingOf, pressed, show, shown, shows, write } from './elements.js';
import { fault, faultOf } from './faults.js';
import { Door } from './invitation.js';
import { answered, MeetingState } from './meeting.js';
import { People } from './people.js';
import { MediaRoom } from './room.js';
import { Session } from './session.js';
import { Feed } from './socket.js';
import { current, has, known, LANGUAGES, list, say, speak, time } from './words.js';

/** @typedef {import('./api.js').Details} Details */
/** @typedef {import('./meeting.js').Participant} Participant */
/** @typedef {import('./words.js').Language} Language */

const id = location.pathname.match(/\/meetings\/([^/]+)\/join/i)?.[1] ?? '';
const session = new Session(id);
const api = new Api(session);
const people = new People();
const door = new Door(api, session, { enter, end, prefer });

/** @type {Details | null} */
let details = null;
/** @type {MeetingState | null} */
let state = null;
/** @type {Feed | null} */
let feed = null;
/** Whether this person is to be in the meeting whenever it is held. */
let comes = true;
/** Whether they are in it, as far as this page did it. */
let isIn = false;
let recordingWas = '';
/** How the way ended, where it did: a word, and what the server said. @type {{name: string, code: string}} */
let ending = { name: '', code: '' };
/** Tries to reach the server that failed, one after the other. */
let tries = 0;
/** @type {ReturnType<typeof setTimeout> | undefined} */
let nextTry = undefined;
/** When the connection was back after a break. */
let backAt = -Infinity;
/** What was missed comes within so long after that. */
const CATCHING_UP_MS = 5_000;

const room = new MediaRoom({
  credentials: () => api.credentials(id),
  nameOf: (identity) => state?.nameOf(identity) ?? '',
  heard: (heard) => {
    people.heard = heard;
    people.draw();
  },
  refused: () => void reread().then(settle).catch(turnedAway),
});
const consent = new Consent({
  wording: () => details?.consentWording ?? null,
  reread,
  me,
  save: async (answer) => {
    if (!people.me) return;
    take(await api.consent(id, people.me, answer));
  },
});

pressed('language', () => turnTo(other()));
pressed('log-out', logOut);
pressed('start', () => act(() => api.start(id), 'waiting-fault'));
pressed('end-meeting', () => dialog('end-dialog').showModal());
pressed('leave', leave);
pressed('again', again);
dialog('end-dialog').addEventListener('close', () => {
  const where = dialog('end-dialog');
  const isMeant = where.returnValue === 'end';
  where.returnValue = '';
  if (isMeant) void act(() => api.end(id), 'meeting-fault');
});
addEventListener('hashchange', () => takeLink() && location.reload());

begin().catch((error) => {
  shows('broken', true);
  throw error;
});

async function begin() {
  // Another link to the same meeting counts over what was kept.
  takeLink();
  await speak(asked() ?? navigator.languages.map(known).find((tag) => tag !== undefined) ?? 'en');
  draw();
  await (session.invitation ? door.read() : enter());
}

/** Takes an invitation's token out of the address, so that it is neither seen, nor kept in the history, nor shared. */
function takeLink() {
  if (!location.hash) return false;
  const token = new URLSearchParams(location.hash.slice(1)).get('invitation');
  history.replaceState(null, '', location.pathname + location.search);
  if (token) session.invitation = token;
  return token !== null;
}

/** The language that the address asks for. */
function asked() {
  return known(new URLSearchParams(location.search).get('lang'));
}

function other() {
  return /** @type {Language} */ (LANGUAGES.find((one) => one !== current()));
}

/** Speaks the language of somebody's account, unless the address asks for one. @param {Language} language */
async function prefer(language) {
  if (asked() || language === current()) return;
  await speak(language);
  draw();
}

/** @param {Language} language */
async function turnTo(language) {
  await speak(language);
  const address = new URL(location.href);
  address.searchParams.set('lang', language);
  history.replaceState(null, '', address);
  draw();
  // The words of consent are in more than one language too.
  if (details) await reread().catch(() => undefined);
}

/** Goes to the meeting: reads it, listens to it, and lets `settle` say what comes next. */
async function enter() {
  if (!session.token()) return door.askToLogIn(session.invitation ? 'login.whyInvitation' : undefined);
  try {
    await reread();
  } catch (refusal) {
    return turnedAway(refusal);
  }
  connection(true);
  feed?.close();
  feed = new Feed(`meeting:${id}`, api.ticket, {
    snapshot: (snapshot) => {
      const isFirst = state === null;
      state = new MeetingState(snapshot);
      people.state = state;
      if (isFirst) comes = me()?.status !== 'LEFT';
      // Away for so long that the meeting took this person for gone: they did not leave.
      else if (isIn && me()?.status === 'LEFT') isIn = false;
      recordingWas = recording();
      settle();
    },
    happened,
    connection,
    // Reading it again tells why, or begins anew.
    refused: () => later(1_000),
  });
}

/** Reads what concerns this person alone, the words of consent among it. */
async function reread() {
  details = await api.meeting(id);
  people.me = details.myParticipantId ?? people.me;
  draw();
}

/** Enters again in a while. @param {number} wait */
function later(wait) {
  clearTimeout(nextTry);
  nextTry = setTimeout(enter, wait);
}

/** Longer with each try that failed. */
const pause = () => Math.min(20_000, 1_000 * 2 ** tries++);

/** What somebody sees who may not enter, or whose access ended. @param {unknown} refusal */
function turnedAway(refusal) {
  if (!(refusal instanceof Refusal)) throw refusal;
  if (refusal.passes) {
    connection(false);
    return later(Math.max(pause(), (refusal.retryAfter ?? 0) * 1000));
  }
  const wasGuest = session.isGuest();
  if (refusal.status === 401 && !wasGuest) {
    close();
    return door.askToLogIn('login.whyEnded');
  }
  if (refusal.status === 404 || refusal.status === 400) return end('unknown');
  if (refusal.status === 401 || refusal.status === 403) {
    if (me()?.status === 'REMOVED') return end('removed');
    return end(wasGuest ? 'access' : 'forbidden');
  }
  end('failed', refusal.code);
}

/** This person as the meeting knows them. @returns {Participant | undefined} */
function me() {
  return people.me ? state?.participants.get(people.me) : undefined;
}

/** @param {Participant} participant as an operation answered */
function take(participant) {
  people.me = participant.id;
  state?.participants.set(participant.id, participant);
  draw();
}

/** Says what this person is to see now. */
function settle() {
  if (!state || !details) return;
  const { status } = state.meeting;
  draw();
  if (me()?.status === 'REMOVED') return end('removed');
  if (status === 'CANCELLED') return end('cancelled');
  if (status === 'ENDED') return end('over');
  if (status === 'SCHEDULED') {
    tries = 0;
    ending = { name: '', code: '' };
    return show('waiting');
  }
  if (!comes) return end('left');
  if (!isIn) void join();
}

async function join() {
  isIn = true;
  try {
    const participant = await api.join(id);
    // Whatever ended it meanwhile counts.
    if (!isIn) return;
    take(participant);
  } catch (refusal) {
    if (!isIn) return;
    isIn = false;
    // The meeting is further than this page knows.
    if (refusal instanceof Refusal && refusal.code === 'InvalidState') return later(pause());
    return turnedAway(refusal);
  }
  tries = 0;
  ending = { name: '', code: '' };
  draw();
  show('meeting');
  void room.start();
  if (answered(me()) === 'unanswered') consent.ask();
}

async function leave() {
  comes = false;
  isIn = false;
  room.stop();
  consent.close();
  // Gone without a word is gone too: the server notices.
  await api.leave(id).catch(() => undefined);
  end('left');
}

/** @param {() => Promise<unknown>} call @param {string} faults where it is said if it does not work */
async function act(call, faults) {
  try {
    write(faults, '');
    await call();
  } catch (refusal) {
    write(faults, fault(refusal));
  }
}

/** The end of the way: sound and picture stop, and the reader is told why. @param {string} name @param {string} [code] */
function end(name, code = '') {
  isIn = false;
  clearTimeout(nextTry);
  room.stop();
  // What is in front would keep the reader from the message.
  dialog('end-dialog').close();
  consent.close();
  if (['removed', 'access', 'forbidden', 'unknown', 'failed'].includes(name)) feed?.close();
  const isNew = ending.name !== name;
  ending = { name, code };
  draw();
  if (shown() !== 'ended') show('ended');
  else if (isNew) headingOf('ended')?.focus();
}

async function again() {
  const { name } = ending;
  if (name === 'left') {
    comes = true;
    return settle();
  }
  if (name === 'forbidden') {
    session.forget();
    return door.askToLogIn();
  }
  close();
  return session.invitation ? door.read() : enter();
}

/** As if nobody had been here. */
function close() {
  feed?.close();
  feed = null;
  state = null;
  details = null;
  people.me = null;
  isIn = false;
  ending = { name: '', code: '' };
  clearTimeout(nextTry);
  room.stop();
  draw();
}

async function logOut() {
  if (isIn) await leave();
  await api.logOut().catch(() => undefined);
  session.forget();
  close();
  door.askToLogIn();
}

/** @param {import('./socket.js').Happening} happening */
function happened(happening) {
  if (!state) return;
  const before = state.fold(happening);
  const { event, data } = happening;
  if (event.startsWith('participant.')) tell(before, data);
  const now = recording();
  if (now !== recordingWas) {
    recordingWas = now;
    if (isIn) announce(now);
  }
  if (data.id === people.me && data.status === 'LEFT' && isIn) {
    // For want of a sign of life while the connection was broken: they come back. Else they left in another window.
    isIn = false;
    comes = performance.now() - backAt < CATCHING_UP_MS;
  }
  if (event === 'meeting.ended') void reread().then(settle, settle);
  else settle();
}

/** Says what others do. @param {Participant | undefined} before @param {Participant} now */
function tell(before, now) {
  if (now.id === people.me || !isIn) return;
  const name = now.displayName;
  if (before?.status !== now.status) {
    const word = { JOINED: 'joined', LEFT: 'left', REMOVED: 'removed', INVITED: '' }[now.status];
    if (word) announce(say(`said.${word}`, { name }));
  }
  const answer = answered(now);
  if (answer !== answered(before) && answer !== 'unanswered') announce(say(`said.${answer}`, { name }));
}

/** Whether this meeting is being recorded, in words. */
function recording() {
  const { kind, waitsFor } = state?.recording() ?? { kind: 'none', waitsFor: [] };
  if (kind !== 'paused' || waitsFor.length === 0) return say(`recording.${kind}`);
  return say('recording.pausedFor', { names: list(waitsFor) });
}

/** @param {boolean} isUp */
function connection(isUp) {
  const wasDown = element('connection').textContent !== '';
  write('connection', isUp ? '' : say('connection.lost'));
  if (isUp && wasDown) {
    backAt = performance.now();
    announce(say('connection.back'));
  }
}

/** Writes all that is shown, in today's language. */
function draw() {
  door.draw();
  write('language', say('otherLanguage'));
  const otherOne = other();
  element('language').lang = otherOne;
  const meeting = state?.meeting ?? details;
  const isHost = details?.myRole === 'HOST' || details?.myRole === 'CO_HOST';
  if (meeting) {
    write('title', meeting.title);
    write('waiting-text', say(isHost ? 'waiting.host' : 'waiting.guest'));
    write('waiting-time', say('waiting.time', { time: time(meeting.scheduledAt) }));
  }
  shows('start', isHost);
  shows('end-meeting', isHost);
  write('recording', recording());
  element('recording').classList.toggle('on', state?.recording().kind === 'on');
  if (element('connection').textContent) connection(false);
  consent.draw();
  const wasIn = me()?.joinedAt != null;
  // Words that someone answers who is or was in the meeting; a person put out may still withdraw.
  shows('consent', wasIn && details !== null);
  shows('people', state !== null && ending.name === '');
  people.draw();
  room.draw();
  drawEnd();
  entitle();
}

function drawEnd() {
  const { name, code } = ending;
  if (!name) return;
  write('ended-heading', say(`ended.${name}.heading`));
  const text = say(`ended.${name}.text`);
  const why = reasonOf(name, code);
  write('ended-text', why ? `${why} ${text}` : text);
  const again = name === 'left' ? 'meeting.again' : `ended.${name}.again`;
  shows('again', has(again));
  if (has(again)) write('again', say(again));
}

/** Why it ended, where the server said. @param {string} name @param {string} code */
function reasonOf(name, code) {
  if (name === 'failed') return faultOf(code);
  const reason = `ended.over.${details?.endReason}`;
  return name === 'over' && has(reason) ? say(reason) : '';
}
