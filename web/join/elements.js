// What the page is made of: its elements by id, one view at a time, and what is said aloud.

import { say } from './words.js';

/**
 * The element with this id, which index.html has.
 * @template {HTMLElement} [T=HTMLElement]
 * @param {string} id
 * @returns {T}
 */
export function element(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`no #${id}`);
  return /** @type {T} */ (found);
}

/** @param {string} id */
export const button = (id) => /** @type {HTMLButtonElement} */ (element(id));
/** @param {string} id */
export const input = (id) => /** @type {HTMLInputElement} */ (element(id));
/** @param {string} id */
export const form = (id) => /** @type {HTMLFormElement} */ (element(id));
/** @param {string} id */
export const dialog = (id) => /** @type {HTMLDialogElement} */ (element(id));

/** Writes only what differs, so that a live region says nothing twice. @param {string} id @param {string} text */
export function write(id, text) {
  const where = element(id);
  if (where.textContent !== text) where.textContent = text;
}

/** @param {string} id @param {boolean} shown */
export function shows(id, shown) {
  element(id).hidden = !shown;
}

/** @type {string} */
let view = 'loading';
export const shown = () => view;

/**
 * Shows one view alone, and brings whoever reads by ear or keyboard to its heading.
 * @param {string} name
 */
export function show(name) {
  if (view === name) return;
  view = name;
  for (const section of document.querySelectorAll('main > .view')) {
    /** @type {HTMLElement} */ (section).hidden = section.id !== name;
  }
  entitle();
  headingOf(name)?.focus();
}

/** @param {string} name */
export function headingOf(name) {
  return /** @type {HTMLElement | null} */ (element(name).querySelector('h2'));
}

/** The window's title: the view, then the meeting. */
export function entitle() {
  const heading = headingOf(view)?.textContent ?? '';
  document.title = say('title', { view: heading, meeting: element('title').textContent ?? '' });
}

/**
 * One thing at a time behind a button: a second press while the first is under way does nothing.
 * @param {string} id
 * @param {() => Promise<void> | void} act
 */
export function pressed(id, act) {
  const pressable = button(id);
  pressable.addEventListener('click', () => once(pressable, act));
}

/**
 * @param {HTMLElement} where
 * @param {() => Promise<void> | void} act
 */
export async function once(where, act) {
  if (where.getAttribute('aria-disabled') === 'true') return;
  // Not `disabled`, which would drop the focus.
  where.setAttribute('aria-disabled', 'true');
  try {
    await act();
  } finally {
    where.removeAttribute('aria-disabled');
  }
}

/** How long what happens at once is gathered before it is said. */
const GATHERING_MS = 700;
/** More than this at once is told as a number. */
const SAID_SINGLY = 3;
/** @type {string[]} */
let waiting = [];

/** Says something to those who read by ear, when they have heard what is being said. @param {string} sentence */
export function announce(sentence) {
  waiting.push(sentence);
  if (waiting.length > 1) return;
  setTimeout(() => {
    const said = waiting.length > SAID_SINGLY ? [say('said.many', { count: waiting.length })] : waiting;
    waiting = [];
    const lines = said.map((line) => {
      const paragraph = document.createElement('p');
      paragraph.textContent = line;
      return paragraph;
    });
    element('announcer').replaceChildren(...lines);
  }, GATHERING_MS);
}
