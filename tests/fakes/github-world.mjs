// What an account at the GitHub of tests sees: repositories, their issues, issue types and limits. Each world is apart from all
// others, so that many tests share one process.

import { randomBytes } from 'node:crypto';

let lastId = 1000;
const nextId = () => (lastId += 1);
export const secret = (prefix) => `${prefix}_${randomBytes(18).toString('hex')}`;

/** An answer other than success. */
export class Refusal extends Error {
  constructor(status, message, { errors, headers = {} } = {}) {
    super(message);
    Object.assign(this, { status, headers });
    this.body = {
      message,
      ...(errors ? { errors } : {}),
      documentation_url: 'https://docs.github.com/rest',
      status: String(status),
    };
  }
}

export const notFound = () => new Refusal(404, 'Not Found');
const invalid = (...errors) => new Refusal(422, 'Validation Failed', { errors });
const now = () => new Date().toISOString().replace(/\.\d+Z$/, 'Z');
const length = (text) => [...text].length;

export class World {
  constructor({
    login = `user-${nextId()}`,
    repositories = [],
    issueTypes = [],
    collaborators = [],
    limits = {},
    expiring = false,
  }) {
    this.user = { login, id: nextId() };
    this.people = [this.user, ...collaborators.map((name) => ({ login: name, id: nextId() }))];
    this.issueTypes = issueTypes.map((type) => ({ id: nextId(), ...(typeof type === 'string' ? { name: type } : type) }));
    this.expiring = expiring;
    this.owners = new Map();
    this.repositories = repositories.map((given) => this.repository(given));
    this.limits = { perMinute: 20, perHour: 150, retryAfter: 60, ...limits };
    this.created = [];
    this.faults = [];
    this.counts = {};
    this.violations = [];
  }

  repository({ full_name, organization = true, milestones = [], permissions, avatarUrl, ...given }) {
    const [login] = full_name.split('/');
    if (!this.owners.has(login))
      this.owners.set(login, { login, id: nextId(), kind: organization ? 'Organization' : 'User', avatarUrl });
    return {
      id: nextId(),
      full_name,
      owner: this.owners.get(login),
      private: true,
      has_issues: true,
      archived: false,
      disabled: false,
      milestones: milestones.map((title, index) => ({ number: index + 1, title })),
      permissions: { push: true, triage: true, ...permissions },
      formerNames: [],
      issues: new Map(),
      lastNumber: 0,
      ...given,
    };
  }

  /** Finds a repository by its name; a former name leads elsewhere. */
  named(owner, name, method, rest) {
    const wanted = `${owner}/${name}`.toLowerCase();
    const found = this.repositories.find((one) => one.full_name.toLowerCase() === wanted);
    if (found) return found;
    const renamed = this.repositories.find((one) => one.formerNames.includes(wanted));
    if (!renamed) throw notFound();
    const status = method === 'GET' ? 301 : 307;
    const message = status === 301 ? 'Moved Permanently' : 'Temporary Redirect';
    throw new Refusal(status, message, { headers: { location: `ORIGIN/repositories/${renamed.id}${rest}` } });
  }

  withId(id) {
    const found = this.repositories.find((one) => one.id === Number(id));
    if (!found) throw notFound();
    return found;
  }

  issue(repository, number) {
    const issue = repository.issues.get(Number(number));
    if (!issue) throw notFound();
    if (issue.isDeleted) throw new Refusal(410, 'This issue was deleted');
    if (issue.movedTo) {
      const location = `ORIGIN/repositories/${issue.movedTo.repository}/issues/${issue.movedTo.number}`;
      throw new Refusal(301, 'Moved Permanently', { headers: { location } });
    }
    return issue;
  }

  /** Counts a creation, or refuses it: too many in a minute or an hour. */
  pace() {
    const since = (span) => this.created.filter((at) => at > Date.now() - span).length;
    const { perMinute, perHour, retryAfter, asValidation } = this.limits;
    if (since(60_000) >= perMinute || since(3_600_000) >= perHour) {
      this.count('limited');
      if (asValidation) throw invalid({ resource: 'Issue', code: 'custom', message: 'was submitted too quickly' });
      const said =
        'You have exceeded a secondary rate limit and have been temporarily blocked from content creation. Please retry your request again later.';
      throw new Refusal(403, said, { headers: retryAfter === null ? {} : { 'retry-after': String(retryAfter) } });
    }
    this.created.push(Date.now());
  }

