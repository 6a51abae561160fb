// What is known to be wrong with a file before anything of it is sent. What the file really is, the server finds out from its
// content: only kinds that no reader takes are refused here.

/** The most that the interface takes, by its description. */
export const MOST_BYTES = 50 * 1024 * 1024;

export type Refusal = 'empty' | 'tooLarge' | 'recording' | 'picture' | 'oldOffice' | 'archive';

const ENDINGS: readonly [Refusal, readonly string[]][] = [
  ['recording', ['mp3', 'wav', 'm4a', 'ogg', 'oga', 'flac', 'webm', 'mp4', 'mov', 'mkv', 'avi', 'aac']],
  ['picture', ['png', 'jpg', 'jpeg', 'gif', 'webp', 'heic', 'bmp', 'tif', 'tiff', 'svg']],
  ['oldOffice', ['doc', 'ppt', 'xls', 'pages', 'numbers', 'key', 'rtf', 'odp', 'ods']],
  ['archive', ['zip', 'rar', '7z', 'gz', 'tar', 'exe', 'dmg', 'iso', 'msi', 'jar']],
];

/** What a file chooser offers first. */
export const ACCEPTED = '.pdf,.docx,.pptx,.xlsx,.odt,.html,.htm,.md,.markdown,.txt,.csv,.eml,.vtt,.srt';

export function refusalOf({ name, size }: { name: string; size: number }): Refusal | null {
  const ending = name.includes('.') ? name.slice(name.lastIndexOf('.') + 1).toLowerCase() : '';
  const refused = ENDINGS.find(([, endings]) => endings.includes(ending));
  if (refused) return refused[0];
  if (size === 0) return 'empty';
  return size > MOST_BYTES ? 'tooLarge' : null;
}

/** The SHA-256 of a file in hexadecimal; null where the browser computes none, which is so on pages without TLS. */
export async function sha256(file: Blob): Promise<string | null> {
  if (!globalThis.crypto?.subtle) return null;
  const digest = await crypto.subtle.digest('SHA-256', await file.arrayBuffer());
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
