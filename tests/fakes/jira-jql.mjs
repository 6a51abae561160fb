// JQL as far as it is needed: conditions joined by AND, and an order. Anything else is refused as Jira refuses what it can't
// parse, so that a query of ours that this file doesn't know fails a test.

const WORD = /\s*(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|(>=|<=|!=|!~|=|~|>|<|\(|\)|,)|([^\s"'=<>!~(),]+))/y;
const UNITS = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };
const FIELDS = {
  id: 'id',
  key: 'id',
  issue: 'id',
  issuekey: 'id',
  project: 'project',
  creator: 'creator',
  reporter: 'creator',
  created: 'created',
  createddate: 'created',
  updated: 'updated',
  updateddate: 'updated',
  issuetype: 'issuetype',
  type: 'issuetype',
  labels: 'labels',
  summary: 'summary',
  status: 'status',
  statuscategory: 'statusCategory',
};
const OPERATORS = {
  id: ['=', '!=', 'in', 'not in', '>', '>=', '<', '<='],
  project: ['=', '!=', 'in', 'not in'],
  creator: ['=', '!=', 'in', 'not in'],
  created: ['>', '>=', '<', '<=', '='],
  updated: ['>', '>=', '<', '<=', '='],
  issuetype: ['=', '!=', 'in', 'not in'],
  labels: ['=', '!=', 'in', 'not in'],
  summary: ['~', '!~'],
  status: ['=', '!=', 'in', 'not in'],
  statusCategory: ['=', '!=', 'in', 'not in'],
};

/** What a query is refused with; `message` is in Jira's words. */
export class JqlError extends Error {}

/** Gives `{conditions: [{field, operator, values}], order: [{field, descending}]}`. */
export function parse(text) {
  const words = split(text);
  let at = 0;
  const peek = (offset = 0) => words[at + offset]?.text.toLowerCase();
  const next = () => words[at++] ?? fail(text, 'the query ends too early');
  const conditions = [];
  const order = [];
  while (at < words.length && peek() !== 'order') {
    if (conditions.length) {
      if (peek() !== 'and') fail(text, `expecting 'AND' but got '${peek()}'`);
      at += 1;
    }
    conditions.push(condition(text, peek, next));
  }
  if (at < words.length) {
    at += 1;
    if (next().text.toLowerCase() !== 'by') fail(text, "expecting 'BY'");
    do {
      const field = FIELDS[next().text.toLowerCase()] ?? fail(text, 'not able to sort by this field');
      const descending = peek() === 'desc';
      if (['asc', 'desc'].includes(peek())) at += 1;
      order.push({ field, descending });
    } while (peek() === ',' && ++at);
    if (at < words.length) fail(text, `unexpected '${peek()}'`);
  }
  return { conditions, order };
}

function condition(text, peek, next) {
  const name = next().text;
  const field = FIELDS[name.toLowerCase()];
  if (!field) throw new JqlError(`Field '${name}' does not exist or you do not have permission to view it.`);
  let operator = next().text.toLowerCase();
  if (operator === 'not') operator = `not ${next().text.toLowerCase()}`;
  if (!OPERATORS[field].includes(operator))
    throw new JqlError(`The operator '${operator}' is not supported by the '${name}' field.`);
  const values = [];
  if (operator.endsWith('in')) {
    if (next().text !== '(') fail(text, "expecting '('");
    do values.push(value(peek, next));
    while (next().text === ',');
  } else {
    values.push(value(peek, next));
  }
  return { field, operator, values };
}

function value(peek, next) {
  const word = next();
  if (peek() !== '(') return word.text;
  next();
  if (next().text !== ')' || word.text.toLowerCase() !== 'currentuser')
    throw new JqlError(`Unable to find JQL function '${word.text}'.`);
  return { currentUser: true };
}

function split(text) {
  const words = [];
  WORD.lastIndex = 0;
  const end = text.trimEnd().length;
  while (WORD.lastIndex < end) {
    const match = WORD.exec(text);
    if (!match) fail(text, 'unexpected character');
    words.push({ text: (match[1] ?? match[2])?.replace(/\\(.)/g, '$1') ?? match[3] ?? match[4] });
  }
  return words;
}

function fail(text, reason) {
  throw new JqlError(`Error in the JQL Query: ${reason}. (${text})`);
}

/** The issues of a site that a query selects, in its order; those in `reconciled` are seen as they are now. */
export function select(site, account, query, reconciled) {
  const { conditions, order } = query;
  if (!conditions.length)
    throw new JqlError('Unbounded JQL queries are not allowed here. Please add a search restriction to your query.');
  const tests = conditions.map((one) => test(site, account, one));
  const found = site.indexed(reconciled).filter((issue) => tests.every((holds) => holds(issue)));
  const keys = order.length ? order : [{ field: 'created', descending: true }];
  return found.sort((one, other) => {
    for (const { field, descending } of keys) {
      const compared = rank(site, one, field) - rank(site, other, field);
      if (compared) return descending ? -compared : compared;
    }
    return Number(other.id) - Number(one.id);
  });
}

const rank = (site, issue, field) => (['created', 'updated'].includes(field) ? issue[field] : Number(issue.id));

function test(site, account, { field, operator, values }) {
  if (field === 'created' || field === 'updated') {
    const bound = time(values[0], field);
    return (issue) => compares(issue[field], operator, bound);
  }
  if (field === 'id' && !['=', '!=', 'in', 'not in'].includes(operator)) {
    return (issue) => compares(Number(issue.id), operator, Number(values[0]));
  }
  if (field === 'summary') {
    const word = values[0].toLowerCase();
    return (issue) => issue.values.summary.toLowerCase().includes(word) === (operator === '~');
  }
  const wanted = new Set(values.flatMap((one) => meant(site, account, field, one)));
  const positive = operator === '=' || operator === 'in';
  return (issue) => has(site, issue, field).some((one) => wanted.has(one)) === positive;
}

function compares(one, operator, other) {
  switch (operator) {
    case '>':
      return one > other;
    case '>=':
      return one >= other;
    case '<':
      return one < other;
    case '<=':
      return one <= other;
    default:
      return one === other;
  }
}

/** `-30m`, `-1h`, or a date with or without a time. */
function time(text, field) {
  const relative = /^([+-]?)(\d+)([mhdw])$/.exec(text);
  if (relative) return Date.now() + (relative[1] === '-' ? -1 : 1) * Number(relative[2]) * UNITS[relative[3]];
  const absolute = /^(\d{4})[-/](\d\d)[-/](\d\d)(?: (\d\d):(\d\d))?$/.exec(text);
  if (absolute) {
    const [, year, month, day, hour = 0, minute = 0] = absolute;
    return Date.UTC(year, month - 1, day, hour, minute);
  }
  throw new JqlError(
    `Date value '${text}' for field '${field}' is invalid. Valid formats include: 'yyyy/MM/dd HH:mm', 'yyyy-MM-dd HH:mm', 'yyyy/MM/dd', 'yyyy-MM-dd', or a period format e.g. '-5d', '4w 2d'.`,
  );
}

function meant(site, account, field, value) {
  if (value.currentUser) return account ? [account.id] : [];
  switch (field) {
    case 'id': {
      const issue = site.find(value);
      if (issue) return [issue.id];
      if (site.unknownIds === 'refuse') throw new JqlError(`An issue with key '${value}' does not exist for field 'id'.`);
      return [value];
    }
    case 'project': {
      const project = site.project(value) ?? site.projects.find(({ name }) => name.toLowerCase() === value.toLowerCase());
      if (!project) throw new JqlError(`The value '${value}' does not exist for the field 'project'.`);
      return [project.id];
    }
    case 'issuetype': {
      const type = site.types.find(({ id, name }) => id === value || name.toLowerCase() === value.toLowerCase());
      if (!type) throw new JqlError(`The value '${value}' does not exist for the field 'issuetype'.`);
      return [type.id];
    }
    default:
      return [value.toLowerCase()];
  }
}

function has(site, issue, field) {
  switch (field) {
    case 'id':
      return [issue.id];
    case 'project':
      return [issue.projectId];
    case 'creator':
      return [issue.creator.id];
    case 'issuetype':
      return [issue.typeId];
    case 'labels':
      return (issue.values.labels ?? []).map((one) => one.toLowerCase());
    default: {
      const { status } = site.fieldsOf(issue);
      const one = field === 'status' ? status : status.statusCategory;
      return [String(one.id), one.name.toLowerCase(), (one.key ?? '').toLowerCase()];
    }
  }
}
