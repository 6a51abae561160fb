// Somebody in a browser window of their own.

import { createRequire } from 'node:module';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

const PATIENCE = 30_000;
/** More presses of Tab than any view has places to stop at. */
const MAX_STOPS = 60;
const AXE = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
/** The folder for pictures of the views; without it none are taken. */
const PICTURES = process.env.PICTURES;
const DESK = { width: 1280, height: 800 };
const PHONE = { width: 390, height: 844 };
const NARROWEST = { width: 320, height: 800 };
const ALL_RULES = { type: 'tag', values: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] };
const RULES_OF_COLOURS = { type: 'rule', values: ['color-contrast', 'link-in-text-block'] };
/** Whether everything is asked everywhere, as the gate does. */
const IS_FULL = process.env.FULL === '1';

/** Somebody in a window of their own, with a keyboard. */
export class Person {
  /** `prepare` runs in each page before its own scripts. Events arrive `eventsLateMs` after they were sent. */
  static async at(browser, address, { prepare, eventsLateMs, ...settings } = {}) {
    const context = await browser.newContext({ locale: 'en-GB', reducedMotion: 'reduce', ...settings });
    if (prepare) await context.addInitScript(prepare);
    if (eventsLateMs) {
      await context.routeWebSocket(/./, (socket) => {
        const server = socket.connectToServer();
        server.onMessage((message) => setTimeout(() => socket.send(message), eventsLateMs));
      });
    }
    const person = new this(context);
    await person.opens(address);
    return person;
  }

  constructor(context) {
    Object.assign(this, { context, page: null, faults: [] });
  }

  /** Opens a new tab; the one that was open is closed. */
  async opens(address) {
    await this.page?.close();
    const page = await this.context.newPage();
    page.setDefaultTimeout(PATIENCE);
    // The policy of the page stops what it was not meant to do, and says so here; axe is put in by the debugger.
    page.on('console', (line) => line.text().includes('Content Security Policy') && this.faults.push(line.text()));
    page.on('pageerror', (error) => this.faults.push(`${error.stack ?? error}`));
    await page.goto(address);
    this.page = page;
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
    // Looked for once: to find the names of all that has a role costs more than everything else here.
    let element = await wanted.elementHandle();
    for (let stops = 0; stops < MAX_STOPS; stops += 1) {
      const focus = await element.evaluate((it) => {
        if (!it.isConnected) return 'replaced';
        if (it !== document.activeElement) return 'elsewhere';
        return getComputedStyle(it).outlineStyle === 'none' ? 'unseen' : 'here';
      });
      // Its name may be another's by now.
      if (focus === 'here' && (await wanted.evaluate((it) => it === document.activeElement))) return;
      if (focus === 'unseen') throw new Error(`the focus on ${name} can't be seen`);
      if (focus !== 'elsewhere') element = await wanted.elementHandle();
      else await this.page.keyboard.press('Tab');
    }
    throw new Error(`${name} can't be reached by keyboard`);
  }

  async press(name) {
    await this.reach('button', name);
    await this.page.keyboard.press('Enter');
  }

