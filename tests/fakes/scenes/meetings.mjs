// Scenes on the meetings of a project: scheduled, invited to, changed and cancelled; a recording heard beside its transcript.

import { Caller } from './project.mjs';
import { arrives, follow, isToldOfEmptyField, reader } from './reader.mjs';

const TITLE = 'Discovery with the clinic';
const OTHER = 'A meeting that is not needed';
/** How long a transcript may take on a busy machine. */
const TRANSCRIBING = 180_000;
const PATIENCE = 30_000;

export const meetings = {
  /**
   * `account` owns the project `projectId`, with `member` {fullName}; it schedules a meeting, invites the member and `guest` (an
   * e-mail address), meets an edit that was made meanwhile, and cancels another meeting.
   */
  async meetings(browser, { page, projectId, account, member, guest }) {
    const ada = await reader(browser, new URL(`/projects/${projectId}/meetings`, page).href);
    await ada.logIn(account);
    await arrives(ada, 'Meetings');
    await ada.lookTwice('no meetings', 'Meetings', 'الاجتماعات');
    await schedules(ada, TITLE, 'How patients book now.');
    await ada.lookTwice('a meeting', TITLE, TITLE);
    await invites(ada, { member, guest });
    await meetsAnotherEdit(ada, { page, account });

    await follow(ada, 'Back to the meetings');
    await arrives(ada, 'Meetings');
    await schedules(ada, OTHER);
    await ada.press('Cancel the meeting');
    await ada.look('the question before a meeting is cancelled');
    await ada.write('Reason (optional)', 'The clinic has answered by e-mail.');
    await ada.press('Yes, cancel it');
    await ada.page.getByRole('status').getByText('Cancelled', { exact: true }).waitFor();
    await ada.page.getByRole('button', { name: 'Invite', exact: true }).waitFor({ state: 'detached' });
    await ada.lookTwice('a cancelled meeting', OTHER, OTHER);

    await follow(ada, 'Back to the meetings');
    await arrives(ada, 'Meetings');
    await ada.page.getByRole('region', { name: 'Cancelled' }).getByText(OTHER).waitFor();
    await ada.lookTwice('meetings', 'Meetings', 'الاجتماعات');
    await ada.reach('searchbox', 'Search meetings');
    await ada.page.keyboard.type('discovery');
    await ada.page.getByText(OTHER).waitFor({ state: 'detached' });
    await ada.page.getByText(TITLE).waitFor();
    await ada.page.keyboard.type(' of nothing');
    await ada.reads(/No meeting has/);
    return ada.isGone();
  },

  /**
   * `account` uploads `file` to a meeting that has ended, `title` at `path`; hears it, follows the transcript (where `isMade`; it
   * waits for a model until `story` was called), looks for words, corrects a passage and has it transcribed again.
   */
  async heard(browser, { page, path, title, account, file, story, isMade }) {
    const ada = await reader(browser, new URL(path, page).href);
    await ada.logIn(account);
    await arrives(ada, title);
    await ada.lookTwice('a meeting without recordings', title, title);
    await ada.tick('I declare that everyone who can be heard in this recording has agreed to be recorded.');
    await ada.uploads('Upload a recording', file);
    const recording = ada.page.getByRole('link', { name: /^Everyone/ });
    await recording.filter({ hasText: 'ready' }).waitFor();
    await ada.lookTwice('a meeting with a recording', title, title);
    await ada.reach('link', /^Everyone/);
    await ada.page.keyboard.press('Enter');
    await arrives(ada, 'Recording');
    await ada.reads('The transcript is waiting for a speech recognition model.');
    await ada.reads('colloquy models install');
    await ada.lookTwice('a recording that waits for a model', 'Recording', 'تسجيل');
    await hears(ada);
    await fetch(story);
    if (isMade) await reads(ada);

    // The page goes on at the second that its address names.
    const address = new URL(ada.page.url());
    await ada.opens(new URL(`${address.pathname}?at=4000`, page).href);
    await arrives(ada, 'Recording');
    await isAt(ada, (ms) => ms >= 4000 && ms < 5000, 'the second in the address');
    if (isMade) await transcribesAgain(ada);
    await ada.press(/^Delete ./);
    await ada.look('the question before a recording is deleted');
    await ada.press('Delete');
    await arrives(ada, title);
    await ada.page.getByRole('link', { name: /^Everyone/ }).waitFor({ state: 'detached' });
    return ada.isGone();
  },

  /**
   * `account` adds a transcript in which `speaker` says `words` to a meeting that has ended, `title` at `path`; `other` is a file that is
   * none.
   */
  async attached(browser, { page, path, title, account, other, speaker, words }) {
    const text = `WEBVTT\n\n00:01.000 --> 00:04.000\n<v ${speaker}>${words}\n`;
    const ada = await reader(browser, new URL(path, page).href);
    await ada.logIn(account);
    await arrives(ada, title);
    await ada.press('Add a transcript (VTT, SRT)');
    await ada.reads('Declare first that everyone who speaks has agreed.');
    await ada.tick('I declare that everyone who speaks in this transcript has agreed to it.');
    await ada.uploads('Add a transcript (VTT, SRT)', other);
    await ada.reads('This is neither a VTT nor an SRT file.');
    await ada.uploads('Add a transcript (VTT, SRT)', { name: 'teams.vtt', mimeType: 'text/vtt', buffer: Buffer.from(text) });
    await ada.page.getByRole('link', { name: /^Attached transcript/ }).waitFor();
    await ada.lookTwice('a meeting with an attached transcript', title, title);
    await ada.reach('link', /^Attached transcript/);
    await ada.page.keyboard.press('Enter');
    await arrives(ada, 'Attached transcript');
    await ada.reads(speaker);
    await ada.reads(words);
    await ada.reads('There is no sound to play.');
    await ada.lookTwice('an attached transcript', 'Attached transcript', 'نص مكتوب مرفق');
    return ada.isGone();
  },
};

