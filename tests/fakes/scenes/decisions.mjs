// Scenes on what is decided about a project's items: proposals, conflicting pairs, the trace matrix, baselines and the history.

import { inflateRawSync } from 'node:zlib';
import { analysedProject } from './project.mjs';
import { arrives, follow, reader } from './reader.mjs';

const PROJECT = 'Appointments';

export const decisions = {
  /** `account` decides about everything that is to be decided in a project. */
  async decisions(browser, { page, account }) {
    const project = await analysedProject(page, account, PROJECT);
    const ada = await reader(browser, new URL(`/projects/${project.id}`, page).href);
    await ada.logIn(account);
    await arrives(ada, PROJECT);
    await proposes(ada, project);
    await settles(ada, project);
    await traces(ada, project);
    await compares(ada, project);
    await looksBack(ada, project);
    return ada.isGone();
  },
};

/** The items as ReqIF, changed as another tool would. */
async function changedElsewhere({ caller, path }, ...changes) {
  const { url } = await caller.call('POST', `${path}/ai/results-dashboard/exports`, { format: 'REQIF' });
  const archive = Buffer.from(await (await caller.send('GET', url)).arrayBuffer());
  const end = archive.lastIndexOf('PK\x05\x06', undefined, 'latin1');
  const directory = archive.readUInt32LE(end + 16);
  const [size, at] = [archive.readUInt32LE(directory + 20), archive.readUInt32LE(directory + 42)];
  const start = at + 30 + archive.readUInt16LE(at + 26) + archive.readUInt16LE(at + 28);
  const text = inflateRawSync(archive.subarray(start, start + size)).toString();
  return changes.reduce((changed, [from, to]) => changed.replaceAll(from, to), text);
}

async function proposes(ada, project) {
  await follow(ada, 'Proposals');
  await arrives(ada, 'Proposals');
  await ada.reads('No open proposals');
  await ada.lookTwice('no proposals', /^Proposals$/, /^المقترحات$/);

  const text = await changedElsewhere(project, ['within 5 seconds', 'within 8 seconds']);
  await ada.uploads('Import changed items', { name: 'from the tool.reqif', mimeType: 'application/xml', buffer: Buffer.from(text) });
  await ada.page.locator('article del', { hasText: '5' }).first().waitFor();
  await ada.page.locator('article ins', { hasText: '8' }).first().waitFor();
  await ada.lookTwice('proposal', /^Proposals$/, /^المقترحات$/);

  // Somebody else changes the item: what stands now is shown before it is replaced.
  const [{ id }] = project.requirements;
  const requirement = `${project.path}/requirements/${id}`;
  await project.caller.call('PATCH', requirement, { statement: 'The desk must print the letter within a minute.' });
  await ada.press('Take the change');
  await ada.reads('The item was changed after this was proposed.');
  await ada.page.locator('article del', { hasText: 'a minute' }).first().waitFor();
  await ada.look('stale proposal');
  await ada.press('Take the change');
  await ada.reads('1 proposal accepted');
  await project.caller.until(`${project.path}/requirements`, ({ items }) => items.some((one) => one.id === id && one.statement.includes('8 seconds')));

  const more = await changedElsewhere(project, ['two days', 'three days'], ['ten years', 'twelve years']);
  await ada.uploads('Import changed items', { name: 'again.reqif', mimeType: 'application/xml', buffer: Buffer.from(more) });
  await ada.eventually(async () => (await ada.page.locator('article').count()) >= 3, 'three proposals');
  await ada.tick('Select all');
  await ada.look('proposals chosen');
  await ada.press('Dismiss selected');
  await ada.reads('No open proposals');
  await follow(ada, 'Imports');
  await ada.page.getByRole('heading', { name: 'again.reqif' }).waitFor();
  await ada.lookTwice('imports', /^Proposals$/, /^المقترحات$/);
}

