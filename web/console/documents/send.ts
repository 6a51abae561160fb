// Sends one file as a document, or as a new version of one, and tells how much of it has been sent, which fetch does not.

import { addressOf, ApiError, session, type Schemas } from '$shared/api/client';
import type { Failure } from '$shared/api/error';

export interface ToSend {
  projectId: string;
  file: File;
  /** The document that it is a new version of; absent for a document of its own. */
  versionOf?: string | undefined;
  /** Repeated with the same key, the call takes effect once. */
  key: string;
  signal: AbortSignal;
  progress: (sentBytes: number) => void;
}

/** Rejects with ApiError for what the server refuses, and with the signal's reason when it is aborted. */
export async function sendDocument(toSend: ToSend): Promise<Schemas['Document']> {
  const answer = await attemptOnce(toSend);
  if (answer.status !== 401 || !(await session.renew())) return documentOf(answer);
  return documentOf(await attemptOnce(toSend));
}

interface Answer { status: number; body: unknown; retryAfter: number | undefined }

function documentOf({ status, body, retryAfter }: Answer): Schemas['Document'] {
  if (status === 201 || status === 200) return (body as { data: Schemas['Document'] }).data;
  const faults = (body as Failure | null)?.errors ?? [{ code: 'Unreadable', field: null, reason: null, message: `${status}` }];
  throw new ApiError(status, faults, retryAfter);
}

function attemptOnce({ projectId, file, versionOf, key, signal, progress }: ToSend): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    const documents = `/api/projects/${encodeURIComponent(projectId)}/documents`;
    request.open('POST', addressOf(versionOf ? `${documents}/${encodeURIComponent(versionOf)}/versions` : documents));
    request.setRequestHeader('Idempotency-Key', key);
    if (session.token) request.setRequestHeader('Authorization', `Bearer ${session.token}`);
    request.upload.onprogress = ({ loaded, total }) => progress(total > 0 ? Math.round((loaded / total) * file.size) : 0);
    request.onload = () => resolve({ status: request.status, body: parsed(request.responseText), retryAfter: Number(request.getResponseHeader('Retry-After')) || undefined });
    request.onerror = () => reject(ApiError.offline());
    request.onabort = () => reject(signal.reason as Error);
    signal.addEventListener('abort', () => request.abort(), { once: true });
    const form = new FormData();
    form.set('file', file);
    request.send(form);
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    // A proxy answered, and not the server.
    return null;
  }
}
