// The token of an invitation, from the link to the moment at which it is answered. It is taken out of the address, so
// that it is neither seen, nor kept in the history, nor shared; a reload finds it put aside.

const keyOf = (meetingId: string): string => `colloquy.invitation.${meetingId}`;

export class InvitationLink {
  token: string | null = null;
  readonly #key: string;

  constructor(meetingId: string) {
    this.#key = keyOf(meetingId);
    try {
      this.token = sessionStorage.getItem(this.#key);
      sessionStorage.removeItem(this.#key);
    } catch {
      // Storage is off: the link has to be opened again.
    }
    this.takeFromAddress();
    addEventListener('pagehide', () => this.#putAside());
    addEventListener('pageshow', (event) => event.persisted && this.#forgetStored());
  }

  /** Another link to the same meeting counts over what was kept. Returns whether there was one. */
  takeFromAddress(): boolean {
    if (!location.hash) return false;
    const token = new URLSearchParams(location.hash.slice(1)).get('invitation');
    history.replaceState(null, '', location.pathname + location.search);
    if (token) this.token = token;
    return token !== null;
  }

  #putAside(): void {
    try {
      if (this.token) sessionStorage.setItem(this.#key, this.token);
    } catch {
      // As above.
    }
  }

  #forgetStored(): void {
    try {
      sessionStorage.removeItem(this.#key);
    } catch {
      // As above.
    }
  }
}
