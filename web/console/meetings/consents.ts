// The consent record of a meeting as a file: every answer, each with the hash of the one before.

import { api, unwrap } from '$shared/api/client';
import { save } from '$shared/recording/download';

export async function saveConsents(meetingId: string, title: string): Promise<void> {
  const record = await unwrap(api.GET('/api/meetings/{meetingId}/consents', { params: { path: { meetingId } } }));
  save(new Blob([JSON.stringify(record, null, 2)], { type: 'application/json' }), title, 'consents', 'consents.json');
}