async function schedules(person, title, description = '') {
  await person.press('Schedule a meeting');
  await isToldOfEmptyField(person, 'Create meeting', 'Title');
  await person.look('the form of a meeting');
  await person.write('Title', title);
  if (description) await person.write('Description', description);
  await person.press('Create meeting');
  await arrives(person, title);
}

/** Invites a member and a guest, sends to the guest once more, and takes the invitation back. */
async function invites(person, { member, guest }) {
  const row = (name) => person.page.getByRole('region', { name: 'Invitations' }).getByRole('listitem').filter({ hasText: name });
  await person.press('Invite');
  await person.look('the members to invite');
  await person.press('Send invitations');
  await person.reads('Choose at least one member.');
  await person.reach('checkbox', new RegExp(`^${member.fullName}`));
  await person.page.keyboard.press('Space');
  await person.press('Send invitations');
  await row(member.fullName).getByText('No answer yet').waitFor();

  await person.press('Invite');
  await person.press('Guests');
  await person.write('E-mail address', 'no address');
  await person.press('Send invitations');
  const address = person.page.getByRole('textbox', { name: 'E-mail address' });
  await person.eventually(() => address.evaluate((element) => element === document.activeElement && element.ariaInvalid === 'true'), 'focus on the wrong address');
  await person.look('a guest to invite, with an error');
  await person.write('E-mail address', guest);
  await person.write('Name (optional)', 'Cleo Haddad');
  await person.write('Message (optional)', 'We would like to hear how you book.');
  await person.press('Send invitations');
  // The e-mail goes out behind the answer, and an event tells.
  await row('Cleo Haddad').getByText(/^E-mail sent/).waitFor();
  await person.lookTwice('a meeting with invitations', TITLE, TITLE);
  await person.press(/^Send the invitation of .*Cleo Haddad.* again$/);
  // Too soon after the first one.
  await person.reads(/was sent an e-mail a moment ago/);
  await person.press(/^Revoke the invitation of .*Cleo Haddad/);
  await person.look('the question before an invitation is revoked');
  await person.press('Revoke');
  await row('Cleo Haddad').getByText('Revoked', { exact: true }).waitFor();
}

