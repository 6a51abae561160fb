// Fields of issues: how they are described (create metadata), and what Jira says of values that it does not take.

import { TOO_LONG, flaw, normalised, tooLong } from './jira-adf.mjs';

const CUSTOM = 'com.atlassian.jira.plugin.system.customfieldtypes:';
const KINDS = {
  text: { type: 'string', custom: `${CUSTOM}textfield` },
  textarea: { type: 'string', custom: `${CUSTOM}textarea` },
  url: { type: 'string', custom: `${CUSTOM}url` },
  number: { type: 'number', custom: `${CUSTOM}float` },
  date: { type: 'date', custom: `${CUSTOM}datepicker` },
  datetime: { type: 'datetime', custom: `${CUSTOM}datetime` },
  select: { type: 'option', custom: `${CUSTOM}select` },
  radio: { type: 'option', custom: `${CUSTOM}radiobuttons` },
  multiselect: { type: 'array', items: 'option', custom: `${CUSTOM}multiselect` },
  checkboxes: { type: 'array', items: 'option', custom: `${CUSTOM}multicheckboxes` },
  cascade: { type: 'option-with-child', custom: `${CUSTOM}cascadingselect` },
  labels: { type: 'array', items: 'string', custom: `${CUSTOM}labels` },
  user: { type: 'user', custom: `${CUSTOM}userpicker` },
  epicName: { type: 'string', custom: 'com.pyxis.greenhopper.jira:gh-epic-label' },
};
const system = (type, name, items) => ({ type, ...(items && { items }), system: name });
const PRIORITIES = ['Highest', 'High', 'Medium', 'Low', 'Lowest'].map((name, index) => ({ id: String(index + 1), name }));

/**
 * Describes a field of a create screen. `given` is Jira's own form (`fieldId`, `name`, `schema`, …), or has `kind` (a key
 * of KINDS) in place of `schema` and `options`: `["Red"]`, `[{id, value}]`, for cascades with `children` of the same form.
 */
export function describeField(given, number) {
  const {
    fieldId = `customfield_${11000 + number}`,
    name,
    kind,
    required = false,
    options,
    hasDefaultValue = false,
    defaultValue,
  } = given;
  const schema = given.schema ?? { ...KINDS[kind], customId: Number(fieldId.split('_')[1]) };
  if (!schema.type) throw new Error(`a field has a schema, or one of the kinds ${Object.keys(KINDS)}`);
  const values =
    given.allowedValues ?? (options && options.map((one, index) => describeOption(one, `${number}${index + 1}00`)));
  return {
    required,
    schema,
    name,
    key: fieldId,
    fieldId,
    hasDefaultValue,
    operations: schema.type === 'array' ? ['add', 'set', 'remove'] : ['set'],
    ...(values && { allowedValues: values }),
    ...(defaultValue !== undefined && { defaultValue }),
  };
}

function describeOption(given, id) {
  const option = typeof given === 'string' ? { value: given } : given;
  const children = option.children?.map((child, index) => describeOption(child, `${id}${index + 1}`));
  return { id, ...option, ...(children && { children }) };
}

/** The fields that every create screen has. `off` names those that are not on this one. */
export function usualFields(type, projects, off = []) {
  const field = (fieldId, name, schema, more = {}) => ({
    required: false,
    schema,
    name,
    key: fieldId,
    fieldId,
    hasDefaultValue: false,
    operations: ['set'],
    ...more,
  });
  const fields = [
    field('project', 'Project', system('project', 'project'), {
      required: true,
      allowedValues: projects.map(({ id, key, name }) => ({ id, key, name })),
    }),
    field('issuetype', 'Issue Type', system('issuetype', 'issuetype'), {
      required: true,
      allowedValues: [{ id: type.id, name: type.name, subtask: type.subtask }],
    }),
    field('summary', 'Summary', system('string', 'summary'), { required: true }),
    field('description', 'Description', system('string', 'description')),
    field('labels', 'Labels', system('array', 'labels', 'string'), { operations: ['add', 'set', 'remove'] }),
    field('priority', 'Priority', system('priority', 'priority'), {
      hasDefaultValue: true,
      defaultValue: PRIORITIES[2],
      allowedValues: PRIORITIES,
    }),
    field('reporter', 'Reporter', system('user', 'reporter'), { required: true, hasDefaultValue: true }),
    field('assignee', 'Assignee', system('user', 'assignee')),
    field('duedate', 'Due date', system('date', 'duedate')),
    field('parent', 'Parent', system('issuelink', 'parent'), { required: type.subtask }),
  ];
  return fields.filter(({ fieldId }) => !off.includes(fieldId));
}

/**
 * Checks the values of fields against a screen. Gives `{errors, values, flaws}`: errors by field in Jira's words, the
 * values as they are kept, and what is wrong with documents in detail. With `whole` required fields must be there.
 */
export function checkFields(given, screen, { whole, site }) {
  const errors = {};
  const values = {};
  const flaws = [];
  for (const [fieldId, value] of Object.entries(given)) {
    const field = screen.find((one) => one.fieldId === fieldId);
    if (!field) {
      errors[fieldId] = `Field '${fieldId}' cannot be set. It is not on the appropriate screen, or unknown.`;
      continue;
    }
    if (value === null) {
      values[fieldId] = null;
      continue;
    }
    const { error, kept, detail } = checkValue(field, value, site);
    if (error) errors[fieldId] = error;
    else values[fieldId] = kept;
    if (detail) flaws.push(`${fieldId}: ${detail.path} ${detail.reason}`);
  }
  for (const field of screen) {
    const { fieldId, name, required, hasDefaultValue, defaultValue } = field;
    const missing =
      values[fieldId] === null || values[fieldId] === '' || (Array.isArray(values[fieldId]) && !values[fieldId].length);
    const absent = whole ? !(fieldId in values) || missing : fieldId in values && missing;
    if (!absent || errors[fieldId]) continue;
    if (whole && hasDefaultValue && !(fieldId in values)) {
      if (defaultValue !== undefined) values[fieldId] = defaultValue;
    } else if (required) errors[fieldId] = absenceOf(fieldId, name);
  }
  return { errors, values, flaws };
}

