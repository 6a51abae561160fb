// Scenes on the pages about people: members and their roles, invitations, the settings of a project, and one's own profile.

import { Caller } from './project.mjs';
import { arrives, follow, isToldOfEmptyField, mailed, reader } from './reader.mjs';

const PROJECT = 'Clinic portal';

export const people = {
  /**
   * `account` owns the project `projectId`; it invites `newcomer` {email, password}, who has an account, by an e-mail in the
   * folder `outbox`; and everything that can be set is set. `picture` is a file.
   */
  async people(browser, { page, projectId, outbox, account, newcomer, picture }) {
    const ada = await reader(browser, new URL(`/projects/${projectId}/people`, page).href);
    await ada.logIn(account);
    await arrives(ada, 'People');
    await ada.lookTwice('people', 'People', 'الأشخاص');
    await ada.press('Invite a member');
    await isToldOfEmptyField(ada, 'Send invitation', 'E-mail address');
    await ada.look('invite a member');
    await ada.write('E-mail address', newcomer.email);
    await ada.page.keyboard.press('Enter');
    await ada.reads(/was invited/);
    await revokesMistyped(ada, newcomer.email);

    const grace = await accepts(browser, { page, outbox, newcomer });
    // By the event: nobody loads the page again.
    await ada.page.getByRole('listitem').filter({ hasText: newcomer.fullName }).waitFor();
    await ada.page.getByRole('list', { name: 'Invited' }).waitFor({ state: 'detached' });
    const role = ada.page.getByRole('combobox', { name: new RegExp(`^Role of .*${newcomer.fullName}`) });
    await role.selectOption('STAKEHOLDER');
    await ada.reads(/is now: .*Stakeholder/);
    // Who is no analyst any more does not see the stakeholders.
    await grace.page.getByRole('link', { name: 'Stakeholders' }).waitFor({ state: 'detached' });
    await follow(ada, 'Stakeholders');
    await ada.page.getByRole('listitem').filter({ hasText: newcomer.fullName }).waitFor();
    await ada.lookTwice('stakeholders', 'People', 'الأشخاص');

    await settings(ada, { page, projectId, account });
    await glossary(ada);
    await follow(ada, /^People/);
    await arrives(ada, 'People');
    await ada.press(new RegExp(`^Remove .*${newcomer.fullName}`));
    await ada.look('remove a member');
    await ada.press('Remove');
    await grace.reads('This project is not available');
    await grace.look('removed');
    ada.faults.push(...(await grace.isGone()));

    await profile(ada, { account, picture });
    await ends(ada);
    return ada.isGone();
  },
};

/** Somebody was invited by a wrong address: they stand among the invited until they are taken out. */
async function revokesMistyped(ada, email) {
  const invited = (address) => ada.page.getByRole('list', { name: 'Invited' }).locator('bdi', { hasText: address });
  await invited(email).waitFor();
  await ada.press('Invite a member');
  await ada.write('E-mail address', 'mistyped@example.org');
  await ada.page.keyboard.press('Enter');
  await invited('mistyped@example.org').waitFor();
  await ada.page.getByRole('dialog').waitFor({ state: 'hidden' });
  await ada.page.getByRole('button', { name: 'Copy link mistyped@example.org' }).waitFor();
  await ada.lookTwice('people who were invited', 'People', 'الأشخاص');
  await ada.press('Revoke mistyped@example.org');
  await ada.press('Revoke');
  await invited('mistyped@example.org').waitFor({ state: 'detached' });
}

