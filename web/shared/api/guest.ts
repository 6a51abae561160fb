// The session of a guest: an access token that is good for one meeting and some hours. Unlike a member's it is kept in
// sessionStorage while the page is open: a phone may drop the page without a word, and the link that gave the token is
// gone from the address.

export interface GuestSession {
  token: string;
  /** Milliseconds since the epoch. */
  expiresAt: number;
}

export class GuestStorage {
  readonly #key: string;

  constructor(meetingId: string) {
    this.#key = `colloquy.guest.${meetingId}`;
  }

  read(): GuestSession | null {
    try {
      const kept = JSON.parse(sessionStorage.getItem(this.#key) ?? 'null') as GuestSession | null;
      if (kept && kept.expiresAt > Date.now()) return kept;
    } catch {
      // Storage is off, or holds what is not ours.
    }
    this.write(null);
    return null;
  }

  write(session: GuestSession | null): void {
    try {
      if (session) sessionStorage.setItem(this.#key, JSON.stringify(session));
      else sessionStorage.removeItem(this.#key);
    } catch {
      // Without storage a reload asks for the link again.
    }
  }
}
