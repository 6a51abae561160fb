// The token of the mailed link, from the address to the storage of this tab.

import { readAccess, writeAccess } from './storage';

/**
 * Takes the token out of the address at once, so that it is neither seen, nor kept in the history, nor shared. Returns
 * whether there was one. Another link counts over what was kept; the code of an item in it stays in the address.
 */
export function takeLink(): boolean {
  const asked = new URLSearchParams(location.hash.slice(1));
  const token = asked.get('token');
  if (!token) return false;
  const address = new URL(location.href);
  address.hash = asked.get('item') ?? '';
  address.searchParams.delete('project');
  history.replaceState(null, '', address);
  if (readAccess()?.invitationToken !== token) writeAccess({ invitationToken: token, reviewToken: null, inviterName: null });
  return true;
}

/** Whether the page is that of a stakeholder: members come with a project in the address. */
export const isStakeholder = (): boolean => takeLink() || !new URLSearchParams(location.search).has('project');
