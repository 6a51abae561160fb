// Scenes on the join page.

import { Person } from './person.mjs';
import { RecorderProbe } from './recorder-probe.mjs';

/** How long a transcript may take on a busy machine. */
const TRANSCRIBING = 180_000;
const PHONE_AND_DESK = [[390, 844], [375, 667], [1280, 800]];

export const join = {
  /** Sign-in, waiting, and a meeting that is cancelled meanwhile: `cancel` is the call that does it. */
  async waiting(browser, { page, host, outsider, cancel }) {
    const stranger = await Person.at(browser, page);
    await stranger.sees('Sign in to join');
    await stranger.lookTwice('the sign-in', 'Sign in to join', 'سجّل الدخول للانضمام');
    await stranger.logIn({ ...outsider, password: 'not this one' });
    await stranger.reads('The e-mail address or the password is wrong.');
    await stranger.logIn(outsider);
    await stranger.sees('This account is not invited');
    await stranger.look('a refusal');
    await stranger.press('Use another account');
    await stranger.sees('Sign in to join');
    await stranger.logIn(host);
    await stranger.sees('The meeting has not started yet');
    await stranger.lookTwice('waiting', 'The meeting has not started yet', 'لم يبدأ الاجتماع بعد');
    await stranger.page.reload();
    await stranger.sees('The meeting has not started yet');
    await stranger.press('Turn microphone on');
    await stranger.press('Turn camera on');
    await stranger.page.getByRole('meter', { name: 'Level of your microphone' }).waitFor();
    await stranger.page.getByLabel('Preview of your camera').waitFor();
    await stranger.look('the preview of microphone and camera');
    const kept = await stranger.page.evaluate(() => sessionStorage.length);
    if (kept > 0) stranger.faults.push('tokens of an account lie in the storage of an open page');
    const done = await fetch(cancel.url, { method: 'POST', headers: { authorization: cancel.authorization } });
    if (!done.ok) throw new Error(`cancelling: ${done.status}`);
    await stranger.sees('The meeting was cancelled');
    await stranger.lookTwice('the end', 'The meeting was cancelled', 'أُلغي الاجتماع');
    return stranger.isGone();
  },

  /** Two people; one refuses to be recorded, the other agrees, and the host ends the meeting. */
  async meeting(browser, { page, host, other }) {
    const grace = await Person.at(browser, page);
    await grace.logIn(other);
    await grace.sees('The meeting has not started yet');
    const ada = await Person.at(browser, page);
    await ada.logIn(host);
    await ada.press('Start the meeting');
    for (const person of [ada, grace]) await person.sees('Do you agree to be recorded?');
    await grace.look('the question');
    const ticked = await grace.page.getByRole('checkbox', { checked: true }).count();
    if (ticked > 0) grace.faults.push('an answer is chosen beforehand');
    await grace.press('I agree');
    await grace.reads('select at least the recording');
    await grace.press('I do not agree');
    await ada.hearsOfOther('does not agree to be recorded');
    await ada.tick('My audio and video may be recorded');
    await ada.tick('My speech may be transcribed');
    await ada.press('I agree');
    await grace.hearsOfOther('agreed to:');
    await ada.lookTwice('the meeting', 'You are in the meeting', 'أنت في الاجتماع');
    await ada.press('Withdraw my consent');
    await grace.hearsOfOther('does not agree to be recorded');
    await grace.press('Leave the meeting');
    await grace.sees('You left the meeting');
    await ada.hearsOfOther('left');
    await grace.press('Join again');
    await grace.sees('You are in the meeting');
    await ada.press('End the meeting for all');
    await ada.reach('button', 'Continue the meeting');
    await ada.page.keyboard.press('Escape');
    await ada.page.getByRole('dialog').waitFor({ state: 'hidden' });
    await ada.press('End the meeting for all');
    const sure = ada.page.getByRole('dialog').getByRole('button', { name: 'End the meeting for all' });
    await ada.page.keyboard.press('Tab');
    await sure.press('Enter');
    for (const person of [ada, grace]) {
      await person.sees('The meeting has ended');
      await person.reads('The host ended it for everyone.');
    }
    await grace.lookTwice('the end', 'The meeting has ended', 'انتهى الاجتماع');
    return [...(await ada.isGone()), ...(await grace.isGone())];
  },

  /** A guest with a link, in Arabic on a phone: comes in, does not agree, reloads, and is removed. */
  async guest(browser, { link, name, remove }) {
    const settings = { locale: 'ar-EG', viewport: { width: 390, height: 844 } };
    const guest = await Person.at(browser, link, settings);
    await guest.sees('أنت مدعو إلى اجتماع');
    if (new URL(guest.page.url()).hash !== '') guest.faults.push("the invitation's token stays in the address");
    await guest.look('the invitation in Arabic');
    await guest.write('اسمك', name);
    await guest.page.keyboard.press('Enter');
    await guest.sees('هل توافق على تسجيلك؟');
    await guest.press('لا أوافق');
    await guest.hearsOfSelf('لا يوافق على التسجيل');
    await guest.page.reload();
    await guest.sees('أنت في الاجتماع');
    const people = await (await fetch(remove.people, { headers: { authorization: remove.authorization } })).json();
    const own = people.data.items.find((one) => one.displayName === name);
    const done = await fetch(`${remove.people}/${own.id}`, {
      method: 'DELETE', headers: { authorization: remove.authorization },
    });
    if (!done.ok) throw new Error(`removing: ${done.status}`);
    const over = guest.page.getByRole('heading', { name: /أُخرجت من الاجتماع|انتهى حقك في الدخول/ });
    await over.waitFor();
    return guest.isGone();
  },

  /**
   * The host records. The network drops twice; the tab is closed with slices that were not sent, and opened again. With `transcript`
   * the page says what the transcript waits for; after a call of its `story` it shows it, if it `isMade`.
   */
  async recording(browser, { page, host, seconds, transcript }) {
    const probe = new RecorderProbe();
    const ada = await Person.at(browser, page);
    await probe.attach(ada.context);
    await ada.opens(page);
    await ada.logIn(host);
    await ada.press('Start the meeting');
    await ada.sees('Do you agree to be recorded?');
    await ada.hasInSight(['I agree', 'I do not agree'], PHONE_AND_DESK);
    await ada.tick('My audio and video may be recorded');
    if (transcript) await ada.tick('My speech may be transcribed');
    await ada.press('I agree');
    await ada.press('Record');
    await ada.reads('This meeting is being recorded.');
    const begun = Date.now();
    const until = (share) => ada.page.waitForTimeout(Math.max(0, begun + seconds * 1000 * share - Date.now()));
    await ada.look('the recording');
    await until(0.4);
    await ada.context.setOffline(true);
    await until(0.85);
    await ada.reads('not yet saved on the server');
    await ada.context.setOffline(false);
    await until(0.95);
    await ada.context.setOffline(true);
    await until(1);
    await ada.press('Stop recording');
    await ada.reads('not yet saved on the server');
    // What is on no disk yet is lost with its tab.
    await probe.settled(ada.page);
    await ada.page.close();
    await ada.context.setOffline(false);
    // The next tab is signed in by the browser's cookie.
    await ada.opens(page);
    await ada.reads('Everything recorded here is saved on the server.');
    const left = await ada.page.evaluate(() => new Promise((resolve) => {
      const opened = indexedDB.open('colloquy.recordings');
      opened.onsuccess = () => {
        const counted = opened.result.transaction('chunks').objectStore('chunks').count();
        counted.onsuccess = () => resolve(counted.result);
      };
    }));
    if (left > 0) ada.faults.push(`${left} chunks that are saved lie in the storage of the browser`);
    const shown = transcript ? await readTranscript(ada, transcript) : null;
    return { faults: await ada.isGone(), found: { sha256: probe.sha256, sizes: probe.sizes, seconds: probe.seconds, shown } };
  },

  /** A meeting that nobody joined has ended. Its host uploads a recording from elsewhere, `file`, and deletes it. */
  async imported(browser, { page, host, file }) {
    // Later than the answers: who presses a button doesn't depend on the events that follow.
    const ada = await Person.at(browser, page, { eventsLateMs: 500 });
    await ada.logIn(host);
    await ada.sees('The meeting has ended');
    await ada.press('Upload a recording');
    await ada.reads('Declare first that everyone who can be heard has agreed.');
    await ada.lookTwice('an import', 'The meeting has ended', 'انتهى الاجتماع');
    await ada.tick('I declare that everyone who can be heard in this recording has agreed to be recorded.');
    await ada.uploads('Upload a recording', { name: 'notes.webm', mimeType: 'video/webm', buffer: Buffer.from('No recording, whatever its name says.') });
    await ada.reads('The content is of another type than the name of the file says.');
    await ada.uploads('Upload a recording', file);
    await ada.reads('Download the recording');
    await ada.reach('button', /^Delete /);
    await ada.page.keyboard.press('Enter');
    await ada.look('the question before a recording is deleted');
    await ada.page.keyboard.press('Escape');
    await ada.reads('Download the recording');
    await ada.reach('button', /^Delete /);
    await ada.page.keyboard.press('Enter');
    await ada.press('Delete');
    await ada.page.getByRole('heading', { name: 'Recordings' }).and(ada.page.locator(':focus')).waitFor();
    await ada.page.getByText('Download the recording').waitFor({ state: 'detached' });
    return ada.isGone();
  },

  /** The host records; somebody comes who has not answered yet, and agrees after `seconds`: the recording pauses meanwhile. */
  async pause(browser, { page, host, other, seconds = 3 }) {
    const ada = await Person.at(browser, page);
    await ada.logIn(host);
    await ada.press('Start the meeting');
    await ada.sees('Do you agree to be recorded?');
    await ada.press('Answer later');
    await ada.press('Record');
    await ada.reads('Recording can start once everyone in the meeting has agreed.');
    await ada.press('Read the text and answer');
    await ada.tick('My audio and video may be recorded');
    await ada.press('I agree');
    await ada.press('Record');
    await ada.reads('This meeting is being recorded.');
    await ada.page.waitForTimeout(seconds * 1000);
    const grace = await Person.at(browser, page);
    await grace.logIn(other);
    await grace.sees('Do you agree to be recorded?');
    for (const person of [ada, grace]) await person.reads('The recording is paused until everyone has agreed');
    await ada.look('the pause');
    await ada.page.waitForTimeout(seconds * 1000);
    await grace.tick('My audio and video may be recorded');
    await grace.press('I agree');
    for (const person of [ada, grace]) await person.reads('This meeting is being recorded.');
    await ada.page.waitForTimeout(seconds * 1000);
    await ada.press('End the meeting for all');
    await ada.page.keyboard.press('Tab');
    await ada.page.keyboard.press('Enter');
    await ada.sees('The meeting has ended');
    await ada.reads('Everything recorded here is saved on the server.');
    await ada.reads('Download the recording');
    await ada.look('the end of a meeting that was recorded');
    return [...(await ada.isGone()), ...(await grace.isGone())];
  },
};