/** Somebody else changes the meeting while it is edited: both states are shown, and the reader's is kept. */
async function meetsAnotherEdit(person, { page, account }) {
  await person.press('Edit');
  await person.look('an edit of a meeting');
  await person.write('Title', 'Discovery, second part');
  const meeting = person.page.url().match(/meetings\/([^/?]+)/)[1];
  await (await Caller.as(page, account)).call('PATCH', `/api/meetings/${meeting}`, { title: 'Discovery, of somebody else' });
  await person.press('Save');
  await person.page.getByRole('alert').getByText('Discovery, of somebody else').waitFor();
  await person.look('an edit that meets another one');
  await person.press('Keep mine; saving replaces it');
  await person.press('Save');
  await person.page.getByRole('heading', { name: 'Discovery, second part', level: 1 }).waitFor();
  await person.press('Edit');
  await person.write('Title', TITLE);
  await person.press('Save');
  await person.page.getByRole('heading', { name: TITLE, level: 1 }).waitFor();
}

const position = (person) => person.page.getByRole('slider', { name: 'Position' });

async function isAt(person, is, what) {
  await person.eventually(async () => is(Number(await position(person).inputValue())), what);
}

/** Plays, goes ahead and back by key and by slider, changes the speed, and pauses. */
async function hears(person) {
  await person.press('Play');
  await isAt(person, (ms) => ms > 500, 'the recording is heard');
  await person.page.getByRole('button', { name: 'Pause', exact: true }).waitFor();
  await person.press('Pause');
  await person.reach('slider', 'Position');
  await person.page.keyboard.press('Home');
  await isAt(person, (ms) => ms === 0, 'the beginning');
  await person.page.keyboard.press('l');
  await isAt(person, (ms) => ms === 10_000, 'ten seconds ahead');
  await person.page.keyboard.press('ArrowLeft');
  await isAt(person, (ms) => ms === 5_000, 'five seconds back');
  await person.page.getByRole('combobox', { name: 'Speed' }).selectOption('2');
  await person.page.keyboard.press('Tab');
  await person.press('Back 10 seconds');
  await isAt(person, (ms) => ms === 0, 'no further back than the beginning');
}

/** The transcript follows the sound; words are found, and a passage is corrected. */
async function reads(person) {
  const passages = person.page.locator('.scroll ol li');
  await passages.first().waitFor({ timeout: TRANSCRIBING });
  await person.lookTwice('a recording with its transcript', 'Recording', 'تسجيل');
  await person.press('Play');
  await passages.first().and(person.page.locator('[aria-current]')).waitFor({ timeout: PATIENCE });
  await passages.nth(1).and(person.page.locator('[aria-current]')).waitFor({ timeout: PATIENCE });
  await person.press('Pause');
  await person.look('a recording that is followed');

  const last = await passages.last().getByRole('button', { name: /^Play from/ }).getAttribute('aria-label');
  await person.press(last);
  await passages.last().and(person.page.locator('[aria-current]')).waitFor({ timeout: PATIENCE });
  await person.press('Pause');

  const word = (await passages.last().locator('.text').innerText()).split(' ').at(-1).replace(/\W/g, '');
  await person.reach('searchbox', 'Search in the transcript');
  await person.page.keyboard.type(word.toUpperCase());
  await person.page.locator('mark').first().waitFor();
  await person.page.keyboard.press('Enter');
  await person.look('words in a transcript');
  await person.page.keyboard.press('Control+A');
  await person.page.keyboard.press('Delete');

  await person.press(await passages.first().getByRole('button', { name: /^Correct/ }).getAttribute('aria-label'));
  await person.look('the editor of a passage');
  await person.write('What was said', 'Quite another sentence.');
  await person.page.getByRole('combobox', { name: 'Who said it' }).selectOption('other');
  await person.write('Name of the speaker', 'Grace Hopper');
  await person.press('Save the correction');
  await passages.first().getByText('Quite another sentence.').waitFor();
  await passages.first().getByText('Grace Hopper').waitFor();
}

/** What was corrected is still there; then another version of the transcript is asked for. */
async function transcribesAgain(person) {
  await person.page.locator('.scroll ol li').first().getByText('Quite another sentence.').waitFor();
  await person.press('Transcribe again');
  await person.look('the question before a recording is transcribed again');
  await person.press('Transcribe');
  await person.page.getByText(/^Version .*2/).first().waitFor();
}
