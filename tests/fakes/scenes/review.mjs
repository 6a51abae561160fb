// Scenes of stakeholders without an account, who come to the review page by a mailed link.

import { arrives, reader } from './reader.mjs';

const PROJECT = 'Clinic portal';
/** Seconds that a refused call asks to wait. */
const PATIENCE = 2;
const FEEDBACK = '**/api/project-review/feedback';

export const review = {
  /**
   * An approver works through everything by keyboard, then reads what the team answered. `link` is the mailed one, `team` is how
   * the team answers: {feedback: the URL of the project's feedback, authorization}. Returns how many items there were, and the seconds
   * that they took.
   */
  async approver(browser, { link, team }) {
    const grace = await reader(browser, link);
    await arrives(grace, 'You are invited to review');
    await keepsTheTokenOutOfSight(grace, link);
    await grace.lookTwice('review invitation', 'You are invited to review', 'أنت مدعو إلى المراجعة');
    await grace.page.reload();
    await arrives(grace, 'You are invited to review');
    await grace.write('Your name', 'Grace Hopper');
    await grace.page.keyboard.press('Enter');
    await arrives(grace, PROJECT);
    await keepsTheTokenOutOfSight(grace, link);
    await grace.lookTwice('stakeholder review', PROJECT, PROJECT);

    const posted = notePosts(grace.page);
    const begun = Date.now();
    const count = await worksThrough(grace);
    const seconds = (Date.now() - begun) / 1000;
    // The page has the last answer before it can be read here.
    await grace.eventually(() => posted.length >= count, 'an answer for each item');
    const targets = new Set(posted.map(({ data }) => `${data.targetType} ${data.targetId}`));
    if (posted.length !== count || targets.size !== count) grace.faults.push(`${posted.length} answers on ${targets.size} of ${count} items`);

    const request = posted.find(({ data }) => data.verdict === 'CHANGE').data;
    await answers(team, request.id);
    await grace.page.reload();
    await arrives(grace, PROJECT);
    await grace.reads(`${count} of ${count} answered`);
    await finds(grace, request.targetCode);
    await grace.reads('Agreed: we changed it.');
    // On a telephone, the item takes the place of the list.
    await grace.page.keyboard.press('Enter');
    await grace.lookTwice('stakeholder feedback', PROJECT, PROJECT);
    await grace.tick('Not yet answered');
    await grace.reads('Nothing matches.');
    await grace.page.keyboard.press('Space');
    await quotesASelection(grace);
    await switchesKeysOff(grace);
    return { faults: await grace.isGone(), found: { count, seconds } };
  },

  /**
   * A commenter without a network, with a server that asks for patience, and whose invitation is revoked meanwhile: `revoke` is the
   * URL of the invitation, called with `authorization`.
   */
  async commenter(browser, { link, revoke, authorization }) {
    const grace = await reader(browser, link);
    await arrives(grace, 'You are invited to review');
    await grace.press('Start the review');
    await arrives(grace, PROJECT);
    await grace.page.keyboard.press('j');
    const first = await chosen(grace);
    await grace.page.keyboard.press('a');
    if (await grace.page.getByRole('button', { name: 'Approve' }).count()) grace.faults.push('a commenter is offered a verdict');
    const posted = notePosts(grace.page);

    await grace.context.setOffline(true);
    await grace.reads('You are offline.');
    await comments(grace, 'Written on a train.');
    await grace.page.getByRole('option', { name: /Not sent/ }).waitFor();
    await grace.page.keyboard.press('k');
    await grace.page.getByRole('button', { name: 'Not sent — try again' }).waitFor();
    // The words of another language can't be had without a network.
    await grace.look('stakeholder offline');
    if (posted.length > 0 || (await chosen(grace)) !== first) grace.faults.push('offline, something else was done');
    await grace.context.setOffline(false);
    await grace.eventually(() => posted.length === 1, 'what was written offline is sent');
    await grace.page.locator('aside').getByText('Sent', { exact: true }).waitFor();

    await asksForPatience(grace, posted);
    await continuesElsewhere(browser, grace, link);

    await grace.page.keyboard.press('j');
    await grace.page.keyboard.press('c');
    await grace.page.keyboard.type('Half a thought');
    await grace.page.keyboard.press('Escape');
    await grace.page.keyboard.press('j');
    const done = await fetch(revoke, { method: 'DELETE', headers: { authorization } });
    if (!done.ok) throw new Error(`revoking: ${done.status}`);
    await comments(grace, 'Too late.');
    await arrives(grace, 'Your review has ended');
    // The name is kept apart from the sentence around it by characters that nobody sees.
    for (const text of ['Half a thought', 'Too late.', /^Ask .?Ada Lovelace.? for a new link\.$/]) await grace.reads(text);
    await grace.lookTwice('stakeholder end', 'Your review has ended', 'انتهت مراجعتك');
    await grace.page.reload();
    await arrives(grace, 'This link is not valid any more');
    await grace.reads('Half a thought');
    return grace.isGone();
  },

  /** Somebody who may only read, and links that lead nowhere. */
  async viewer(browser, { link, ended }) {
    const grace = await reader(browser, link);
    await arrives(grace, 'You are invited to review');
    await grace.press('Start the review');
    await arrives(grace, PROJECT);
    await grace.reads('You can read this review.');
    await grace.page.keyboard.press('j');
    await grace.page.keyboard.press('c');
    if (await grace.page.getByRole('textbox').count()) grace.faults.push('a viewer is offered a form');
    await grace.lookTwice('stakeholder reading', PROJECT, PROJECT);
    const page = new URL(link);
    for (const one of ended) {
      await grace.opens(one);
      await arrives(grace, 'This link is not valid any more');
    }
    await grace.lookTwice('stakeholder expired', 'This link is not valid any more', 'لم يعد هذا الرابط صالحًا');
    await grace.opens(`${page.origin}${page.pathname}#token=${'A'.repeat(43)}`);
    await arrives(grace, 'This link is not complete');
    await grace.opens(`${page.origin}${page.pathname}`);
    await arrives(grace, 'Open the link in your e-mail');
    return grace.isGone();
  },
};

