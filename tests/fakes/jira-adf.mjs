// Atlassian Document Format as the fake Jira takes it: which nodes there are, what they may hold, how long a text may be.

const INLINE = ['text', 'hardBreak', 'mention', 'emoji', 'inlineCard', 'date', 'status'];
const BLOCKS = ['paragraph', 'heading', 'bulletList', 'orderedList', 'blockquote', 'codeBlock', 'rule', 'panel', 'table'];
const CHILDREN = {
  doc: BLOCKS,
  paragraph: INLINE,
  heading: INLINE,
  bulletList: ['listItem'],
  orderedList: ['listItem'],
  listItem: ['paragraph', 'bulletList', 'orderedList', 'codeBlock'],
  blockquote: ['paragraph', 'bulletList', 'orderedList', 'codeBlock'],
  panel: ['paragraph', 'heading', 'bulletList', 'orderedList'],
  codeBlock: ['text'],
  table: ['tableRow'],
  tableRow: ['tableCell', 'tableHeader'],
  tableCell: ['paragraph', 'bulletList', 'orderedList', 'heading', 'codeBlock', 'blockquote', 'panel', 'rule'],
  tableHeader: ['paragraph', 'bulletList', 'orderedList', 'heading', 'codeBlock', 'blockquote', 'panel', 'rule'],
};
const LEAVES = ['text', 'hardBreak', 'rule', 'mention', 'emoji', 'inlineCard', 'date', 'status'];
// Nodes that are nothing without a child.
const FILLED = [
  'bulletList',
  'orderedList',
  'listItem',
  'blockquote',
  'panel',
  'table',
  'tableRow',
  'tableCell',
  'tableHeader',
];
const MARKS = ['strong', 'em', 'code', 'strike', 'underline', 'link', 'subsup', 'textColor'];
const LIMIT = 32_767;

/** What Jira says of a text that is too long. */
export const TOO_LONG = 'The entered text is too long. It exceeds the allowed limit of 32,767 characters.';

/** Gives `null` for a document that Jira takes, else `{path, reason}` of the first thing that it doesn't. */
export function flaw(document) {
  if (document === null || typeof document !== 'object' || Array.isArray(document)) return wrong('$', 'is not a document');
  if (document.type !== 'doc') return wrong('$', 'the root is not of type doc');
  if (document.version !== 1) return wrong('$', 'version is not 1');
  if (!Array.isArray(document.content)) return wrong('$', 'has no content');
  return unknownKeys(document, ['type', 'version', 'content'], '$') ?? childFlaw(document, '$');
}

/** Whether the text of a document is longer than 32,767 characters: its words, a line for each block, addresses of links. */
export const tooLong = (document) => textLength(document) > LIMIT;

/** The document as Jira gives it back: with an identity on some of its nodes. */
export function normalised(node, path = '0') {
  if (node === null || typeof node !== 'object') return node;
  const copy = { ...node };
  if (Array.isArray(node.content)) copy.content = node.content.map((child, index) => normalised(child, `${path}-${index}`));
  if (['paragraph', 'heading', 'bulletList', 'listItem'].includes(node.type))
    copy.attrs = { ...node.attrs, localId: `local-${path}` };
  return copy;
}

const wrong = (path, reason) => ({ path, reason });

function childFlaw(node, path) {
  for (const [index, child] of node.content.entries()) {
    const here = `${path}.content[${index}]`;
    if (child === null || typeof child !== 'object') return wrong(here, 'is not a node');
    if (!CHILDREN[node.type].includes(child.type)) return wrong(here, `${node.type} holds no ${child.type}`);
    const found = nodeFlaw(child, here, node.type === 'codeBlock');
    if (found) return found;
  }
  const [first] = node.content;
  if (node.type === 'listItem' && !['paragraph', 'codeBlock'].includes(first.type))
    return wrong(path, 'a listItem begins with a paragraph');
  return null;
}

function nodeFlaw(node, path, inCode) {
  const known = node.type === 'text' ? ['type', 'text', 'marks'] : ['type', 'content', 'attrs', 'marks'];
  const stray = unknownKeys(node, known, path);
  if (stray) return stray;
  if (node.attrs !== undefined && (node.attrs === null || typeof node.attrs !== 'object'))
    return wrong(path, 'attrs is no object');
  if (node.type === 'text') return textFlaw(node, path, inCode);
  if (node.marks?.length) return wrong(path, `${node.type} has no marks`);
  if (node.type === 'heading') {
    const level = node.attrs?.level;
    if (!Number.isInteger(level) || level < 1 || level > 6) return wrong(path, 'a heading has a level of 1 to 6');
  }
  if (LEAVES.includes(node.type)) return node.content ? wrong(path, `${node.type} has no content`) : null;
  if (node.content === undefined) return FILLED.includes(node.type) ? wrong(path, `${node.type} is empty`) : null;
  if (!Array.isArray(node.content)) return wrong(path, 'content is no list');
  if (FILLED.includes(node.type) && node.content.length === 0) return wrong(path, `${node.type} is empty`);
  return childFlaw(node, path);
}

function textFlaw({ text, marks = [] }, path, inCode) {
  if (typeof text !== 'string' || text === '') return wrong(path, 'a text is not empty');
  if (!inCode && /[\n\r]/.test(text)) return wrong(path, 'a text has no newline');
  if (!Array.isArray(marks)) return wrong(path, 'marks is no list');
  if (inCode && marks.length) return wrong(path, 'a codeBlock has no marks');
  for (const mark of marks) {
    if (!MARKS.includes(mark?.type)) return wrong(path, `there is no mark ${mark?.type}`);
    if (mark.type === 'link' && !/^https?:\/\/\S+$/.test(mark.attrs?.href ?? ''))
      return wrong(path, 'a link has a href of the web');
  }
  const code = marks.some((mark) => mark.type === 'code');
  if (code && marks.some((mark) => !['code', 'link'].includes(mark.type))) return wrong(path, 'code goes with a link alone');
  return new Set(marks.map((mark) => mark.type)).size === marks.length ? null : wrong(path, 'a mark is repeated');
}

function unknownKeys(node, known, path) {
  const stray = Object.keys(node).find((key) => !known.includes(key));
  return stray === undefined ? null : wrong(path, `${node.type} has no ${stray}`);
}

function textLength(node) {
  const own = (node.text ?? '').length + (node.marks ?? []).reduce((sum, mark) => sum + (mark.attrs?.href ?? '').length, 0);
  const line = INLINE.includes(node.type) && node.type !== 'hardBreak' ? 0 : 1;
  return (node.content ?? []).reduce((sum, child) => sum + textLength(child), own + line);
}
