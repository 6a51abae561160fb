// Scenes on documents and analyses: a connection that breaks while an analysis runs, an analysis that is stopped and started
// again, files on their way; and how soon the first view can be used.

import { gzipSync } from 'node:zlib';
import { arrives, follow, reader } from './reader.mjs';

const PROJECT = 'Long tender';
/** So many sentences that their analysis takes some seconds. */
const SENTENCES = 3_500;
/** What the sign-in and the list of projects may load together, compressed. */
const MOST_BYTES = 200 * 1024;

export const sources = {
  /** An analysis goes on, and is shown to its end, while no socket can be opened; others are cancelled and tried again. */
  async brokenConnection(browser, { page, account }) {
    const ada = await reader(browser, page);
    const sockets = await breakableSockets(ada.context);
    await ada.page.reload();
    await arrives(ada, 'Sign in to Colloquy');
    await ada.logIn(account);
    await arrives(ada, 'Projects');
    await ada.press('New project');
    await ada.write('Name', PROJECT);
    await ada.page.keyboard.press('Enter');
    await arrives(ada, PROJECT);
    await follow(ada, 'Upload documents');
    await arrives(ada, 'Documents');
    await stopsAnUpload(ada);
    const file = { name: 'long-tender.txt', mimeType: 'text/plain', buffer: Buffer.from(tender()) };
    await ada.uploads('Upload', file);
    const ready = ada.page.getByRole('listitem').filter({ hasText: 'long-tender.txt' }).getByText('Ready', { exact: true });
    await ready.waitFor();

    await follow(ada, 'The documents can be analysed now');
    await arrives(ada, 'Analysis');
    await watchProgress(ada.page);
    await ada.press('Start the first analysis');
    await ada.press('Start analysis');
    await arrives(ada, /^Analysis of /);
    await ada.page.locator('li[aria-current="step"]').waitFor();
    sockets.break();
    await ada.reads('The state is asked for every two seconds.');
    await ada.picture('analysis without a connection');
    await ada.page.getByRole('status').getByText(/^(Completed|Partly completed)$/).waitFor();
    if (sockets.opened !== 0) ada.faults.push('a socket was open while it was to be broken');
    const seen = await ada.page.evaluate(() => globalThis.progressSeen);
    if (seen.length === 0) ada.faults.push('no progress of the analysis was shown');
    if (seen.some((value, index) => value < seen[index - 1])) ada.faults.push(`the progress fell: ${seen}`);
    await everyStepHasATime(ada);
    sockets.mend();

    await follow(ada, 'All analyses');
    await arrives(ada, 'Analysis');
    await ada.lookTwice('analyses', 'Analysis', 'التحليل');
    await ada.press('New analysis');
    await ada.press('Start analysis');
    await arrives(ada, /^Analysis of /);
    await ada.page.locator('li[aria-current="step"]').waitFor();
    await ada.press('Cancel analysis');
    await ada.page.getByRole('status').getByText('Cancelled', { exact: true }).waitFor();
    await ada.reads('This analysis was cancelled; nothing of it was kept.');
    await ada.lookTwice('cancelled analysis', /^Analysis of /, /^تحليل /);
    await ada.press('Try again');
    await ada.reads('Attempt 2');
    await ada.page.getByRole('status').getByText(/^(Completed|Partly completed)$/).waitFor();
    await opensWhereAWarningIs(ada);
    return { faults: await ada.isGone(), found: { progress: seen.length } };
  },

  /** What the sign-in and the list of projects load, and how soon they can be used. */
  async firstView(browser, { page, account }) {
    const ada = await reader(browser, 'about:blank');
    const files = new Map();
    ada.page.on('response', async (response) => {
      const { pathname } = new URL(response.url());
      if (response.ok() && !pathname.startsWith('/api/')) files.set(pathname, gzipSync(await response.body().catch(() => '')).length);
    });
    const begun = performance.now();
    await ada.page.goto(page);
    await ada.page.getByRole('textbox', { name: 'E-mail address' }).waitFor();
    const signInMs = Math.round(performance.now() - begun);
    await ada.logIn(account);
    const sent = performance.now();
    await ada.page.getByRole('button', { name: 'New project' }).waitFor();
    const projectsMs = Math.round(performance.now() - sent);
    await ada.page.waitForLoadState('networkidle');
    const bytes = [...files.values()].reduce((sum, size) => sum + size, 0);
    if (bytes === 0 || bytes > MOST_BYTES) ada.faults.push(`the first view loads ${bytes} bytes: ${JSON.stringify([...files])}`);
    return { faults: await ada.isGone(), found: { bytes, files: files.size, signInMs, projectsMs } };
  },
};

