// The account of who is signed in, as the interface has it; pages that need more than the name ask for it.

import { attempt, currentUser, whenSignedOut } from '$shared/account.svelte';
import { api, unwrap, type Schemas } from '$shared/api/client';

class Profile {
  details = $state.raw<Schemas['Profile'] | null>(null);

  load = (): Promise<void> => attempt(async () => {
    const found = await unwrap(api.GET('/api/profile'));
    // Who asked may have signed out, and somebody else be here.
    if (found.email === currentUser()?.email) this.details = found;
  });
}

export const profile = new Profile();
whenSignedOut(() => { profile.details = null; });
