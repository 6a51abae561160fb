// The account of who is signed in, as the interface has it; pages that need more than the name ask for it.

import { attempt } from '$shared/account.svelte';
import { api, unwrap, type Schemas } from '$shared/api/client';

class Profile {
  details = $state.raw<Schemas['Profile'] | null>(null);

  load = (): Promise<void> => attempt(async () => {
    this.details = await unwrap(api.GET('/api/profile'));
  });
}

export const profile = new Profile();
