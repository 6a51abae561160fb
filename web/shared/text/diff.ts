// What changed between two texts, word by word.

export interface Piece { kind: 'same' | 'removed' | 'added'; text: string }

/** More differing words than this are not looked at one by one: the texts have little in common. */
const MOST_CHANGES = 1_500;

const wordsOf = (text: string): string[] => text.match(/\s+|[\p{L}\p{N}\p{M}_]+|[^\s\p{L}\p{N}\p{M}_]/gu) ?? [];
const isBlank = (text: string): boolean => text.trim() === '';

/** The pieces of both texts in order: `same` and `removed` make up `before`, `same` and `added` make up `after`. */
export function diffWords(before: string, after: string): Piece[] {
  const [old, young] = [wordsOf(before), wordsOf(after)];
  let start = 0;
  while (start < old.length && start < young.length && old[start] === young[start]) start += 1;
  let end = 0;
  while (end < old.length - start && end < young.length - start && old.at(-1 - end) === young.at(-1 - end)) end += 1;
  const middle = compare(old.slice(start, old.length - end), young.slice(start, young.length - end));
  const same = (words: string[]): Piece => ({ kind: 'same', text: words.join('') });
  return joined(readable([same(old.slice(0, start)), ...middle, same(old.slice(old.length - end))]));
}

/** Myers' algorithm: the shortest way from one list of words to the other. */
function compare(old: readonly string[], young: readonly string[]): Piece[] {
  const most = Math.min(old.length + young.length, MOST_CHANGES);
  /** For each diagonal, how far in `old` the furthest path came; one copy for each number of changes. */
  const furthest: Map<number, number>[] = [];
  let reached = new Map([[1, 0]]);
  for (let changes = 0; changes <= most; changes++) {
    furthest.push(new Map(reached));
    for (let diagonal = -changes; diagonal <= changes; diagonal += 2) {
      const [below, above] = [reached.get(diagonal - 1) ?? -1, reached.get(diagonal + 1) ?? -1];
      let at = diagonal === -changes || (diagonal !== changes && below < above) ? above : below + 1;
      while (at < old.length && at - diagonal < young.length && old[at] === young[at - diagonal]) at += 1;
      reached.set(diagonal, at);
      if (at >= old.length && at - diagonal >= young.length) return traced(old, young, furthest);
    }
    reached = new Map(reached);
  }
  return [{ kind: 'removed', text: old.join('') }, { kind: 'added', text: young.join('') }];
}

function traced(old: readonly string[], young: readonly string[], furthest: readonly Map<number, number>[]): Piece[] {
  const pieces: Piece[] = [];
  let [at, other] = [old.length, young.length];
  for (let changes = furthest.length - 1; changes >= 0; changes--) {
    const reached = furthest[changes] ?? new Map<number, number>();
    const diagonal = at - other;
    const [below, above] = [reached.get(diagonal - 1) ?? -1, reached.get(diagonal + 1) ?? -1];
    const from = diagonal === -changes || (diagonal !== changes && below < above) ? diagonal + 1 : diagonal - 1;
    const wasAt = reached.get(from) ?? 0;
    const wasOther = wasAt - from;
    while (at > wasAt && other > wasOther && at > 0 && other > 0) {
      at -= 1;
      other -= 1;
      pieces.push({ kind: 'same', text: old[at] ?? '' });
    }
    if (changes === 0) break;
    if (at > wasAt) pieces.push({ kind: 'removed', text: old[wasAt] ?? '' });
    else pieces.push({ kind: 'added', text: young[wasOther] ?? '' });
    [at, other] = [wasAt, wasOther];
  }
  return pieces.reverse();
}

/** A blank between two changed words is changed with them: words stay together. */
function readable(pieces: readonly Piece[]): Piece[] {
  return pieces.filter(({ text }) => text !== '').flatMap((piece, index, all): Piece[] => {
    const [former, next] = [all[index - 1], all[index + 1]];
    const isBetween = piece.kind === 'same' && isBlank(piece.text) && former && next && former.kind !== 'same' && next.kind !== 'same';
    return isBetween ? [{ kind: 'removed', text: piece.text }, { kind: 'added', text: piece.text }] : [piece];
  });
}

/** Between two pieces that stayed, all that went comes before all that came. */
function joined(pieces: readonly Piece[]): Piece[] {
  const all: Piece[] = [];
  let [removed, added] = ['', ''];
  const flush = (): void => {
    if (removed) all.push({ kind: 'removed', text: removed });
    if (added) all.push({ kind: 'added', text: added });
    [removed, added] = ['', ''];
  };
  for (const { kind, text } of pieces) {
    if (kind === 'removed') removed += text;
    else if (kind === 'added') added += text;
    else {
      flush();
      const last = all.at(-1);
      if (last?.kind === 'same') last.text += text;
      else all.push({ kind, text });
    }
  }
  flush();
  return all;
}