/** Lets the test end the sockets of a browser, and keep it from opening others. */
async function breakableSockets(context) {
  const open = new Set();
  let isBroken = false;
  await context.routeWebSocket(/\/api\/ws/, (socket) => {
    if (isBroken) return void socket.close({ code: 1001 });
    const server = socket.connectToServer();
    open.add({ socket, server });
  });
  return {
    get opened() { return open.size; },
    break() {
      isBroken = true;
      for (const { socket, server } of open) {
        void server.close();
        void socket.close({ code: 1001 });
      }
      open.clear();
    },
    mend() { isBroken = false; },
  };
}

function tender() {
  const [who, does, what] = [
    ['The booking service', 'The portal', 'The waiting list', 'The reminder module', 'The staff calendar', 'The reporting tool', 'The patient app'],
    ['shall store', 'must show', 'shall send', 'has to export', 'shall check', 'must encrypt', 'shall list', 'must reject', 'shall archive'],
    ['appointments', 'referrals', 'invoices', 'messages', 'rooms', 'shifts', 'consents', 'letters', 'prices', 'holidays', 'absences'],
  ];
  const sentence = (index) => `${who[index % who.length]} ${does[index % does.length]} ${what[index % what.length]} of clinic ${index} within ${(index % 97) + 2} seconds.`;
  return Array.from({ length: SENTENCES }, (_, index) => sentence(index)).join('\n\n');
}

/** Stops a file on its way; it is gone, and nothing of it becomes a document. */
async function stopsAnUpload(person) {
  const { page } = person;
  const held = [];
  await page.route(/\/documents$/, (route) => (route.request().method() === 'POST' ? held.push(route) : route.continue()));
  await person.uploads('Choose files', { name: 'minutes.txt', mimeType: 'text/plain', buffer: Buffer.from('The minutes.') });
  await person.eventually(() => held.length === 1, 'the file is sent');
  await person.look('a file on its way');
  await page.getByRole('button', { name: /^Stop the upload of / }).press('Enter');
  await page.getByText('minutes.txt').waitFor({ state: 'detached' });
  await held[0].abort();
  await page.unroute(/\/documents$/);
  await page.route(/\/documents$/, (route) => (route.request().method() === 'POST' ? route.abort() : route.continue()));
  await person.uploads('Choose files', { name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('The notes: the portal shall be quiet.') });
  await person.reads('The server does not answer. Check your connection.');
  await page.unroute(/\/documents$/);
  await person.press('Try again');
  await page.getByRole('listitem').filter({ hasText: 'notes.txt' }).getByText('Ready', { exact: true }).waitFor();
  await page.getByText('1 document', { exact: true }).waitFor();
}

/** Notes each value that the progress bar of an analysis shows. */
function watchProgress(page) {
  return page.evaluate(() => {
    globalThis.progressSeen = [];
    const note = () => {
      const bar = document.querySelector('progress[value]');
      if (bar && bar.value !== globalThis.progressSeen.at(-1)) globalThis.progressSeen.push(bar.value);
    };
    new MutationObserver(note).observe(document.body, { subtree: true, childList: true, attributes: true });
  });
}

/** Although nothing told of most steps as they began, all their times are shown once the analysis has ended. */
async function everyStepHasATime(person) {
  const steps = person.page.getByRole('main').locator('ol > li');
  await person.eventually(async () => {
    const texts = await steps.allInnerTexts();
    return texts.length === 10 && texts.every((text) => /\d+(\.\d)?\s?(ms|s)/.test(text));
  }, 'every step has its time');
}

/** Follows the link of the warning that some of the text addresses a machine to the lit place in the document. */
async function opensWhereAWarningIs(person) {
  await person.page.getByRole('link', { name: /^Place \d+$/ }).first().press('Enter');
  await arrives(person, 'long-tender.txt');
  const mark = person.page.locator('mark').first();
  await mark.waitFor();
  await person.eventually(() => mark.evaluate((element) => {
    const { top, bottom } = element.getBoundingClientRect();
    return bottom > 0 && top < innerHeight;
  }), 'the place is in sight');
  await person.lookTwice('a place in a document', 'long-tender.txt', 'long-tender.txt');
}
