// The scene of the feedback inbox: reviewers are invited, what they say arrives, and is decided about.

import { analysedProject } from './project.mjs';
import { arrives, follow, mailed, reader } from './reader.mjs';

const PROJECT = 'Appointments';

export const feedbackScenes = {
  /** `account` invites `reviewer` (an address), whose mail lies in `outbox`, and answers what is said. */
  async feedbackInbox(browser, { page, outbox, account, reviewer }) {
    const project = await analysedProject(page, account, PROJECT);
    const ada = await reader(browser, new URL(`/projects/${project.id}/feedback`, page).href);
    await ada.logIn(account);
    await arrives(ada, 'Feedback');
    await ada.reads('No feedback yet');
    await ada.lookTwice('no feedback', /^Feedback$/, /^الملاحظات$/);

    await ada.press('Invite reviewers');
    await ada.page.getByRole('dialog').waitFor();
    await ada.write('E-mail addresses', `not an address, Grace Hopper <${reviewer}>`);
    await ada.press('Send invitations');
    await ada.page.getByRole('dialog').getByText(/not an address\u2069: /).waitFor();
    await ada.look('invite reviewers');
    await ada.write('E-mail addresses', `Grace Hopper <${reviewer}>`);
    await ada.picks('They may', 'Read, comment and');
    await ada.write('Message', 'Please look at the stories.');
    await ada.press('Send invitations');
    await ada.reads('1 invitation was sent');
    await follow(ada, 'Invitations');
    await ada.page.getByRole('listitem').filter({ hasText: 'Grace Hopper' }).getByText('Pending').waitFor();
    await ada.page.getByRole('button', { name: /^Copy link/ }).waitFor();
    await ada.lookTwice('invitations', /^Feedback$/, /^الملاحظات$/);

    // What the reviewer says arrives while the inbox is open.
    await follow(ada, 'Inbox');
    const says = await reviews(project.caller, (await mailed(outbox, reviewer, /#token=([\w-]+)/))[1]);
    const [story, other] = project.stories;
    await says({ targetType: 'USER_STORY', targetId: story.id, comment: 'Twice a day is enough.', verdict: 'CHANGE' });
    await says({ targetType: 'USER_STORY', targetId: other.id, comment: 'هذا ما اتفقنا عليه.', verdict: 'APPROVE' });
    const said = (text) => ada.page.getByRole('article').filter({ hasText: text });
    await said('Twice a day is enough.').waitFor();
    await said('هذا ما اتفقنا عليه.').waitFor();
    await ada.lookTwice('feedback', /^Feedback$/, /^الملاحظات$/);

    await rewrites(ada, project, said('Twice a day is enough.'));
    await said('Twice a day is enough.').getByRole('button', { name: 'Take up' }).press('Enter');
    await said('Twice a day is enough.').getByText('In progress').waitFor();
    await said('Twice a day is enough.').getByRole('button', { name: 'Resolve' }).press('Enter');
    await ada.page.getByRole('dialog').waitFor();
    await ada.look('resolve feedback');
    await ada.write('Note', 'The interval is changed.');
    await ada.page.getByRole('dialog').getByRole('button', { name: 'Resolve', exact: true }).press('Enter');
    await said('The interval is changed.').getByText('Resolved').waitFor();
    // Rejected at once: it is taken up on the way.
    await said('هذا ما اتفقنا عليه.').getByRole('button', { name: 'Reject' }).press('Enter');
    await ada.write('Note', 'Said twice.');
    await ada.page.getByRole('dialog').getByRole('button', { name: 'Reject', exact: true }).press('Enter');
    await said('Said twice.').getByText('Rejected').waitFor();
    await ada.press('Open');
    await ada.reads('No feedback matches');
    await ada.look('no feedback matches');

    await follow(ada, 'Invitations');
    await ada.page.getByRole('listitem').filter({ hasText: 'Grace Hopper' }).getByText('Accepted').waitFor();
    await ada.press(`Revoke ${reviewer}`);
    await ada.page.getByRole('dialog').waitFor();
    await ada.press('Revoke');
    await ada.page.getByRole('listitem').filter({ hasText: 'Grace Hopper' }).getByText('Revoked', { exact: true }).waitFor();
    return ada.isGone();
  },
};

/** A story whose requirement has changed is written anew by what was said of it: that is chosen in the form, and kept with the decision. */
async function rewrites(ada, { caller, path, stories: [story] }, card) {
  await caller.call('PATCH', `${path}/requirements/${story.requirementIds[0]}`, { statement: 'As a receptionist, I want to print the waiting list so that I can fill free slots.' });
  await card.getByRole('link', { name: 'Regenerate with this' }).press('Enter');
  const dialog = ada.page.getByRole('dialog', { name: /^Rewrite/ });
  const chosen = dialog.getByRole('checkbox', { name: /Twice a day is enough/, checked: true });
  await chosen.waitFor();
  if (ada.page.url().includes('feedback=')) ada.faults.push(`the feedback stays in the address: ${ada.page.url()}`);
  await ada.look('rewrite with feedback');
  // What was offered as words goes with the choice, and comes with it.
  const words = dialog.getByRole('textbox', { name: 'What should be different?' });
  await chosen.press('Space');
  await ada.eventually(async () => (await words.inputValue()) === '', 'no words without a choice');
  await dialog.getByRole('checkbox', { name: /Twice a day is enough/ }).press('Space');
  await ada.eventually(async () => (await words.inputValue()) === 'Take up the chosen feedback.', 'words for the choice');
  await dialog.getByRole('button', { name: 'Rewrite', exact: true }).press('Enter');
  await dialog.getByText('This is what changed').waitFor();
  await dialog.getByRole('button', { name: 'Keep it' }).press('Enter');
  const { items: events } = await caller.call('GET', `${path}/approval-events?limit=100`);
  if (!events.some(({ feedbackIds }) => feedbackIds.length === 1)) ada.faults.push('the history does not say which feedback the story heeds');
  await ada.page.goto(ada.page.url().replace(/\/results\/.*/, '/feedback'));
  await arrives(ada, 'Feedback');
}

/** Accepts an invitation; gives what says something about an item. */
async function reviews(caller, token) {
  const { reviewToken } = await caller.call('POST', `/api/review-invitations/${token}/accept`, {});
  return (body) => caller.call('POST', '/api/project-review/feedback', body, { 'X-Review-Token': reviewToken });
}
