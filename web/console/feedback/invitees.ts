// People to be invited, as they are written or pasted: one a line, or apart by commas; `Name <address>` or the address alone.

import type { Schemas } from '$shared/api/client';

export type Invitee = Schemas['ReviewInvitee'];

export function inviteesOf(text: string): Invitee[] {
  const written = text.split(/[\n,;،]+/).map((one) => one.trim()).filter(Boolean);
  const all = written.map((one): Invitee => {
    const [, name = '', address = one] = /^(.*?)<([^<>]*)>$/.exec(one) ?? [];
    const fullName = name.replaceAll('"', '').trim();
    return { email: address.trim(), ...(fullName && { fullName }) };
  });
  const known = new Set<string>();
  return all.filter(({ email }) => {
    const isNew = !known.has(email.toLowerCase());
    known.add(email.toLowerCase());
    return isNew;
  });
}