function absenceOf(fieldId, name) {
  if (fieldId === 'summary') return 'You must specify a summary of the issue.';
  if (fieldId === 'parent') return 'Issue type is a sub-task but parent issue key or id not specified.';
  return `${name} is required.`;
}

const refuse = (error, detail) => ({ error, detail });
const keep = (kept) => ({ kept });

function checkValue(field, value, site) {
  const { fieldId, schema, allowedValues = [], name } = field;
  if (fieldId === 'description' || schema.custom === KINDS.textarea.custom) return checkDocument(value);
  switch (schema.type) {
    case 'string':
      return checkString(fieldId, schema, value);
    case 'number':
      return typeof value === 'number' ? keep(value) : refuse('Operation value must be a number');
    case 'date':
      return isDate(value) ? keep(value) : refuse(`Error parsing date string: ${value}`);
    case 'datetime':
      return typeof value === 'string' && !Number.isNaN(Date.parse(value))
        ? keep(value)
        : refuse(`Error parsing time: ${value}`);
    case 'array':
      return checkList(schema, allowedValues, value);
    case 'option':
      return checkOption(allowedValues, value);
    case 'option-with-child':
      return checkCascade(allowedValues, value);
    case 'priority':
      return chosen(allowedValues, value, 'name') ?? refuse('The priority selected is invalid.');
    case 'user':
      return checkUser(site, value, name);
    case 'issuelink':
      return checkParent(site, value);
    case 'project':
    case 'issuetype':
      return keep(value);
    default:
      return allowedValues.length ? (chosen(allowedValues, value, 'name') ?? refuse(`${name} is not valid`)) : keep(value);
  }
}

function checkDocument(value) {
  if (typeof value !== 'object' || value.type !== 'doc') {
    return refuse('Operation value must be an Atlassian Document (see the Atlassian Document Format)', {
      path: '$',
      reason: 'is not a document',
    });
  }
  const detail = flaw(value);
  if (detail) return refuse('INVALID_INPUT', detail);
  return tooLong(value) ? refuse(TOO_LONG) : keep(normalised(value));
}

function checkString(fieldId, schema, value) {
  if (typeof value !== 'string') return refuse('Operation value must be a string');
  if (fieldId === 'summary') {
    if (/[\n\r]/.test(value)) return refuse('The summary is invalid because it contains newline characters.');
    if (value.length > 255) return refuse('Summary must be less than 255 characters.');
    return keep(value.trim());
  }
  if (schema.custom === KINDS.url.custom && !/^https?:\/\/\S+$/.test(value)) return refuse('URL is not valid.');
  return value.length > 255
    ? refuse('The entered text is too long. It exceeds the allowed limit of 255 characters.')
    : keep(value);
}

function checkList(schema, allowed, value) {
  if (!Array.isArray(value)) return refuse('Specify the value in an array');
  if (schema.items === 'option' || allowed.length) {
    const checked = value.map((one) => checkOption(allowed, one));
    return checked.find((one) => one.error) ?? keep(checked.map((one) => one.kept));
  }
  for (const word of value) {
    if (typeof word !== 'string') return refuse('Operation value must be a string');
    if (/\s/.test(word)) return refuse(`The label '${word}' contains spaces which is invalid.`);
    if (word.length > 255) return refuse(`The label '${word}' exceeds the maximum length of 255 characters.`);
  }
  return keep([...new Set(value)]);
}

function chosen(allowed, value, word) {
  if (value === null || typeof value !== 'object') return null;
  const found = allowed.find((one) => (value.id !== undefined ? one.id === String(value.id) : one[word] === value[word]));
  if (!found) return null;
  const { children, ...kept } = found;
  return keep(kept);
}

function checkOption(allowed, value) {
  const word = allowed.some((one) => 'value' in one) ? 'value' : 'name';
  return chosen(allowed, value, word) ?? refuse(`Option id '${value?.id ?? value?.[word] ?? value}' is not valid`);
}

function checkCascade(allowed, value) {
  const parent = chosen(allowed, value, 'value');
  if (!parent) return refuse("Could not find valid 'id' or 'value' in the Parent Option object.");
  if (value.child === undefined) return parent;
  const { children = [] } = allowed.find((one) => one.id === parent.kept.id);
  const child = chosen(children, value.child, 'value');
  if (!child)
    return refuse(
      `The option '${value.child?.id ?? value.child?.value}' is not a child of the parent option '${parent.kept.id}'.`,
    );
  return keep({ ...parent.kept, child: child.kept });
}

function checkUser(site, value, name) {
  const account = site.accounts().find((one) => one.id === (value.accountId ?? value.id));
  return account ? keep({ accountId: account.id, displayName: account.name }) : refuse(`Specify a valid value for ${name}`);
}

function checkParent(site, value) {
  const parent = site.find(value.id ?? value.key ?? '');
  return parent ? keep({ id: parent.id, key: parent.key }) : refuse('Could not find issue by id or key.');
}

function isDate(value) {
  return typeof value === 'string' && /^\d{4}-\d\d-\d\d$/.test(value) && !Number.isNaN(Date.parse(value));
}
