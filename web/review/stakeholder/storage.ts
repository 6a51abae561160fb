// What outlasts a reload, in the storage of this tab: the tokens, and what was written but is not with the server. It
// is gone with the tab. Without storage it lasts as long as the page.

export interface Access {
  invitationToken: string;
  /** Null until the invitation is accepted. */
  reviewToken: string | null;
  /** Whom to ask for another link, once that is known. */
  inviterName: string | null;
}

const PREFIX = 'colloquy.review.';
const memory = new Map<string, string>();

function store(): Pick<Storage, 'getItem' | 'setItem' | 'removeItem'> & { names: () => string[] } {
  try {
    const storage = sessionStorage;
    return {
      getItem: (name) => storage.getItem(name),
      setItem: (name, value) => storage.setItem(name, value),
      removeItem: (name) => storage.removeItem(name),
      names: () => Array.from({ length: storage.length }, (_, index) => storage.key(index) ?? ''),
    };
  } catch {
    return {
      getItem: (name) => memory.get(name) ?? null,
      setItem: (name, value) => memory.set(name, value),
      removeItem: (name) => memory.delete(name),
      names: () => [...memory.keys()],
    };
  }
}

export function read<Kept>(name: string): Kept | null {
  try {
    return JSON.parse(store().getItem(PREFIX + name) ?? 'null') as Kept | null;
  } catch {
    // Not ours.
    return null;
  }
}

/** Returns whether it is kept; a full storage takes nothing. */
export function write(name: string, kept: unknown): boolean {
  try {
    if (kept === null) store().removeItem(PREFIX + name);
    else store().setItem(PREFIX + name, JSON.stringify(kept));
    return true;
  } catch {
    return false;
  }
}

/** The names that begin so, without that beginning. */
export const namesBelow = (beginning: string): string[] =>
  store().names().filter((name) => name.startsWith(PREFIX + beginning)).map((name) => name.slice(PREFIX.length + beginning.length));

export const readAccess = (): Access | null => read<Access>('access');
export const writeAccess = (access: Access | null): boolean => write('access', access);
