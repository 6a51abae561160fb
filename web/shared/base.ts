/** The path below which the server is reached, with a slash at its end: "/" unless a proxy adds a prefix. */
export const BASE = document.querySelector<HTMLMetaElement>('meta[name="base-path"]')?.content ?? '/';
