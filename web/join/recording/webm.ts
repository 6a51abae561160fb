// The elements of WebM that a MediaRecorder writes, as far as it takes to leave blocks of sound out.

const SEGMENT = 0x18538067;
const CLUSTER = 0x1f43b675;
const LARGEST_BLOCK = 16_384;
const BLOCKS: ReadonlySet<number> = new Set([0xa3, 0xa0]);
/** What is before the first cluster, or says something of one. */
const KEPT: ReadonlySet<number> = new Set([0x1a45dfa3, 0x1549a966, 0x1654ae6b, 0x1254c367, 0xe7, 0xab, 0xa7, 0xec, 0xbf]);

interface Piece { start: number; end: number; isBlock: boolean }

/** Reads a number of EBML; `keepMarker` for ids, which include the marker of their length. */
function readNumber(bytes: Uint8Array, at: number, keepMarker: boolean): { value: number; end: number; isUnknown: boolean } | null {
  const first = bytes[at];
  if (first === undefined || first === 0) return null;
  const length = Math.clz32(first) - 23;
  if (at + length > bytes.length) return null;
  const marker = 1 << (8 - length);
  let value = keepMarker ? first : first & (marker - 1);
  let isUnknown = (first & (marker - 1)) === marker - 1;
  for (let next = at + 1; next < at + length; next += 1) {
    const byte = bytes[next] ?? 0;
    value = value * 256 + byte;
    isUnknown &&= byte === 0xff;
  }
  return { value, end: at + length, isUnknown };
}

/** The pieces of a slice, up to one that is not complete or not as expected. */
function piecesOf(bytes: Uint8Array): { pieces: Piece[]; end: number } {
  const pieces: Piece[] = [];
  let at = 0;
  while (at < bytes.length) {
    const id = readNumber(bytes, at, true);
    const size = id && readNumber(bytes, id.end, false);
    if (!id || !size) break;
    const isContainer = id.value === SEGMENT || id.value === CLUSTER;
    // A cluster that names its size can't be shortened without writing another size.
    if (isContainer ? !size.isUnknown : !BLOCKS.has(id.value) && !KEPT.has(id.value)) break;
    const end = isContainer ? size.end : size.end + size.value;
    if (end > bytes.length) break;
    pieces.push({ start: at, end, isBlock: BLOCKS.has(id.value) });
    at = end;
  }
  return { pieces, end: at };
}

/** Where the last complete piece of a slice ends. Browsers end a slice anywhere; what follows belongs to the next one. */
export function completeLength(content: ArrayBuffer): number {
  const bytes = new Uint8Array(content);
  const { end } = piecesOf(bytes);
  const first = bytes[end];
  // Anything else is not made as expected, and stays together.
  const isBegun = first !== undefined && (BLOCKS.has(first) || first === CLUSTER >>> 24) && bytes.length - end < LARGEST_BLOCK;
  return isBegun ? end : bytes.length;
}

/** Keeps what is not sound, and those blocks that `isKept` wants by their place (from 0 to 1) in the slice. `null`: the
 * slice is not made as expected. */
export function filterBlocks(content: ArrayBuffer, isKept: (start: number, end: number) => boolean): ArrayBuffer | null {
  const bytes = new Uint8Array(content);
  const { pieces, end: last } = piecesOf(bytes);
  if (last !== bytes.length) return null;
  const count = pieces.filter(({ isBlock }) => isBlock).length;
  // All blocks of Opus have the same duration.
  let block = 0;
  const kept = pieces.filter(({ isBlock }) => {
    if (!isBlock) return true;
    block += 1;
    return isKept((block - 1) / count, block / count);
  });
  const result = new Uint8Array(kept.reduce((sum, { start, end }) => sum + end - start, 0));
  let at = 0;
  for (const { start, end } of kept) {
    result.set(bytes.subarray(start, end), at);
    at += end - start;
  }
  return result.buffer;
}
