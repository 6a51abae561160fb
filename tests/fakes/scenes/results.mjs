// Scenes on the results of a project: items reviewed beside their sources.

import { Caller } from './project.mjs';
import { arrives, reader } from './reader.mjs';

const APPROVALS = 50;
const MANY = 10_000;
const PAGE = 100;
/** Rows in the page for a list of any length: those in sight, and some on either side. */
const MOST_ROWS = 60;
/** Steps of scrolling through the long list. */
const STEPS = 120;

export const results = {
  /** Everything that is done to an item; `account` owns the `project`, whose stories can be rewritten. */
  async results(browser, { page, account, project }) {
    const caller = await Caller.as(page, account);
    const ada = await reader(browser, page);
    await ada.logIn(account);
    await arrives(ada, 'Projects');
    const at = async (code) => {
      await ada.page.goto(`${page}/projects/${project}/results/${code}`);
      await arrives(ada, 'Results');
      await opened(ada, code);
    };
    await at('REQ-002');
    await ada.lookTwice('results', /^Results$/, /^النتائج$/);

    await filters(ada, project);
    await edits(ada, caller, project, at);
    await decides(ada, at);
    await decidesAboutMany(ada);
    await rewrites(ada, caller, project, at);
    await comments(ada, caller, project, at);
    await hears(ada, caller, project, at);
    await switchesKeysOff(ada, at);
    return ada.isGone();
  },

  /** Fifty items approved by keyboard alone; returns how many seconds it took. */
  async fiftyApprovals(browser, { page, account, project }) {
    const caller = await Caller.as(page, account);
    const ada = await reader(browser, page);
    await ada.logIn(account);
    await arrives(ada, 'Projects');
    await ada.page.goto(`${page}/projects/${project}/results?kind=REQUIREMENT&status=NEEDS_REVIEW`);
    await arrives(ada, 'Results');
    await ada.page.locator('article h2').waitFor();
    const began = Date.now();
    for (let count = 1; count <= APPROVALS; count++) {
      const statement = await ada.page.locator('article h2').textContent();
      await ada.page.keyboard.press('a');
      await ada.eventually(async () => (await ada.page.locator('article h2').textContent()) !== statement, `the item after approval ${count}`);
    }
    const seconds = (Date.now() - began) / 1000;
    const approved = async () => (await caller.call('GET', `/api/projects/${project}/requirements?status=APPROVED&limit=1`)).totalCount;
    await ada.eventually(async () => (await approved()) === APPROVALS, `${APPROVALS} approved items`);
    // The last one is undone: it is open again, and needs a review.
    await ada.page.keyboard.press('u');
    await ada.eventually(async () => (await approved()) === APPROVALS - 1, 'the last approval undone');
    await ada.reads('Undone');
    return { faults: await ada.isGone(), found: { count: APPROVALS, seconds } };
  },

  /** Ten thousand requirements, which the server is made to have by copies of its first one. */
  async tenThousand(browser, { page, account, project }) {
    const caller = await Caller.as(page, account);
    const { items: [first] } = await caller.call('GET', `/api/projects/${project}/requirements?limit=1`);
    const ada = await reader(browser, page);
    await ada.logIn(account);
    await arrives(ada, 'Projects');
    await ada.context.route(/\/requirements\?/, (route) => {
      const from = Number(new URL(route.request().url()).searchParams.get('cursor') ?? 0);
      const items = Array.from({ length: PAGE }, (_, index) => {
        const number = MANY - from - index;
        return { ...first, id: `${first.id.slice(0, -8)}${String(number).padStart(8, '0')}`, code: `REQ-${String(number).padStart(3, '0')}`, statement: `Report ${number} must be printed.` };
      });
      const nextCursor = from + PAGE < MANY ? String(from + PAGE) : null;
      const data = { items, nextCursor, totalCount: MANY };
      return route.fulfill({ json: { isSuccess: true, data, message: '', statusCode: 200, errors: [] } });
    });
    await ada.page.goto(`${page}/projects/${project}/results?kind=REQUIREMENT`);
    await arrives(ada, 'Results');
    await ada.page.getByRole('status').getByText('10,000 items').waitFor();
    await opened(ada, 'REQ-001');
    const list = ada.page.getByRole('listbox');
    const { rows, frames } = await list.evaluate(scrollThrough, STEPS);
    if (rows > MOST_ROWS) ada.faults.push(`${rows} rows of a list of ${MANY} were in the page`);
    await list.press('End');
    await opened(ada, 'REQ-10000');
    await ada.page.keyboard.press('/');
    await ada.page.keyboard.type('report 777');
    // 777, and those that begin or end with it.
    await ada.eventually(async () => (await ada.page.getByRole('listbox').getByRole('option').first().getAttribute('aria-setsize')) === '19', 'the search among ten thousand');
    frames.sort((one, other) => one - other);
    return { faults: await ada.isGone(), found: { rows, medianFrameMs: frames[frames.length >> 1], longestFrameMs: frames.at(-1) } };
  },
};

