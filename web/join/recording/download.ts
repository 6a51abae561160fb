// A recording as a file. Its address alone gives nothing: the call needs the token, so the content passes through memory.

import { addressOf, ApiError, authorizedFetch } from '$shared/api/client';
import type { Failure } from '$shared/api/error';
import type { Recording } from '../state/meeting';

/** More than this is not held in memory. */
export const MOST_BYTES = 200 * 1024 * 1024;

export async function downloadRecording({ id, mimeType }: Recording, title: string): Promise<void> {
  const response = await authorizedFetch(new Request(addressOf(`/api/recordings/${id}/content`)));
  if (!response.ok) throw ApiError.of(response, (await response.json().catch(() => undefined)) as Failure | undefined);
  const url = URL.createObjectURL(await response.blob());
  const link = document.createElement('a');
  link.href = url;
  link.download = `${title.replace(/[\\/:*?"<>|]/g, ' ').trim() || 'recording'}.${mimeType.split('/')[1] ?? 'webm'}`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
