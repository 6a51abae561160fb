// Copies a link to the clipboard, and says so in the view's words.

import { notify } from '$shared/ui/toasts.svelte';

export async function copyLink(link: string, done: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(link);
    notify(done);
  } catch {
    // The clipboard is out of reach here: the link is shown, to be copied by hand.
    notify(link, 'fault');
  }
}