/** Runs in the page. Scrolls from the top to the end; returns the most rows that were there at once, and how long frames took. */
async function scrollThrough(list, steps) {
  const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
  const frames = [];
  let rows = 0;
  let last = await frame();
  for (let step = 0; step <= steps; step++) {
    list.scrollTop = (list.scrollHeight - list.clientHeight) * (step / steps);
    const now = await frame();
    frames.push(now - last);
    last = now;
    rows = Math.max(rows, list.querySelectorAll('[role="option"]').length);
  }
  return { rows, frames };
}

/** Waits until the item with this code is open, and the address says so. */
async function opened(person, code) {
  await person.page.locator('article .code').filter({ hasText: new RegExp(`^${code}$`) }).first().waitFor();
  await person.page.waitForURL((url) => url.pathname.endsWith(`/results/${code}`));
}

const option = (person, code) => person.page.getByRole('listbox').getByRole('option').filter({ has: person.page.locator('.code', { hasText: new RegExp(`^${code}$`) }) });
/** Presses a button of the dialog that is open; one of the same name may stand behind it. */
async function confirms(person, name) {
  const button = person.page.getByRole('dialog').getByRole('button', { name, exact: true });
  await button.focus();
  await person.page.keyboard.press('Enter');
}

const hasStatus = (person, code, status) => option(person, code).getByText(status, { exact: true }).waitFor({ state: 'attached' });

/** Filters are in the address, and views keep them. */
async function filters(person, project) {
  const { page } = person;
  const count = () => page.getByRole('listbox').getByRole('option').first().getAttribute('aria-setsize');
  const all = await count();
  await person.press('Stories');
  await page.waitForURL('**/*kind=USER_STORY*');
  if ((await count()) === all) person.faults.push('stories alone are as many as all items');
  await person.press('Filters');
  await page.getByLabel('Status').selectOption('NEEDS_REVIEW');
  await page.waitForURL('**/*status=NEEDS_REVIEW*');
  await person.look('results with filters');
  await person.press('Views');
  await person.write('Name of the view', 'Stories to review');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Stories to review', exact: true }).waitFor();
  await person.look('results with a saved view');
  await person.page.goto(`${new URL(page.url()).origin}/projects/${project}/results`);
  await arrives(person, 'Results');
  await person.press('Views');
  await person.press('Stories to review');
  await person.page.waitForURL('**/*kind=USER_STORY*');
  await person.press('All');
  await person.page.keyboard.press('/');
  await person.page.keyboard.type('nothing has these words');
  await person.reads('Nothing matches.');
  await person.look('results without a match');
  await person.page.keyboard.press('Control+A');
  await person.page.keyboard.press('Delete');
}

