// The way of a newcomer who reads nothing but the screen, and the picture of the console on the project's first page.

import { readFile } from 'node:fs/promises';
import { arrives, follow, mailedCode, reader } from './reader.mjs';

export const newcomerScenes = {
  /**
   * `newcomer` {email, password, fullName} makes an account, whose code is in the folder `outbox`, and goes from a document to an
   * approved requirement in a file; then the `next` meeting adds to it. Only what the screen offers is followed. Returns the seconds
   * that it took.
   */
  async newcomer(browser, { page, outbox, newcomer, file, next }) {
    const grace = await reader(browser, page);
    const began = Date.now();
    await grace.press('Create account');
    await arrives(grace, 'Create your account');
    await grace.write('Full name', newcomer.fullName);
    await grace.logIn(newcomer);
    await arrives(grace, 'Confirm your e-mail address');
    await grace.write('Code from the e-mail', await mailedCode(outbox, newcomer.email));
    await grace.page.keyboard.press('Enter');
    await arrives(grace, 'Projects');
    await grace.press('Create your first project');
    await grace.write('Name', 'Clinic portal');
    await grace.page.keyboard.press('Enter');
    await arrives(grace, 'Clinic portal');

    await follow(grace, 'Upload documents');
    await arrives(grace, 'Documents');
    await grace.uploads('Choose files', [file]);
    await grace.page.getByRole('listitem').getByText('Ready', { exact: true }).waitFor();
    await follow(grace, 'The documents can be analysed now');
    await arrives(grace, 'Analysis');
    await grace.press('Start the first analysis');
    await grace.press('Start analysis');
    await arrives(grace, /^Analysis of /);
    await grace.page.getByRole('status').getByText('Completed', { exact: true }).waitFor();
    await follow(grace, 'Overview');
    await arrives(grace, 'Clinic portal');
    await follow(grace, 'Review what was found');
    await arrives(grace, 'Results');
    const statement = await grace.page.locator('article h2').textContent();
    await grace.press('Approve');
    await grace.eventually(async () => (await grace.page.locator('article h2').textContent()) !== statement, 'the next item');
    await follow(grace, 'Overview');
    await arrives(grace, 'Clinic portal');
    await grace.look('overview after the first approval');
    await follow(grace, 'Export the result');
    await arrives(grace, 'Exports');
    const first = await exported(grace, 1);
    isApproved(grace, first, statement);

    await follow(grace, /^Documents\s*1$/);
    await arrives(grace, 'Documents');
    await grace.uploads('Upload', [next]);
    const ready = grace.page.getByRole('listitem').getByText('Ready', { exact: true });
    await grace.eventually(async () => (await ready.count()) === 2, 'two documents that were read');
    await follow(grace, 'Analysis');
    await arrives(grace, 'Analysis');
    await grace.press('New analysis');
    await grace.press('Start analysis');
    await arrives(grace, /^Analysis of /);
    await grace.page.getByRole('status').getByText('Completed', { exact: true }).waitFor();
    await grace.look('the run of the second meeting');
    await follow(grace, 'Exports');
    await arrives(grace, 'Exports');
    const second = await exported(grace, 2);
    isApproved(grace, second, statement);
    const said = ({ requirements }) => new Set(requirements.map((one) => one.statement));
    const added = [...said(second)].filter((one) => !said(first).has(one));
    const lost = [...said(first)].filter((one) => !said(second).has(one));
    if (added.length !== 2 || lost.length > 0) grace.faults.push(`the second meeting added ${JSON.stringify(added)} and lost ${JSON.stringify(lost)}`);
    return { faults: await grace.isGone(), found: { seconds: (Date.now() - began) / 1000 } };
  },

  /** A requirement of `account`'s `project` beside its source: the picture `console.png`, and what stands in it, as lines of words. */
  async picture(browser, { page, account, project, code }) {
    const ada = await reader(browser, new URL(`/projects/${project}/results/${code}`, page).href);
    const counted = ada.page.waitForResponse(/\/item-pairs\?/);
    await ada.logIn(account);
    await arrives(ada, 'Results');
    await ada.page.locator('article mark').first().waitFor();
    // The menu counts the pairs that wait, a moment after the project is here.
    const { totalCount } = (await (await counted).json()).data;
    if (totalCount > 0) await ada.page.getByRole('link', { name: new RegExp(`^Conflicts\\s*${totalCount}$`) }).waitFor();
    await ada.page.emulateMedia({ colorScheme: 'dark' });
    await ada.page.setViewportSize({ width: 1280, height: 800 });
    await ada.picture('console');
    return { found: { words: await wordsOf(ada.page) }, faults: await ada.isGone() };
  },
};

/** What is in a file that is made now, when there are `count` of them. */
async function exported(person, count) {
  await person.picks('Format', 'JSON');
  await person.press('Export');
  const downloads = person.page.getByRole('button', { name: /^Download/ });
  await person.eventually(async () => (await downloads.count()) === count, `${count} files to download`);
  const [saved] = await Promise.all([person.page.waitForEvent('download'), downloads.first().press('Enter')]);
  return JSON.parse(await readFile(await saved.path(), 'utf8'));
}

/** Notes a fault unless the file has this one as approved, and no other. */
function isApproved(person, { requirements }, statement) {
  const approved = requirements.filter(({ workflowStatus }) => workflowStatus === 'APPROVED');
  if (approved.length !== 1 || approved[0].statement !== statement) {
    person.faults.push(`the file says of “${statement}”: ${JSON.stringify(approved)}`);
  }
}

/** The navigation, the first items of the list, what can be done to the open one, and the lit quote. */
async function wordsOf(page) {
  const parts = ['aside', '[role=listbox] [role=option]:nth-child(-n+3)', 'article h2', 'article mark'];
  const texts = await Promise.all(parts.map((part) => page.locator(part).allInnerTexts()));
  return texts.flat().flatMap((text) => text.split('\n')).map((line) => line.trim()).filter(Boolean);
}
