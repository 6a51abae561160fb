// Files of the interface. Their addresses alone give nothing: the call needs the token, so the content passes through memory.

import { addressOf, ApiError, authorizedFetch } from './api/client';
import type { Failure } from './api/error';

/** The content at a path of the interface. */
export async function readFile(path: string): Promise<Blob> {
  const response = await authorizedFetch(new Request(addressOf(path)));
  if (!response.ok) throw ApiError.of(response, (await response.json().catch(() => undefined)) as Failure | undefined);
  return response.blob();
}

/** Leaves content where the browser puts downloads. */
export function saveFile(content: Blob, fileName: string): void {
  const url = URL.createObjectURL(content);
  const link = document.createElement('a');
  link.href = url;
  link.download = fileName;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