/** An edit, a field that is wrong, an undo; and an edit of what somebody else changed meanwhile. */
async function edits(person, caller, project, at) {
  await at('REQ-002');
  const { page } = person;
  const former = await page.locator('article h2').textContent();
  await page.keyboard.press('e');
  await person.write('Statement', ' ');
  await page.keyboard.press('Control+Enter');
  await person.reads('Fill in this field.');
  await person.look('an edit with an error');
  await person.write('Statement', 'The nurse must print any report within a second.');
  await page.keyboard.press('Control+Enter');
  await page.locator('article h2', { hasText: 'any report within a second' }).waitFor();
  await person.reads(/REQ-002.* is saved/);
  await page.keyboard.press('u');
  await page.locator('article h2', { hasText: former }).waitFor();

  await page.keyboard.press('e');
  await person.write('Statement', 'The nurse must print each report at once.');
  const { items } = await caller.call('GET', `/api/projects/${project}/requirements?limit=100`);
  const { id } = items.find(({ code }) => code === 'REQ-002');
  // The page hears of the change, but reads it only once its own edit was refused.
  let release;
  const refused = new Promise((resolve) => { release = resolve; });
  const late = (route) => refused.then(() => route.continue());
  await page.route(/\/requirements\?/, late);
  await caller.call('PATCH', `/api/projects/${project}/requirements/${id}`, { statement: 'The nurse may print each report.', priority: 'LOW' });
  const answer = page.waitForResponse((response) => response.status() === 412);
  await page.keyboard.press('Control+Enter');
  await answer;
  release();
  await page.getByRole('heading', { name: /^Two versions of/ }).waitFor();
  await page.unroute(/\/requirements\?/, late);
  await person.look('a stale edit with both versions');
  // The statement stays as it was written here, and the priority as it was set there.
  await person.press('Save the choice');
  await page.locator('article h2', { hasText: 'must print each report at once' }).waitFor();
  const after = (await caller.call('GET', `/api/projects/${project}/requirements?limit=100`)).items.find((one) => one.id === id);
  if (after.priority !== 'LOW' || after.statement !== 'The nurse must print each report at once.') person.faults.push(`merged: ${JSON.stringify(after)}`);

  await page.keyboard.press('e');
  await person.write('Statement', 'The nurse must print all reports.');
  await caller.call('PATCH', `/api/projects/${project}/requirements/${id}`, { title: 'Print' });
  await person.reads('Somebody else changed this while you were editing.');
  await person.look('an edit of what changed elsewhere');
  await person.press('Cancel');
  await page.getByRole('tab', { name: 'Source' }).focus();
  await page.keyboard.press('End');
  await person.reads('edited it');
  await page.locator('del').first().waitFor();
  await person.look('the history of an item');
}

/** One key or two for each decision; the next item that needs a review opens. */
async function decides(person, at) {
  const { page } = person;
  await at('REQ-003');
  await page.keyboard.press('a');
  await opened(person, 'REQ-004');
  await hasStatus(person, 'REQ-003', 'Approved');
  await page.keyboard.press('r');
  await page.getByRole('heading', { name: /^Reject/ }).waitFor();
  await confirms(person, 'Reject');
  await person.reads('Fill in this field.');
  await person.look('a rejection without a reason');
  await person.write('Why?', 'Nobody prints any more.');
  await confirms(person, 'Reject');
  await opened(person, 'REQ-005');
  await hasStatus(person, 'REQ-004', 'Rejected');
  await page.keyboard.press('d');
  await page.getByRole('heading', { name: /^Defer/ }).waitFor();
  await person.look('a deferral');
  await confirms(person, 'Defer');
  await opened(person, 'REQ-006');
  await hasStatus(person, 'REQ-005', 'Deferred');
  await page.keyboard.press('u');
  await opened(person, 'REQ-005');
  await hasStatus(person, 'REQ-005', 'Needs review');
  await page.keyboard.press('d');
  await page.getByRole('heading', { name: /^Defer/ }).waitFor();
  await confirms(person, 'Defer');
  await hasStatus(person, 'REQ-005', 'Deferred');
  await at('REQ-003');
  await person.press('Reopen');
  await hasStatus(person, 'REQ-003', 'Needs review');
  await page.keyboard.press('u');
  await hasStatus(person, 'REQ-003', 'Approved');
}