async function settles(ada, project) {
  const [, sees] = project.requirements;
  // The menu counts those that wait.
  await follow(ada, /^Conflicts\s*2$/);
  await arrives(ada, 'Conflicts');
  const options = ada.page.getByRole('option');
  const areLeft = (count) => ada.eventually(async () => (await options.count()) === count, `${count} pairs`);
  await areLeft(2);
  await ada.page.locator('mark').first().waitFor();
  await ada.lookTwice('conflicts', /^Conflicts$/, /^التعارضات$/);

  // By key, and back.
  await ada.page.keyboard.press('n');
  await areLeft(1);
  await ada.page.keyboard.press('u');
  await ada.reads('are open again');
  await areLeft(2);

  // Names in a sentence are kept apart by characters that nobody sees.
  await ada.page.getByRole('option', { name: sees.code }).click();
  await ada.press(new RegExp(`^Reject .?${sees.code}`));
  await ada.look('reject one of a pair');
  await ada.press('Reject');
  await areLeft(1);
  // An event may have told of it before the answer did, which closes the dialog.
  await ada.page.getByRole('dialog').waitFor({ state: 'hidden' });

  await ada.page.keyboard.press('x');
  await ada.look('selected pairs');
  await ada.press('Not a conflict');
  await ada.reads('All pairs are settled');
  await ada.lookTwice('settled pairs', /^Conflicts$/, /^التعارضات$/);
  await ada.press(/^Settled\s*2$/);
  await areLeft(2);
  await ada.look('what was made of pairs');
  const { items } = await project.caller.call('GET', `${project.path}/requirements?limit=100`);
  const statuses = items.map(({ workflowStatus }) => workflowStatus).filter((status) => status !== 'NEEDS_REVIEW').sort().join();
  if (statuses !== 'REJECTED') ada.faults.push(`settling pairs left items as ${statuses}`);
}

async function traces(ada, project) {
  await follow(ada, 'Trace matrix');
  await arrives(ada, 'Trace matrix');
  const { rows, totals } = await project.caller.call('GET', `${project.path}/trace-matrix`);
  const shown = async () => (await ada.page.getByRole('table').getAttribute('aria-rowcount')) - 1;
  await ada.page.getByRole('table').waitFor();
  const lines = rows.reduce((sum, { userStories }) => sum + Math.max(1, userStories.length), 0);
  if ((await shown()) !== lines) ada.faults.push(`${await shown()} of ${lines} lines are in the matrix`);
  await ada.lookTwice('trace matrix', /^Trace matrix$/, /^مصفوفة التتبع$/);
  await ada.press(new RegExp(`^No story\\s*${totals.gaps.noStory}$`));
  await ada.eventually(async () => (await shown()) === totals.gaps.noStory, 'the requirements without story alone');
  await ada.reach('searchbox', 'Search by code or title');
  await ada.page.keyboard.type('no such words');
  await ada.reads('No requirement matches.');
  await ada.page.keyboard.press('Control+A');
  await ada.page.keyboard.press('Delete');
}

async function compares(ada, project) {
  await follow(ada, 'Baselines');
  await arrives(ada, 'Baselines');
  await ada.reads('No baselines yet');
  await ada.lookTwice('no baselines', /^Baselines$/, /^خطوط الأساس$/);
  await ada.press('Take a baseline');
  await ada.page.getByRole('dialog').waitFor();
  await ada.page.keyboard.press('Enter');
  await ada.reads('Fill in this field.');
  await ada.look('take a baseline');
  await ada.write('Name', 'Before the workshop');
  await ada.page.keyboard.press('Enter');
  await ada.page.getByRole('heading', { name: 'Before the workshop' }).waitFor();
  await ada.lookTwice('baselines', /^Baselines$/, /^خطوط الأساس$/);

  await follow(ada, 'Compare with now Before the workshop');
  await ada.reads('No difference');
  await ada.lookTwice('no difference', /Before the workshop/, /Before the workshop/);
  await project.caller.call('PATCH', `${project.path}/requirements/${project.requirements.at(-1).id}`, { title: 'See the map of all stops' });
  // The comparison with now follows what is changed.
  await ada.page.locator('ins', { hasText: 'of all stops' }).first().waitFor();
  await ada.lookTwice('comparison', /Before the workshop/, /Before the workshop/);
}

async function looksBack(ada, project) {
  await follow(ada, 'History');
  await arrives(ada, 'History');
  const { count } = await project.caller.call('GET', `${project.path}/approval-events/verification`);
  await ada.reads(`The trail is intact: ${count} events, none altered or left out.`);
  await ada.eventually(async () => (await ada.page.locator('ol > li').count()) === count, `${count} events`);
  await ada.lookTwice('history', /^History$/, /^السجل$/);
  await ada.picks('Action', 'Rejected');
  await ada.eventually(async () => (await ada.page.locator('ol > li').count()) === 1, 'the rejection alone');
  await ada.page.locator('summary').first().press('Enter');
  await ada.look('event of the history');
}
