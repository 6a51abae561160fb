// Scenes on what leaves a project: files, and issues at a tracker.

import { readFile } from 'node:fs/promises';
import { analysedProject } from './project.mjs';
import { arrives, follow, reader } from './reader.mjs';

const PROJECT = 'Appointments';

export const exportScenes = {
  /** `account` exports a file and saves it. */
  async fileExports(browser, { page, account }) {
    const project = await analysedProject(page, account, PROJECT);
    const ada = await reader(browser, new URL(`/projects/${project.id}/exports`, page).href);
    await ada.logIn(account);
    await arrives(ada, 'Exports');
    await hearsOfAFailedSignIn(ada, page);
    await ada.reads('No files yet');
    await ada.lookTwice('no exports', /^Exports$/, /^التصدير$/);
    await ada.picks('Format', 'JSON');
    await ada.press('Export');
    const download = ada.page.getByRole('button', { name: /^Download/ });
    await download.waitFor();
    await ada.lookTwice('exports', /^Exports$/, /^التصدير$/);
    const saved = ada.page.waitForEvent('download');
    await download.press('Enter');
    const content = await readFile(await (await saved).path(), 'utf8');
    for (const { code } of project.requirements) if (!content.includes(code)) ada.faults.push(`${code} is not in the file`);
    return ada.isGone();
  },

  /**
   * `account` connects a project to Jira, chooses where stories go, and exports them. `jira` is how the site is controlled:
   * {control, site, account (an id there), others}.
   */
  async tracker(browser, { page, account, jira }) {
    const project = await analysedProject(page, account, PROJECT);
    const ada = await reader(browser, new URL(`/projects/${project.id}/exports/tracker`, page).href);
    await ada.logIn(account);
    await arrives(ada, 'Exports');
    await ada.reads('Not connected');
    await ada.lookTwice('no tracker', /^Exports$/, /^التصدير$/);
    await connects(ada, page, jira);
    await chooses(ada);
    const { caller, path, stories } = project;
    await ada.press('Export approved stories');
    await ada.reads('There is no approved story left to export.');
    const items = stories.map(({ id }) => ({ targetType: 'USER_STORY', id }));
    await caller.call('POST', `${path}/items/status`, { items, workflowStatus: 'APPROVED' });

    await ada.press('Dry run');
    await ada.eventually(async () => (await states(ada, 'To be created')) === stories.length, 'a dry run of all stories');
    await ada.lookTwice('dry run', /^Exports$/, /^التصدير$/);
    await ada.press('Export approved stories');
    await ada.eventually(async () => (await states(ada, 'Created')) === stories.length, 'an issue for each story');
    const issues = await controls(jira, 'GET', 'issues');
    if (issues.length !== stories.length) ada.faults.push(`${issues.length} issues were created for ${stories.length} stories`);
    await ada.lookTwice('tracker export', /^Exports$/, /^التصدير$/);

    // Edited in the tracker and here: not overwritten, and said so.
    const [issue] = issues;
    await controls(jira, 'POST', `issues/${issue.id}`, { fields: { summary: 'Edited by people' } });
    const edited = (await caller.call('GET', `${path}/user-stories?limit=100`)).items.find(({ trackerIssue }) => trackerIssue?.key === issue.key);
    await caller.call('PATCH', `${path}/user-stories/${edited.id}`, { title: 'Edited here', workflowStatus: 'APPROVED' });
    await ada.press('Export approved stories');
    await ada.reads('The issue was edited in the tracker.');
    await ada.look('export with a failure');
    await ada.page.locator('summary', { hasText: 'Options' }).press('Enter');
    await ada.tick('Overwrite what was edited in the tracker');
    await ada.press('Export what is left');
    await ada.eventually(async () => (await states(ada, 'Updated')) === 1, 'the edited one is updated');

    await ada.press('Disconnect');
    await ada.page.getByRole('dialog').getByRole('button', { name: 'Disconnect', exact: true }).press('Enter');
    await ada.reads('The tracker is disconnected');
    await ada.look('disconnected tracker');
    return ada.isGone();
  },
};

/** A sign-in at a tracker that cannot be told to belong to a project comes back to the first page. */
async function hearsOfAFailedSignIn(ada, page) {
  const exports = ada.page.url();
  await ada.page.goto(new URL('/#trackerError=TrackerStateInvalid&message=The+sign-in+is+not+valid.', page).href);
  await arrives(ada, 'Projects');
  await ada.reads('The sign-in took too long or was begun in another browser.');
  if (ada.page.url().includes('#')) ada.faults.push(`the answer of the tracker stays in the address: ${ada.page.url()}`);
  await ada.look('failed sign-in at a tracker');
  await ada.page.goto(exports);
  await arrives(ada, 'Exports');
}

const states = (person, words) => person.page.getByRole('cell').getByText(words, { exact: true }).count();

async function controls({ control, site }, method, path, body) {
  const response = await fetch(`${control}/sites/${site}/${path}`, { method, ...(body && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }) });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return response.json();
}

/** Signs in at the tracker as its account. The server may think that its pages have another address than the browser's. */
async function connects(ada, page, jira) {
  await ada.page.route(/\/authorize\?/, async (route) => {
    const answer = await fetch(`${route.request().url()}&as=${encodeURIComponent(jira.account)}`, { redirect: 'manual' });
    const { pathname, search } = new URL(answer.headers.get('location'));
    await route.fulfill({ contentType: 'text/html', body: `<script>location.replace(${JSON.stringify(new URL(pathname + search, page).href)})</script>` });
  });
  await ada.page.route(/\/api\/tracker\/callback\?/, async (route) => {
    const answer = await route.fetch({ maxRedirects: 0 });
    const { pathname, search, hash } = new URL(answer.headers().location);
    await route.fulfill({ status: 302, headers: { location: new URL(pathname + search + hash, page).href } });
  });
  await ada.press('Connect a tracker');
  await ada.page.getByRole('dialog').waitFor();
  await ada.page.locator('summary', { hasText: 'Connect with a token instead' }).press('Enter');
  await ada.press('Connect');
  await ada.reads('Fill in this field.');
  await ada.look('connect a tracker');
  await ada.press('Continue to Jira Cloud');
  await ada.page.getByText('Connected', { exact: true }).waitFor();
  if (ada.page.url().includes('#')) ada.faults.push(`the answer of the tracker stays in the address: ${ada.page.url()}`);
  await ada.lookTwice('connected tracker', /^Exports$/, /^التصدير$/);
}

async function chooses(ada) {
  await ada.press('Choose a destination');
  await ada.reach('searchbox', 'Project');
  await ada.page.keyboard.type('example');
  const dialog = ada.page.getByRole('dialog');
  await dialog.getByRole('radio', { name: /Example/ }).first().press('Space');
  const type = dialog.getByRole('combobox', { name: 'Type of issue' });
  await type.waitFor();
  await type.selectOption('10002');
  await dialog.getByRole('combobox', { name: 'Team' }).waitFor();
  await ada.press('Save');
  await dialog.locator('select[aria-invalid]').waitFor();
  await ada.look('choose a destination');
  await dialog.getByRole('combobox', { name: 'Team' }).selectOption({ label: 'Blue' });
  await ada.write('Labels', 'colloquy clinic');
  await ada.press('Save');
  await ada.reads('The destination was saved');
  await ada.reads('colloquy');
}