/** The token is neither in the address, nor in what outlasts the tab. */
async function keepsTheTokenOutOfSight(person, link) {
  const token = new URL(link).hash.replace('#token=', '');
  const seen = await person.page.evaluate(() => [location.href, JSON.stringify(localStorage), document.cookie, document.documentElement.outerHTML].join());
  if (seen.includes(token)) person.faults.push('the token of the invitation can be seen');
}

/** The feedback that the server took, as it answered; grows. */
function notePosts(page) {
  const posted = [];
  page.on('response', async (response) => {
    if (response.request().method() === 'POST' && response.status() === 201) posted.push(await response.json());
  });
  return posted;
}

/** The place of the chosen item in the list. */
const chosen = (person) => person.page.locator('[role="option"][aria-selected="true"]').getAttribute('aria-posinset');
const isFocused = (locator) => locator.evaluate((element) => element === document.activeElement);

/** Writes a comment on the item that is open, and sends it. */
async function comments(person, text) {
  await person.page.keyboard.press('c');
  const field = person.page.getByRole('textbox', { name: 'Your comment' });
  await person.eventually(() => isFocused(field), 'focus on the comment');
  await person.page.keyboard.type(text);
  await person.page.keyboard.press('Control+Enter');
}

/** Answers each item: most with one key, some with a comment or what should change. Returns how many there were. */
async function worksThrough(person) {
  const { page } = person;
  const count = Number((await page.getByText(/^0 of \d+ answered$/).innerText()).match(/of (\d+)/)[1]);
  const list = page.getByRole('listbox');
  for (let index = 0; index < count; index += 1) {
    if (index % 10 === 9) {
      await page.keyboard.press('x');
      await person.eventually(() => isFocused(page.getByRole('textbox', { name: 'What should change?' })), 'focus on what should change');
      await page.keyboard.type('Ten seconds would do as well.');
      await page.keyboard.press('Control+Enter');
    } else if (index % 15 === 7) {
      await comments(person, 'Who is meant by this?');
    } else {
      await page.keyboard.press('a');
    }
    await person.eventually(() => isFocused(list), `focus on the list after item ${index + 1}`);
    const place = await chosen(person);
    if (Number(place) !== Math.min(index + 2, count)) person.faults.push(`after item ${index + 1} item ${place} is chosen`);
  }
  await page.getByText(`${count} of ${count} answered`, { exact: true }).waitFor();
  return count;
}

/** The team takes a feedback up, and resolves it. */
async function answers({ feedback, authorization }, id) {
  for (const answer of [{ status: 'IN_PROGRESS' }, { status: 'RESOLVED', resolutionNote: 'Agreed: we changed it.' }]) {
    const response = await fetch(`${feedback}/${id}`, {
      method: 'PATCH', headers: { authorization, 'content-type': 'application/json' }, body: JSON.stringify(answer),
    });
    if (!response.ok) throw new Error(`answering: ${response.status}`);
  }
}

