// Scenes on the console.

import { arrives, follow, isToldOfEmptyField, mailedCode, mails, reader } from './reader.mjs';

const PROJECT = 'Clinic portal';
const MEETING = 'Discovery with the clinic';

export const consolePage = {
  /** A document becomes requirements beside their source: `file` is the document, `account` the one who uploads it. */
  async requirements(browser, { page, account, file }) {
    const ada = await reader(browser, page);
    await arrives(ada, 'Sign in to Colloquy');
    await ada.lookTwice('log-in', 'Sign in to Colloquy', 'تسجيل الدخول إلى Colloquy');
    await isToldOfEmptyField(ada, 'Sign in', 'E-mail address');
    await ada.look('log-in with errors');
    await ada.logIn({ ...account, password: 'not this one' });
    await ada.reads('The e-mail address or the password is wrong.');
    await ada.logIn(account);
    await arrives(ada, 'Projects');
    await ada.lookTwice('no projects', /^Projects$/, /^المشاريع$/);

    await ada.press('New project');
    await isToldOfEmptyField(ada, 'Create project', 'Name');
    await ada.look('new project');
    await ada.write('Name', PROJECT);
    await ada.page.keyboard.press('Enter');
    await arrives(ada, PROJECT);
    await ada.lookTwice('empty project', PROJECT, PROJECT);

    // From here on, a reload would lose this.
    await ada.page.evaluate(() => { globalThis.isSamePage = true; });
    const chooser = ada.page.waitForEvent('filechooser');
    await ada.press('Upload');
    await (await chooser).setFiles(file);
    await ada.page.locator('li').getByText('Ready', { exact: true }).waitFor();
    await watchProgress(ada.page);
    await ada.press('Start analysis');
    await ada.page.getByRole('link', { name: 'Review requirements' }).waitFor();
    await ada.page.getByRole('status').getByText('Completed', { exact: true }).waitFor();
    const seen = await ada.page.evaluate(() => globalThis.progressSeen);
    if (seen.length === 0) ada.faults.push('no progress of the analysis was shown');
    if (seen.some((value, index) => value < seen[index - 1])) ada.faults.push(`the progress fell: ${seen}`);
    if (!(await ada.page.evaluate(() => globalThis.isSamePage))) ada.faults.push('the page was loaded again');
    await createsMeeting(ada);
    await ada.lookTwice('project', PROJECT, PROJECT);

    const [, projectId] = ada.page.url().match(/projects\/([^/?]+)/);
    const requirements = await requirementsOf(page, account, projectId);
    await follow(ada, 'Review requirements');
    await arrives(ada, 'Results');
    const quotes = await litQuotesAreTheRightOnes(ada, requirements);
    await ada.page.keyboard.press('k');
    await opens(ada, requirements.at(-2));
    await ada.page.waitForURL(`**/results/${requirements.at(-2).code}`);
    await ada.page.reload();
    await arrives(ada, 'Results');
    await opens(ada, requirements.at(-2));
    await ada.lookTwice('review', /^Results$/, /^النتائج$/);
    await ada.press('Dark colours');
    await ada.look('review in dark colours');
    await ada.press('Light colours');
    await searches(ada, requirements[0]);

    await follow(ada, 'Overview');
    await arrives(ada, PROJECT);
    await returnsToAnExpiredSession(ada, account);
    await ada.press('Sign out');
    await arrives(ada, 'Sign in to Colloquy');
    return { faults: await ada.isGone(), found: { requirements: requirements.length, quotes } };
  },

  /**
   * Registers `newcomer` {email, password, fullName}, and sets a new password for `account` {email}; the codes are read in
   * `outbox`, the folder in which the server leaves its e-mails.
   */
  async account(browser, { page, outbox, account, newcomer }) {
    const ada = await reader(browser, page);
    await arrives(ada, 'Sign in to Colloquy');
    await ada.press('Create account');
    await arrives(ada, 'Create your account');
    await ada.lookTwice('register', 'Create your account', 'أنشئ حسابك');
    await isToldOfEmptyField(ada, 'Create account', 'Full name');
    await ada.write('Full name', newcomer.fullName);
    await ada.logIn(newcomer);
    await arrives(ada, 'Confirm your e-mail address');
    await ada.lookTwice('confirm', 'Confirm your e-mail address', 'أكّد بريدك الإلكتروني');
    await ada.page.reload();
    await arrives(ada, 'Confirm your e-mail address');
    await ada.write('Code from the e-mail', await mailedCode(outbox, newcomer.email));
    await ada.page.keyboard.press('Enter');
    await arrives(ada, 'Projects');
    await ada.press('Sign out');
    await arrives(ada, 'Sign in to Colloquy');

    await ada.press('Forgot password?');
    await arrives(ada, 'Reset your password');
    await ada.lookTwice('forgot', 'Reset your password', 'إعادة تعيين كلمة المرور');
    await ada.write('E-mail address', account.email);
    const sent = (await mails(outbox, account.email)).length;
    await ada.page.keyboard.press('Enter');
    await arrives(ada, 'Choose a new password');
    await ada.lookTwice('reset', 'Choose a new password', 'اختر كلمة مرور جديدة');
    const code = await mailedCode(outbox, account.email, sent + 1);
    await ada.write('Code from the e-mail', code === '000000' ? '111111' : '000000');
    await ada.press('Set password and sign in');
    await ada.reads('The code is wrong or has expired.');
    await ada.write('Code from the e-mail', code);
    // A password has no role of its own; it comes after the button that sends another code.
    await ada.reach('button', 'Send another code');
    await ada.page.keyboard.press('Tab');
    await ada.page.keyboard.type('another quiet harbour 27');
    await ada.page.keyboard.press('Enter');
    await arrives(ada, 'Projects');
    return ada.isGone();
  },
};

