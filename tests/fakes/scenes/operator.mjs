// The operator's page: what keeps the installation busy, and what went wrong in it.

import { arrives, follow, reader } from './reader.mjs';

export const operator = {
  /** `account` is an operator; a job has failed for good, and a run of the project `project` has ended. `other` is none. */
  async operator(browser, { page, account, other, project }) {
    const ada = await reader(browser, new URL('/', page).href);
    await ada.logIn(account);
    await arrives(ada, 'Projects');
    await follow(ada, 'Operation');
    await arrives(ada, 'Operation');
    await ada.page.getByText('Database', { exact: true }).waitFor();
    await ada.lookTwice('operation', 'Operation', 'التشغيل');
    await follow(ada, 'Analysis runs');
    await ada.page.getByRole('listitem').filter({ hasText: project }).waitFor();
    await ada.look('runs of all projects');
    await ada.page.getByRole('combobox', { name: 'Status' }).selectOption('FAILED');
    await ada.reads('No run matches.');
    await follow(ada, 'Jobs and e-mails');
    await ada.page.getByRole('listitem').filter({ hasText: 'tried' }).waitFor();
    await ada.lookTwice('failed jobs', 'Operation', 'التشغيل');
    await ada.press('Try all again');
    await ada.reads(/tried again/);
    const faults = await ada.isGone();

    const ben = await reader(browser, new URL('/operator', page).href);
    await ben.logIn(other);
    await ben.reads('You do not have permission to do this.');
    if (await ben.page.getByRole('link', { name: 'Operation' }).count()) ben.faults.push('the page is offered to whom it is not for');
    return [...faults, ...(await ben.isGone())];
  },
};