async function finds(person, code) {
  const { page } = person;
  await page.keyboard.press('/');
  await page.keyboard.type(code);
  await person.eventually(async () => (await page.getByRole('option').count()) === 1, `the search finds ${code} alone`);
  await page.keyboard.press('Escape');
  await person.eventually(() => isFocused(page.getByRole('listbox')), 'focus on the list after the search');
  await page.keyboard.press('Home');
}

/** A selected passage stands at the head of the comment, and the draft outlasts a reload. */
async function quotesASelection(person) {
  const { page } = person;
  await page.evaluate(() => getSelection().selectAllChildren(document.querySelector('article h2')));
  await page.getByRole('button', { name: 'Quote the selected passage' }).waitFor();
  const passage = await page.evaluate(() => getSelection().toString().trim());
  await page.getByRole('listbox').focus();
  await page.keyboard.press('c');
  await page.keyboard.type('This passage.');
  const field = page.getByRole('textbox', { name: 'Your comment' });
  const wanted = `> ${passage}\n\nThis passage.`;
  await person.eventually(async () => (await field.inputValue()) === wanted, `the comment quotes “${passage}”`);
  const id = await page.locator('article .code').innerText();
  await page.reload();
  await arrives(person, PROJECT);
  await finds(person, id);
  await person.eventually(async () => (await field.inputValue()) === wanted, 'the draft is there after a reload');
}

/** Switched off, the keys do nothing, and remain off after a reload; then they are switched on again. */
async function switchesKeysOff(person) {
  const { page } = person;
  await page.keyboard.press('?');
  const dialog = page.getByRole('dialog', { name: 'Keys' });
  await dialog.waitFor();
  await person.look('stakeholder keys');
  await page.keyboard.press('Space');
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'hidden' });
  await page.reload();
  await arrives(person, PROJECT);
  await page.getByRole('option').first().waitFor();
  const before = await chosen(person);
  for (const key of ['j', 'c', '/', '?']) await page.keyboard.press(key);
  const isStill = (await chosen(person)) === before && !(await dialog.isVisible()) && (await isFocused(page.getByRole('heading', { level: 1 })));
  if (!isStill) person.faults.push('a key acts although keys are switched off');
  await person.press('Keys');
  await page.keyboard.press('Space');
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'hidden' });
  await page.keyboard.press('j');
  await person.eventually(async () => (await chosen(person)) !== before, 'the keys act again');
}

/** A refused call is made again when the server said, and not before. */
async function asksForPatience(person, posted) {
  const { page } = person;
  const made = [];
  const refuse = async (route) => {
    if (route.request().method() !== 'POST') return route.continue();
    made.push({ at: Date.now(), key: route.request().headers()['idempotency-key'] });
    if (made.length > 1) return route.continue();
    return route.fulfill({
      status: 429, contentType: 'application/json', headers: { 'retry-after': `${PATIENCE}` },
      body: JSON.stringify({
        isSuccess: false, data: null, message: 'Too many requests.', statusCode: 429,
        errors: [{ code: 'TooManyRequests', message: 'Too many requests.', field: null, reason: null }],
      }),
    });
  };
  await page.route(FEEDBACK, refuse);
  await page.keyboard.press('j');
  const before = posted.length;
  await comments(person, 'Sent in a hurry.');
  await person.reads('The server asks for patience');
  await person.eventually(() => posted.length === before + 1, 'what was refused is sent');
  await page.unroute(FEEDBACK, refuse);
  const waited = made[1].at - made[0].at;
  if (made.length !== 2 || waited < PATIENCE * 1000 || made[0].key !== made[1].key) person.faults.push(`${made.length} calls, ${waited} ms apart`);
}

/** The same link in another browser ends the review here; the draft stays, and it can be gone on with here. */
async function continuesElsewhere(browser, person, link) {
  const other = await reader(browser, link);
  await arrives(other, 'Welcome back to your review');
  await other.look('stakeholder again');
  await other.press('Continue the review');
  await arrives(other, PROJECT);
  await comments(person, 'From the first browser.');
  await arrives(person, 'This review is open elsewhere');
  await person.reads('From the first browser.');
  await person.lookTwice('stakeholder elsewhere', 'This review is open elsewhere', 'هذه المراجعة مفتوحة في مكان آخر');
  await person.press('Go on here');
  await arrives(person, PROJECT);
  await person.page.getByText('Sent', { exact: true }).first().waitFor();
  person.faults.push(...(await other.isGone()));
}