  create(repository, given) {
    if (!repository.has_issues) throw new Refusal(410, 'Issues has been disabled in this repository.');
    if (repository.archived) throw new Refusal(403, 'Repository was archived so is read-only.');
    this.pace();
    const content = this.content(repository, given, true);
    return this.add(repository, content);
  }

  add(repository, content) {
    repository.lastNumber += 1;
    const issue = {
      id: nextId(),
      number: repository.lastNumber,
      user: this.user,
      state: 'open',
      created_at: now(),
      updated_at: now(),
      body: null,
      labels: [],
      assignees: [],
      milestone: null,
      type: null,
      ...content,
    };
    repository.issues.set(issue.number, issue);
    return issue;
  }

  change(repository, number, given) {
    const issue = this.issue(repository, number);
    if (repository.archived) throw new Refusal(403, 'Repository was archived so is read-only.');
    if (!repository.permissions.push && !repository.permissions.triage && issue.user !== this.user) {
      throw new Refusal(403, 'Must have admin rights to Repository.');
    }
    const state = ['open', 'closed'].includes(given.state) ? { state: given.state } : {};
    return Object.assign(issue, this.content(repository, given, false), state, { updated_at: now() });
  }

  /** Checks what an issue is to have. Without permission to push, labels and the like are dropped without a word. */
  content(repository, given, isNew) {
    const wrong = (field, message) => ({ resource: 'Issue', code: 'custom', field, message });
    const value = (field, unknown) => ({ value: unknown, resource: 'Issue', field, code: 'invalid' });
    const content = {};
    const errors = [];
    if (isNew || given.title !== undefined) {
      const title = String(given.title ?? '').trim();
      if (!title) errors.push({ resource: 'Issue', code: 'missing_field', field: 'title' });
      if (length(title) > 256) errors.push(wrong('title', 'title is too long (maximum is 256 characters)'));
      content.title = title;
    }
    if (given.body !== undefined) {
      if (given.body !== null && length(given.body) > 65_536)
        errors.push(wrong('body', 'body is too long (maximum is 65536 characters)'));
      content.body = given.body;
    }
    if (repository.permissions.push || repository.permissions.triage) {
      if (given.labels) {
        content.labels = given.labels.map((label) => (typeof label === 'string' ? label : label.name));
        if (content.labels.some((label) => length(label) > 50)) {
          errors.push({
            resource: 'Label',
            code: 'custom',
            field: 'name',
            message: 'name is too long (maximum is 50 characters)',
          });
        }
      }
      if (given.assignees) {
        content.assignees = this.people.filter((user) => given.assignees.includes(user.login));
        const unknown = given.assignees.filter((login) => !this.people.some((user) => user.login === login));
        if (unknown.length > 0) errors.push(value('assignees', unknown));
      }
      if (given.milestone !== undefined && given.milestone !== null) {
        content.milestone = repository.milestones.find((one) => one.number === Number(given.milestone));
        if (!content.milestone) errors.push(value('milestone', given.milestone));
      }
      if (given.type !== undefined && given.type !== null) {
        const types = repository.owner.kind === 'Organization' ? this.issueTypes : [];
        content.type = types.find((type) => type.name === given.type && type.is_enabled !== false);
        if (!content.type) errors.push(value('type', given.type));
      }
    }
    if (errors.length > 0) throw invalid(...errors);
    return content;
  }

  list(repository, { creator, state = 'open', sort = 'created', direction = 'desc', since }) {
    const kept = [...repository.issues.values()].filter(
      (issue) =>
        !issue.isDeleted &&
        !issue.movedTo &&
        (!creator || issue.user.login.toLowerCase() === creator.toLowerCase()) &&
        (state === 'all' || issue.state === state) &&
        (!since || issue.updated_at >= since),
    );
    const key = (issue) => (sort === 'updated' ? issue.updated_at : issue.created_at);
    kept.sort((one, other) => key(one).localeCompare(key(other)) || one.number - other.number);
    return direction === 'desc' ? kept.reverse() : kept;
  }

  transfer(repository, number, target) {
    const issue = this.issue(repository, number);
    const { id, number: old, ...content } = issue;
    const moved = this.add(target, content);
    issue.movedTo = { repository: target.id, number: moved.number };
    return moved;
  }

  count(operation) {
    this.counts[operation] = (this.counts[operation] ?? 0) + 1;
  }

  /** Takes the fault that the next call of an operation has, if any. */
  fault(operation) {
    const index = this.faults.findIndex((fault) => fault.on === operation);
    if (index < 0) return null;
    const fault = this.faults[index];
    if (fault.skip > 0) {
      fault.skip -= 1;
      return null;
    }
    this.faults.splice(index, 1);
    return fault;
  }
}
