// The pictures of people, each asked for once: they are behind the sign-in, so an address alone shows nothing.

import { addressOf, authorizedFetch } from '../api/client';

const pictures = new Map<string, Promise<string | null>>();

async function load(url: string): Promise<string | null> {
  const response = await authorizedFetch(new Request(url));
  return response.ok ? URL.createObjectURL(await response.blob()) : null;
}

/** The object URL of the picture at `avatarUrl`, as a profile or a member names it; null where there is none to be had. */
export function pictureOf(avatarUrl: string): Promise<string | null> {
  const known = pictures.get(avatarUrl);
  if (known) return known;
  const url = avatarUrl.startsWith('/') ? addressOf(avatarUrl) : avatarUrl;
  const asked = load(url).catch(() => null);
  pictures.set(avatarUrl, asked);
  // Without a connection there is none now, but there may be one later.
  void asked.then((found) => { if (found === null) pictures.delete(avatarUrl); });
  return asked;
}
