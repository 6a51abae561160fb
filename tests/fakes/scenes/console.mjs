// Scenes on the console.

import { Caller } from './project.mjs';
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

    await ada.press('Create your first project');
    await isToldOfEmptyField(ada, 'Create project', 'Name');
    await ada.look('new project');
    await ada.write('Name', PROJECT);
    await ada.page.keyboard.press('Enter');
    await arrives(ada, PROJECT);
    await ada.lookTwice('empty project', PROJECT, PROJECT);

    // From here on, a reload would lose this.
    await ada.page.evaluate(() => { globalThis.isSamePage = true; });
    await follow(ada, 'Upload documents');
    await uploadsDocuments(ada, file);
    await follow(ada, 'The documents can be analysed now');
    await arrives(ada, 'Analysis');
    await ada.lookTwice('no analyses', 'Analysis', 'التحليل');
    await ada.press('Start the first analysis');
    await ada.look('new analysis');
    await ada.press('Start analysis');
    await arrives(ada, /^Analysis of /);
    await ada.page.getByRole('status').getByText('Completed', { exact: true }).waitFor();
    await ada.lookTwice('analysis', /^Analysis of /, /^تحليل /);
    if (!(await ada.page.evaluate(() => globalThis.isSamePage))) ada.faults.push('the page was loaded again');
    await follow(ada, 'Overview');
    await arrives(ada, PROJECT);
    await createsMeeting(ada);
    await ada.lookTwice('project', PROJECT, PROJECT);

    const [, projectId] = ada.page.url().match(/projects\/([^/?]+)/);
    const requirements = await requirementsOf(page, account, projectId);
    await follow(ada, 'Review what was found');
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
    await uploadsNewVersion(ada);
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
    // A password has no role of its own; it comes after the code.
    await ada.reach('textbox', 'Code from the e-mail');
    await ada.page.keyboard.press('Tab');
    await ada.page.keyboard.type('another quiet harbour 27');
    await ada.page.keyboard.press('Enter');
    await arrives(ada, 'Projects');
    return ada.isGone();
  },
};

/** Uploads a document, one that can't be read and one that nobody could read; the last two are told why. */
async function uploadsDocuments(person, file) {
  const { page } = person;
  await arrives(person, 'Documents');
  await person.lookTwice('no documents', 'Documents', 'المستندات');
  await person.uploads('Choose files', [file]);
  await page.getByRole('listitem').getByText('Ready', { exact: true }).waitFor();
  const broken = { name: 'broken.pdf', mimeType: 'application/pdf', buffer: Buffer.from('%PDF-1.7\nnothing of it is left') };
  const picture = { name: 'whiteboard.png', mimeType: 'image/png', buffer: Buffer.from('a picture') };
  const chooser = page.waitForEvent('filechooser');
  await person.press('Upload');
  await (await chooser).setFiles([broken, picture]);
  await person.reads("Text in pictures can't be read.");
  const failed = page.getByRole('listitem').filter({ hasText: 'broken.pdf' });
  await failed.getByText('Failed', { exact: true }).waitFor();
  await failed.getByText('Repair the file or save it in another format').waitFor();
  await person.uploads('Upload', file);
  await person.reads('The same file is here since');
  await person.lookTwice('documents', 'Documents', 'المستندات');
  for (let left = await page.getByRole('button', { name: /^Dismiss / }).count(); left > 0; left -= 1) {
    await page.getByRole('button', { name: /^Dismiss / }).first().press('Enter');
  }
  await page.getByRole('button', { name: /^Delete .*broken/ }).press('Enter');
  await person.look('delete a document');
  await person.press('Delete');
  await failed.waitFor({ state: 'detached' });
}

/** Uploads a note, and another one with its name: it becomes its new version, which tells what changed. */
async function uploadsNewVersion(person) {
  const { page } = person;
  const [name, added] = ['note.md', 'Every visitor shall be able to print a map of the clinic.'];
  const uploads = async (text) => {
    const chooser = page.waitForEvent('filechooser');
    await person.press('Upload');
    await (await chooser).setFiles([{ name, mimeType: 'text/markdown', buffer: Buffer.from(text) }]);
  };
  await follow(person, /^Documents/);
  await arrives(person, 'Documents');
  await uploads('The clinic shall be open on Sundays.\n');
  const row = page.getByRole('listitem').filter({ hasText: name });
  await row.getByText('Ready', { exact: true }).waitFor();
  await uploads(`The clinic shall be open on Sundays.\n\n${added}\n`);
  await person.reads('Another file of this name is here since');
  await person.look('a file with the name of a document');
  await person.press('Upload as its new version');
  await row.getByText('Version 2', { exact: true }).waitFor();
  await follow(person, name);
  await arrives(person, name);
  await person.press('What changed');
  await page.getByRole('listitem').getByText(added, { exact: true }).waitFor();
  await person.lookTwice('what changed in a document', name, name);
  await page.getByRole('combobox', { name: 'Version', exact: true }).selectOption({ index: 1 });
  await person.reads('This is a former version.');
  await person.look('a former version of a document');
}

async function createsMeeting(person) {
  await person.press('New meeting');
  await isToldOfEmptyField(person, 'Create meeting', 'Title');
  await person.look('new meeting');
  await person.write('Title', MEETING);
  await person.page.keyboard.press('Enter');
  await person.reach('link', new RegExp(`^${MEETING}`));
  await person.page.getByRole('heading', { level: 1 }).focus();
}

async function requirementsOf(page, account, projectId) {
  const caller = await Caller.as(page, account);
  const found = [];
  let cursor = '';
  do {
    const path = `/api/projects/${projectId}/requirements?limit=100${cursor && `&cursor=${encodeURIComponent(cursor)}`}`;
    const { items, nextCursor } = await caller.call('GET', path);
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
  await person.eventually(async () => (await person.page.getByRole('listbox').getByRole('option').count()) === 1, 'the search finds one');
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
  await follow(person, /^Documents/);
  await person.reads('Your session has ended');
  await page.unroute('**/api/**', expire);
  await person.logIn(account);
  await arrives(person, 'Documents');
}
