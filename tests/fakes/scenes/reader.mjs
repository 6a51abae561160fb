// Somebody who reads the console and the review page.

import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Person } from './person.mjs';

/** A person who also notes errors of the page. */
export async function reader(browser, address) {
  const person = await Person.at(browser, address);
  person.page.on('console', (line) => {
    // What the server refuses is told by the page itself.
    if (line.type() === 'error' && !line.text().startsWith('Failed to load resource')) person.faults.push(line.text());
  });
  return person;
}

/** Waits for the view with exactly this heading, which has the focus. */
export async function arrives(person, heading) {
  const found = person.page.getByRole('heading', { name: heading, exact: true, level: 1 });
  await found.waitFor();
  await person.eventually(() => found.evaluate((element) => element === document.activeElement), `focus on ${heading}`);
}

/** Follows a link by keyboard. */
export async function follow(person, name) {
  await person.reach('link', name);
  await person.page.keyboard.press('Enter');
}

/** Presses Enter with an empty form: the first field gets the focus and says what is wrong with it. */
export async function isToldOfEmptyField(person, button, field) {
  await person.press(button);
  const input = person.page.getByRole('textbox', { name: field });
  await person.eventually(() => input.evaluate((element) => element === document.activeElement), `focus on the empty ${field}`);
  await person.reads('Fill in this field.');
}

/** The files of the e-mails to an address, oldest first, in the folder of a server that sends none. */
export async function mails(outbox, email) {
  const files = await readdir(outbox).catch(() => []);
  return files.filter((file) => file.endsWith(`-${email}.eml`)).sort();
}

/** The code in the newest of at least `count` e-mails to an address. */
export async function mailedCode(outbox, email, count = 1) {
  return (await mailed(outbox, email, /^(\d{6})\r?$/m, count))[1];
}

/** What the newest of at least `count` e-mails to an address says that matches `pattern`. */
export async function mailed(outbox, email, pattern, count = 1) {
  const deadline = Date.now() + 20_000;
  for (;;) {
    const files = await mails(outbox, email);
    if (files.length >= count) {
      const found = (await readFile(join(outbox, files.at(-1)), 'utf8')).replaceAll(/=\r?\n/g, '').replaceAll('=3D', '=').match(pattern);
      if (found) return found;
    }
    if (Date.now() > deadline) throw new Error(`${files.length} of ${count} e-mails to ${email} came`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