/** The invited one opens the mailed link without a session, signs in, and accepts. */
async function accepts(browser, { page, outbox, newcomer }) {
  const link = (await mailed(outbox, newcomer.email, /\/invitations\/project#token=[\w-]+/))[0];
  const grace = await reader(browser, new URL(link, page).href);
  if (grace.page.url().includes('token')) grace.faults.push('the token stays in the address');
  await grace.reads(/invites you to join the project/);
  await grace.logIn(newcomer);
  await arrives(grace, 'Invitation to a project');
  await grace.reads(new RegExp(PROJECT));
  await grace.lookTwice('project invitation', 'Invitation to a project', 'دعوة إلى مشروع');
  await grace.press('Accept and open the project');
  await arrives(grace, PROJECT);
  await follow(grace, /^People/);
  await arrives(grace, 'People');
  await grace.page.getByRole('link', { name: 'Stakeholders' }).waitFor();
  // The next tab is signed in by the browser's cookie.
  const tab = await grace.context.newPage();
  await tab.goto(new URL('/', page).href);
  await tab.getByRole('heading', { name: 'Projects', level: 1 }).waitFor();
  await tab.close();
  return grace;
}

async function settings(ada, { page, projectId, account }) {
  await follow(ada, 'Settings');
  await arrives(ada, 'Settings');
  await ada.lookTwice('settings', 'Settings', 'الإعدادات');
  await ada.write('Name', 'Clinic portal 2');
  // Meanwhile, elsewhere.
  await patchProject({ page, projectId, account }, { description: 'Changed elsewhere' });
  await ada.press('Save');
  await ada.reads('Somebody else has changed this meanwhile.');
  await ada.reads('Changed elsewhere');
  await ada.look('stale settings');
  await ada.press('Keep mine; saving replaces it');
  await ada.press('Save');
  await ada.reads('The project was saved');
  await ada.page.locator('aside').getByText('Clinic portal 2').waitFor();
  await ada.write('Name', PROJECT);
  await ada.press('Save');
  await ada.press('Archive the project');
  await ada.reads('This project is archived');
  await ada.look('archived project');
  await ada.press('Make it active again');
  await ada.press('Archive the project').catch(() => ada.faults.push('the project did not become active'));
  await ada.press('Make it active again');
}

async function patchProject({ page, projectId, account }, body) {
  await (await Caller.as(page, account)).call('PATCH', `/api/projects/${projectId}`, body);
}

async function glossary(ada) {
  await follow(ada, 'Glossary');
  await ada.reads('There are no terms yet.');
  await ada.lookTwice('empty glossary', 'Settings', 'الإعدادات');
  await ada.press('New term');
  await isToldOfEmptyField(ada, 'Save', 'Term');
  await ada.write('Term', 'Triage');
  await ada.write('Definition', 'The order in which patients are seen');
  await ada.write('Mistaken for', 'tree age, try age');
  await ada.look('new term');
  await ada.press('Save');
  await ada.reads(/tree age/);
  await ada.look('glossary');
  await ada.press(/^Edit .*Triage/);
  await ada.write('Definition', 'Who is seen first');
  await ada.press('Save');
  await ada.reads('Who is seen first');
  await ada.press(/^Remove .*Triage/);
  await ada.reads('There are no terms yet.');
}

async function profile(ada, { account, picture }) {
  await follow(ada, /^Ada/);
  await arrives(ada, 'Your profile');
  await ada.lookTwice('profile', 'Your profile', 'ملفك الشخصي');
  await ada.write('Full name', 'Augusta Ada King');
  await ada.press('Save');
  await ada.reads('Your profile was saved');
  await ada.uploads('Upload a picture', picture);
  await ada.page.locator('main img').waitFor();
  // Passwords have no role of their own: they come after the button before them.
  await ada.reach('button', 'Save');
  await ada.page.keyboard.press('Tab');
  await ada.page.keyboard.type('not this one');
  await ada.page.keyboard.press('Tab');
  await ada.page.keyboard.type('another quiet harbour 27');
  await ada.page.keyboard.press('Enter');
  await ada.reads('The password is wrong.');
  await ada.reach('button', 'Save');
  await ada.page.keyboard.press('Tab');
  await ada.page.keyboard.type(account.password);
  await ada.page.keyboard.press('Tab');
  await ada.page.keyboard.press('Enter');
  await ada.reads('The password was changed; all other sessions have ended');
  // The one of this page alone is left.
  await ada.page.reload();
  await arrives(ada, 'Your profile');
  await ada.page.getByText('This one', { exact: true }).waitFor();
  if (await ada.page.getByRole('button', { name: /^End the session/ }).count()) ada.faults.push('another session has not ended');
  await ada.press('Delete the account');
  await ada.look('delete the account');
  await ada.page.keyboard.press('Escape');
}

/** The project is deleted, and the reader is among the projects. */
async function ends(ada) {
  await follow(ada, 'Projects');
  await arrives(ada, 'Projects');
  await follow(ada, PROJECT);
  await arrives(ada, PROJECT);
  await follow(ada, 'Settings');
  await ada.press('Delete the project');
  await ada.write('Name of the project', 'another');
  await ada.page.keyboard.press('Enter');
  await ada.reads('This is not the name of the project.');
  await ada.look('delete a project');
  await ada.write('Name of the project', PROJECT);
  await ada.page.keyboard.press('Enter');
  await arrives(ada, 'Projects');
  await ada.reads('Welcome. Begin with a project');
}