/** Corrects the first segment, which shows what was heard at first, and downloads the transcript. */
async function correctTranscript(person) {
  const correct = await person.page.getByRole('button', { name: /^Correct what was said at/ }).first().getAttribute('aria-label');
  await person.press(correct);
  await person.look('the editor of a transcript');
  await person.write('What was said', 'Quite another sentence.');
  await person.press('Save the correction');
  const first = person.page.locator('details ol li').first();
  await first.getByText('Quite another sentence.').waitFor();
  await first.getByText('Heard at first:').waitFor();
  await person.eventually(() => person.page.evaluate((name) => document.activeElement?.getAttribute('aria-label') === name, correct),
    'the focus returns to what was corrected');
  const saved = person.page.waitForEvent('download');
  // The name of the format is kept apart from the sentence around it by characters that nobody sees.
  await person.reach('button', /^Download the transcript as .?VTT/);
  await person.page.keyboard.press('Enter');
  const name = (await saved).suggestedFilename();
  if (!name.endsWith('.vtt')) person.faults.push(`the subtitles are saved as ${name}`);
}

/** What the page says of the transcript of the only recording while it waits, and then of each segment. */
async function readTranscript(person, { story, isMade }) {
  const waiting = person.page.getByText('The transcript is waiting for a speech recognition model.');
  await waiting.waitFor();
  // The reason is read after the status.
  await person.reads('colloquy models install');
  const waits = await waiting.innerText();
  await person.lookTwice('a transcript that waits', 'You are in the meeting', 'أنت في الاجتماع');
  await fetch(story);
  if (!isMade) return { waits };
  const items = person.page.locator('details ol li');
  await items.first().waitFor({ timeout: TRANSCRIBING });
  const segments = await items.evaluateAll((all) => all.map((item) => {
    const [time, speaker, text] = ['time', 'b', '.text'].map((part) => item.querySelector(part).innerText);
    return { time, speaker: speaker.replace(/[\u2068\u2069]/g, ''), text };
  }));
  await person.page.getByText(segments[0].text).scrollIntoViewIfNeeded();
  await person.lookTwice('a transcript', 'You are in the meeting', 'أنت في الاجتماع');
  await correctTranscript(person);
  return { waits, segments };
}
