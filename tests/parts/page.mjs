// A browser, as people have it. It plays scenes on the join page by keyboard alone, looks at each view with axe in both
// languages, and says what went wrong where something did.
//
// A scene is asked for by POST with {"scene": …, …}; the answer is {"faults": […]}.

import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { access, readFile } from 'node:fs/promises';
import { chromium } from 'playwright-core';
import { listen, tell } from './beginning.mjs';

const CHROMIUM = process.env.CHROMIUM ?? '/usr/bin/chromium';
const PATIENCE = 30_000;
/** More presses of Tab than any view has places to stop at. */
const MOST_STOPS = 60;
const AXE = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/** Somebody in a window of their own, with a keyboard. */
class Person {
  static async at(browser, address, settings = {}) {
    const context = await browser.newContext({ locale: 'en-GB', reducedMotion: 'reduce', ...settings });
    const page = await context.newPage();
    page.setDefaultTimeout(PATIENCE);
    const person = new Person(context, page);
    // The policy of the page stops what it was not meant to do, and says so here; axe is put in by the debugger.
    page.on('console', (line) => line.text().includes('Content Security Policy') && person.faults.push(line.text()));
    page.on('pageerror', (error) => person.faults.push(`${error.stack ?? error}`));
    await page.goto(address);
    return person;
  }

  constructor(context, page) {
    Object.assign(this, { context, page, faults: [] });
  }

  /** The view has this heading, and who reads by ear or keyboard was brought to it. */
  async sees(heading) {
    const found = this.page.getByRole('heading', { name: heading });
    await found.waitFor();
    await this.eventually(() => found.evaluate((element) => element === document.activeElement), `focus on ${heading}`);
  }

  async reads(text) {
    await this.page.getByText(text).first().waitFor();
  }

  /** What the list of people says of somebody else, or of this person. */
  async hearsOfOther(fact) {
    await this.page.locator('#people li:not(:has(.you))').filter({ hasText: fact }).waitFor();
  }

  async hearsOfSelf(fact) {
    await this.page.locator('#people li:has(.you)').filter({ hasText: fact }).waitFor();
  }

  /** Goes to an element by Tab; then it is the one with the focus, and that can be seen. */
  async reach(role, name) {
    const wanted = this.page.getByRole(role, { name, exact: true });
    await wanted.waitFor();
    for (let stops = 0; stops < MOST_STOPS; stops += 1) {
      if (await wanted.evaluate((element) => element === document.activeElement)) {
        const outline = await wanted.evaluate((element) => getComputedStyle(element).outlineStyle);
        if (outline === 'none') throw new Error(`the focus on ${name} can't be seen`);
        return;
      }
      await this.page.keyboard.press('Tab');
    }
    throw new Error(`${name} can't be reached by keyboard`);
  }

  async press(name) {
    await this.reach('button', name);
    await this.page.keyboard.press('Enter');
  }

  async tick(name) {
    await this.reach('checkbox', name);
    await this.page.keyboard.press('Space');
  }

  async write(name, text) {
    await this.reach('textbox', name);
    await this.page.keyboard.press('Control+A');
    await this.page.keyboard.type(text);
  }

  async logIn({ email, password }) {
    await this.write('E-mail address', email);
    // A password has no role of its own; it is the next stop.
    await this.page.keyboard.press('Tab');
    await this.page.keyboard.type(password);
    await this.page.keyboard.press('Enter');
  }

  async eventually(is, what) {
    const deadline = Date.now() + PATIENCE;
    while (!(await is())) {
      if (Date.now() > deadline) throw new Error(`never: ${what}`);
      await this.page.waitForTimeout(20);
    }
  }

  /** What axe finds in the view as it stands, in this language and the other, in light and dark, wide and narrow. */
  async look(view) {
    for (const colorScheme of ['light', 'dark']) {
      await this.page.emulateMedia({ colorScheme });
      for (const width of [1280, 320]) {
        await this.page.setViewportSize({ width, height: 800 });
        await this.page.evaluate(AXE);
        const { violations } = await this.page.evaluate((rules) => globalThis.axe.run(document, { runOnly: rules }), RULES);
        for (const { id, nodes } of violations) {
          this.faults.push(`${view} (${colorScheme}, ${width}): ${id}: ${nodes.map((node) => node.failureSummary).join('; ')}`);
        }
        const isWide = await this.page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
        if (isWide) this.faults.push(`${view} is wider than ${width} pixels`);
      }
    }
    await this.page.emulateMedia({ colorScheme: 'light' });
    await this.page.setViewportSize({ width: 1280, height: 800 });
  }

  /** As `look`, and in Arabic; the page is in English before and after. */
  async lookTwice(view, heading, inArabic) {
    await this.look(view);
    await this.press('العربية');
    await this.page.getByRole('heading', { name: inArabic }).waitFor();
    const written = await this.page.evaluate(() => [document.documentElement.lang, document.documentElement.dir]);
    if (written.join() !== 'ar,rtl') this.faults.push(`${view} is written as ${written}`);
    await this.look(`${view} in Arabic`);
    await this.press('English');
    await this.page.getByRole('heading', { name: heading }).waitFor();
  }

  async isGone() {
    await this.context.close();
    return this.faults;
  }
}