/** Notes each value that the progress bar shows. */
function watchProgress(page) {
  return page.evaluate(() => {
    globalThis.progressSeen = [];
    const note = () => {
      const bar = document.querySelector('progress');
      if (bar && bar.value !== globalThis.progressSeen.at(-1)) globalThis.progressSeen.push(bar.value);
    };
    new MutationObserver(note).observe(document.body, { subtree: true, childList: true, attributes: true });
  });
}

async function createsMeeting(person) {
  await person.press('New meeting');
  await isToldOfEmptyField(person, 'Create meeting', 'Title');
  await person.look('new meeting');
  await person.write('Title', MEETING);
  await person.page.keyboard.press('Enter');
  await person.page.locator('li').getByText('Scheduled', { exact: true }).waitFor();
  // The title is kept apart from the sentence around it by characters that nobody sees.
  await person.reach('button', new RegExp(`^Copy the link to .*${MEETING}`));
  const open = new RegExp(`^Open .*${MEETING}`);
  await person.reach('link', open);
  const href = await person.page.getByRole('link', { name: open }).getAttribute('href');
  if (!/\/meetings\/[0-9a-f-]{36}\/join$/.test(href)) person.faults.push(`the meeting opens at ${href}`);
  await person.page.getByRole('heading', { level: 1 }).focus();
}

async function requirementsOf(page, { email, password }, projectId) {
  const call = async (path, options) => {
    const response = await fetch(new URL(path, page), options);
    if (!response.ok) throw new Error(`${path}: ${response.status}`);
    return (await response.json()).data;
  };
  const login = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ email, password }) };
  const { accessToken } = await call('/api/auth/login', login);
  const found = [];
  let cursor = '';
  do {
    const path = `/api/projects/${projectId}/requirements?limit=100${cursor && `&cursor=${encodeURIComponent(cursor)}`}`;
    const { items, nextCursor } = await call(path, { headers: { authorization: `Bearer ${accessToken}` } });
    found.push(...items);
    cursor = nextCursor;
  } while (cursor);
  return found.sort((one, other) => one.code.localeCompare(other.code, 'en', { numeric: true }));
}

const opens = (person, { statement }) => person.page.locator('article h2', { hasText: statement }).waitFor();

/** Goes from the first requirement to the last by J; for each source the lit text has to be the quote. Returns how many there were. */
async function litQuotesAreTheRightOnes(person, requirements) {
  let quotes = 0;
  for (const [index, requirement] of requirements.entries()) {
    if (index > 0) await person.page.keyboard.press('j');
    await opens(person, requirement);
    for (const [at, { quote }] of requirement.sources.entries()) {
      const button = person.page.getByRole('group', { name: 'Source' }).getByRole('button').nth(at);
      if (requirement.sources.length > 1) await button.press('Enter');
      // Paragraphs stand apart in the page, so the line breaks between them are in no mark.
      const wanted = quote.replaceAll('\n', '');
      const lit = () => person.page.locator('mark').evaluateAll((marks) => marks.map((mark) => mark.textContent).join(''));
      await person.eventually(async () => (await lit()) === wanted, `${requirement.code} lights “${wanted}”`).catch(async (error) => {
        person.faults.push(`${error.message}, but “${await lit()}”`);
      });
      quotes += 1;
    }
    const isInView = await person.page.locator('mark').first().evaluate((mark) => {
      const box = mark.closest('section').getBoundingClientRect();
      const { top, bottom } = mark.getBoundingClientRect();
      return bottom > box.top && top < box.bottom;
    });
    if (!isInView) person.faults.push(`the quote of ${requirement.code} is out of sight`);
  }
  return quotes;
}

async function searches(person, { code }) {
  await person.page.keyboard.press('/');
  await person.page.keyboard.type(code);
  await person.eventually(async () => (await person.page.getByRole('option').count()) === 1, 'the search finds one');
  await person.page.keyboard.press('Control+A');
  await person.page.keyboard.press('Delete');
}

/** When the session ends, the log-in comes, and leads back to where the reader was. */
async function returnsToAnExpiredSession(person, account) {
  const expire = (route) => route.fulfill({ status: 401, contentType: 'application/json', body: JSON.stringify({
    isSuccess: false, data: null, message: 'Sign in.', statusCode: 401,
    errors: [{ code: 'Unauthorized', message: 'Sign in.', field: null, reason: null }],
  }) });
  const { page } = person;
  await page.route('**/api/**', expire);
  await page.getByRole('button', { name: 'Start analysis' }).press('Enter');
  await person.reads('Your session has ended');
  await page.unroute('**/api/**', expire);
  await person.logIn(account);
  await arrives(person, PROJECT);
}