/** Many at once: what would become of them is said before it is done. */
async function decidesAboutMany(person) {
  const { page } = person;
  await page.getByRole('listbox').focus();
  for (let count = 0; count < 4; count++) {
    await page.keyboard.press('x');
    await page.keyboard.press('j');
  }
  await person.reads('4 selected');
  await person.look('selected items');
  const bulk = page.getByRole('region', { name: '4 selected' });
  await bulk.getByRole('button', { name: 'Approve' }).press('Enter');
  // REQ-003 is approved, REQ-004 rejected, REQ-005 deferred, REQ-006 new.
  await person.reads('2 will change');
  await person.reads('1 is approved already');
  await person.reads('1 has to be reopened first, and stays as it is');
  await person.look('what many items will become');
  await confirms(person, 'Approve');
  await person.reads('2 items are approved');
  await hasStatus(person, 'REQ-006', 'Approved');
  await page.keyboard.press('u');
  await hasStatus(person, 'REQ-006', 'Needs review');
}

/** A story is rewritten after its requirement was edited: what changed is shown word by word, and can be undone. */
async function rewrites(person, caller, project, at) {
  const { page } = person;
  const { items } = await caller.call('GET', `/api/projects/${project}/requirements?limit=100`);
  const { id } = items.find(({ code }) => code === 'REQ-003');
  await caller.call('PATCH', `/api/projects/${project}/requirements/${id}`, { statement: 'As a receptionist, I want to print the waiting list so that I can fill free slots.' });
  await at('US-001');
  await person.press('Rewrite');
  await page.getByRole('textbox', { name: 'What should be different?' }).waitFor();
  await person.write('What should be different?', 'Take up the edit of the requirement.');
  await confirms(person, 'Rewrite');
  await person.reads('This is what changed');
  await page.getByRole('dialog').locator('ins', { hasText: 'receptionist' }).waitFor();
  await person.look('a rewritten story');
  await confirms(person, 'Undo');
  await page.locator('article h2', { hasText: 'As a nurse, I want to print report 3' }).waitFor();
}

async function comments(person, caller, project, at) {
  await at('REQ-007');
  await person.page.keyboard.press('c');
  await person.page.keyboard.type('Is the ward asked?');
  await person.page.keyboard.press('Control+Enter');
  await person.reads('The comment is sent');
  await person.page.locator('li').getByText('Is the ward asked?').waitFor();
  await person.look('comments');
  const { totalCount } = await caller.call('GET', `/api/projects/${project}/feedback?targetType=REQUIREMENT&search=REQ-007`);
  if (totalCount !== 1) person.faults.push(`${totalCount} comments on REQ-007`);
}

/** What happens elsewhere is shown, and takes neither the open item nor the place away. */
async function hears(person, caller, project, at) {
  await at('REQ-010');
  const { items } = await caller.call('GET', `/api/projects/${project}/requirements?limit=100`);
  const { id } = items.find(({ code }) => code === 'REQ-009');
  await caller.call('PATCH', `/api/projects/${project}/requirements/${id}/status`, { workflowStatus: 'APPROVED' });
  await hasStatus(person, 'REQ-009', 'Approved');
  await opened(person, 'REQ-010');
}

async function switchesKeysOff(person, at) {
  const { page } = person;
  await at('REQ-011');
  await page.keyboard.press('?');
  await page.getByRole('switch', { name: 'Keys of one letter' }).waitFor();
  await person.look('keys');
  await page.keyboard.press('Space');
  await page.keyboard.press('Escape');
  await page.keyboard.press('j');
  await page.keyboard.press('a');
  await opened(person, 'REQ-011');
  await hasStatus(person, 'REQ-011', 'Needs review');
  await person.press('Approve');
  await opened(person, 'REQ-012');
}