const scenes = {
  /** Sign-in, waiting, and a meeting that is cancelled meanwhile: `cancel` is the call that does it. */
  async waiting(browser, { page, host, outsider, cancel }) {
    const stranger = await Person.at(browser, page);
    await stranger.sees('Sign in to join');
    await stranger.lookTwice('the sign-in', 'Sign in to join', 'سجّل الدخول للانضمام');
    await stranger.logIn({ ...outsider, password: 'not this one' });
    await stranger.reads('The e-mail address or the password is wrong.');
    await stranger.logIn(outsider);
    await stranger.sees('This account is not invited');
    await stranger.look('a refusal');
    await stranger.press('Use another account');
    await stranger.sees('Sign in to join');
    await stranger.logIn(host);
    await stranger.sees('The meeting has not started yet');
    await stranger.lookTwice('waiting', 'The meeting has not started yet', 'لم يبدأ الاجتماع بعد');
    await stranger.page.reload();
    await stranger.sees('The meeting has not started yet');
    const kept = await stranger.page.evaluate(() => sessionStorage.length);
    if (kept > 0) stranger.faults.push('tokens of an account lie in the storage of an open page');
    const done = await fetch(cancel.url, { method: 'POST', headers: { authorization: cancel.authorization } });
    if (!done.ok) throw new Error(`cancelling: ${done.status}`);
    await stranger.sees('The meeting was cancelled');
    await stranger.lookTwice('the end', 'The meeting was cancelled', 'أُلغي الاجتماع');
    return stranger.isGone();
  },

  /** Two people; one refuses to be recorded, the other agrees, and the host ends the meeting. */
  async meeting(browser, { page, host, other }) {
    const grace = await Person.at(browser, page);
    await grace.logIn(other);
    await grace.sees('The meeting has not started yet');
    const ada = await Person.at(browser, page);
    await ada.logIn(host);
    await ada.press('Start the meeting');
    for (const person of [ada, grace]) await person.sees('Do you agree to be recorded?');
    await grace.look('the question');
    const ticked = await grace.page.getByRole('checkbox', { checked: true }).count();
    if (ticked > 0) grace.faults.push('an answer is chosen beforehand');
    await grace.press('I agree');
    await grace.reads('select at least the recording');
    await grace.press('I do not agree');
    await ada.hearsOfOther('does not agree to be recorded');
    await ada.tick('My audio and video may be recorded');
    await ada.tick('My speech may be transcribed');
    await ada.press('I agree');
    await grace.hearsOfOther('agreed to:');
    await ada.lookTwice('the meeting', 'You are in the meeting', 'أنت في الاجتماع');
    await ada.press('Withdraw my consent');
    await grace.hearsOfOther('does not agree to be recorded');
    await grace.press('Leave the meeting');
    await grace.sees('You left the meeting');
    await ada.hearsOfOther('left');
    await grace.press('Join again');
    await grace.sees('You are in the meeting');
    await ada.press('End the meeting for all');
    await ada.reach('button', 'Continue the meeting');
    await ada.page.keyboard.press('Escape');
    await ada.press('End the meeting for all');
    const sure = ada.page.getByRole('dialog').getByRole('button', { name: 'End the meeting for all' });
    await ada.page.keyboard.press('Tab');
    await sure.press('Enter');
    for (const person of [ada, grace]) {
      await person.sees('The meeting has ended');
      await person.reads('The host ended it for everyone.');
    }
    await grace.lookTwice('the end', 'The meeting has ended', 'انتهى الاجتماع');
    return [...(await ada.isGone()), ...(await grace.isGone())];
  },

  /** A guest with a link, in Arabic on a phone: comes in, does not agree, reloads, and is removed. */
  async guest(browser, { link, name, remove }) {
    const settings = { locale: 'ar-EG', viewport: { width: 390, height: 844 } };
    const guest = await Person.at(browser, link, settings);
    await guest.sees('أنت مدعو إلى اجتماع');
    if (new URL(guest.page.url()).hash !== '') guest.faults.push("the invitation's token stays in the address");
    await guest.look('the invitation in Arabic');
    await guest.write('اسمك', name);
    await guest.page.keyboard.press('Enter');
    await guest.sees('هل توافق على تسجيلك؟');
    await guest.press('لا أوافق');
    await guest.hearsOfSelf('لا يوافق على التسجيل');
    await guest.page.reload();
    await guest.sees('أنت في الاجتماع');
    const people = await (await fetch(remove.people, { headers: { authorization: remove.authorization } })).json();
    const own = people.data.items.find((one) => one.displayName === name);
    const done = await fetch(`${remove.people}/${own.id}`, {
      method: 'DELETE', headers: { authorization: remove.authorization },
    });
    if (!done.ok) throw new Error(`removing: ${done.status}`);
    const over = guest.page.getByRole('heading', { name: /أُخرجت من الاجتماع|انتهى حقك في الدخول/ });
    await over.waitFor();
    return guest.isGone();
  },
};

async function play({ scene, ...asked }) {
  const args = [
    '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
    '--disable-component-update', '--disable-sync', '--use-fake-device-for-media-stream',
    '--use-fake-ui-for-media-stream',
  ];
  const browser = await chromium.launch({ executablePath: CHROMIUM, headless: true, args });
  try {
    return { faults: await scenes[scene](browser, asked) };
  } catch (error) {
    const pages = browser.contexts().flatMap((context) => context.pages());
    const shown = await Promise.all(pages.map((page) => page.locator('body').innerText().catch(() => '')));
    return { faults: [`${error.stack ?? error}`, ...shown] };
  } finally {
    await browser.close();
  }
}

const there = await access(CHROMIUM).then(() => true, () => false);
const server = createServer(async (request, response) => {
  let body = '';
  for await (const piece of request) body += piece;
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify(await play(JSON.parse(body))));
});
tell({ port: await listen(server), chromium: there });