  /** Presses a button that asks for a file, and gives it this one. */
  async uploads(name, file) {
    const [chooser] = await Promise.all([this.page.waitForEvent('filechooser'), this.press(name)]);
    await chooser.setFiles(file);
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

  /**
   * Goes by arrow keys to the option of a list of choices that begins with these words. Typing them would depend on the pace:
   * after a second without a key, a browser takes the next one for the beginning of another word.
   */
  async picks(name, words) {
    await this.reach('combobox', name);
    const choices = this.page.getByRole('combobox', { name, exact: true });
    const options = (await choices.getByRole('option').allTextContents()).map((option) => option.trim());
    const wanted = options.findIndex((option) => option.startsWith(words));
    if (wanted < 0) throw new Error(`${name} offers ${options.join(', ')}, not ${words}`);
    await this.page.keyboard.press('Home');
    for (let at = 0; at < wanted; at += 1) await this.page.keyboard.press('ArrowDown');
    await this.eventually(() => choices.evaluate(({ selectedIndex }, index) => selectedIndex === index, wanted), `${words} is chosen`);
  }

  async logIn({ email, password }) {
    await this.write('E-mail address', email);
    // A password has no role of its own; it is the next stop.
    await this.page.keyboard.press('Tab');
    await this.page.keyboard.type(password);
    await this.page.keyboard.press('Enter');
  }

  /** Whether buttons are wholly in sight, without scrolling, on screens of these sizes. */
  async hasInSight(names, sizes) {
    for (const [width, height] of sizes) {
      await this.page.setViewportSize({ width, height });
      for (const name of names) {
        const box = await this.page.getByRole('button', { name, exact: true }).boundingBox();
        const isInSight = box && box.x >= 0 && box.y >= 0 && box.x + box.width <= width && box.y + box.height <= height;
        if (!isInSight) this.faults.push(`${name} is not in sight at ${width} × ${height}: ${JSON.stringify(box)}`);
      }
    }
    await this.page.setViewportSize(DESK);
  }

  async eventually(is, what) {
    const deadline = Date.now() + PATIENCE;
    while (!(await is())) {
      if (Date.now() > deadline) throw new Error(`never: ${what}`);
      await this.page.waitForTimeout(20);
    }
  }

  /**
   * What axe finds in the view as it stands, in light and dark, wide and narrow; and pictures of it. The dark changes nothing but
   * colours, so only the rules about them are asked there; the full form asks at one size more, and about the colours of what is
   * in Arabic: otherwise `isInDarkToo` is false there.
   */
  async look(view, { isInDarkToo = true } = {}) {
    const schemes = [['light', [DESK, PHONE, NARROWEST], ALL_RULES]];
    if (isInDarkToo) schemes.push(['dark', [DESK, NARROWEST], RULES_OF_COLOURS]);
    for (const [colorScheme, sizes, rules] of schemes) {
      await this.page.emulateMedia({ colorScheme });
      for (const size of sizes) {
        await this.page.setViewportSize(size);
        if (colorScheme === 'light' && size !== NARROWEST) await this.picture(`${view} ${size === DESK ? 'desk' : 'phone'}`);
        const where = `${view} (${colorScheme}, ${size.width})`;
        // A phone's view is the narrowest one with some room to spare.
        if (IS_FULL || size !== PHONE) await this.asksAxe(where, rules);
        const isWide = await this.page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
        if (isWide) this.faults.push(`${where} is wider than the window`);
      }
    }
    await this.page.emulateMedia({ colorScheme: 'light' });
    await this.page.setViewportSize(DESK);
  }

  /** Notes what axe finds against some of its rules. */
  async asksAxe(where, runOnly) {
    if (!(await this.page.evaluate(() => 'axe' in globalThis))) await this.page.evaluate(AXE);
    const violations = await this.page.evaluate(async (options) => {
      const found = await globalThis.axe.run(document, options);
      return found.violations.map(({ id, nodes }) => ({ id, nodes: nodes.map((node) => node.failureSummary) }));
    }, { runOnly, resultTypes: ['violations'] });
    for (const { id, nodes } of violations) this.faults.push(`${where}: ${id}: ${nodes.join('; ')}`);
  }

  async picture(name) {
    if (!PICTURES) return;
    await mkdir(PICTURES, { recursive: true });
    await this.page.screenshot({ path: join(PICTURES, `${name.replaceAll(' ', '-')}.png`) });
  }

  /** As `look`, and in Arabic; the page is in English before and after. */
  async lookTwice(view, heading, inArabic) {
    await this.look(view);
    await this.press('العربية');
    // A heading may be the same in both, such as the name of a project.
    await this.page.locator('html[lang="ar"]').waitFor();
    await this.page.getByRole('heading', { name: inArabic }).waitFor();
    const written = await this.page.evaluate(() => [document.documentElement.lang, document.documentElement.dir]);
    if (written.join() !== 'ar,rtl') this.faults.push(`${view} is written as ${written}`);
    await this.look(`${view} in Arabic`, { isInDarkToo: IS_FULL });
    await this.press('English');
    await this.page.locator('html[lang="en"]').waitFor();
    await this.page.getByRole('heading', { name: heading }).waitFor();
  }

  async isGone() {
    await this.context.close();
    return this.faults;
  }
}
