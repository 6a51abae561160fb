// GitHub's JSON of users, repositories, issue types, milestones and issues, with every field that its OpenAPI description
// requires.

const api = (origin, path) => `${origin}${path}`;
const urls = (base, names) => Object.fromEntries(names.map((name) => [`${name}_url`, `${base}/${name}`]));

/** `kind`: `User` or `Organization`. */
export function userShape(origin, { login, id, kind = 'User', avatarUrl }) {
  const base = api(origin, `/users/${login}`);
  return {
    login,
    id,
    node_id: `U_${id}`,
    avatar_url: avatarUrl ?? `https://avatars.githubusercontent.com/u/${id}?v=4`,
    gravatar_id: '',
    url: base,
    html_url: `${origin}/${login}`,
    type: kind,
    site_admin: false,
    ...urls(base, [
      'followers',
      'following',
      'gists',
      'starred',
      'subscriptions',
      'organizations',
      'repos',
      'events',
      'received_events',
    ]),
  };
}

/** The account that a token is of. */
export function accountShape(origin, user) {
  const nothing = { name: null, company: null, blog: '', location: null, email: null, hireable: null, bio: null };
  const none = { public_repos: 0, public_gists: 0, followers: 0, following: 0 };
  return {
    ...userShape(origin, user),
    ...nothing,
    ...none,
    created_at: '2020-01-01T00:00:00Z',
    updated_at: '2026-01-01T00:00:00Z',
  };
}

const repositoryUrls = [
  'forks',
  'keys',
  'collaborators',
  'teams',
  'hooks',
  'issue_events',
  'events',
  'assignees',
  'branches',
  'tags',
  'blobs',
  'git_tags',
  'git_refs',
  'trees',
  'statuses',
  'languages',
  'stargazers',
  'contributors',
  'subscribers',
  'subscription',
  'commits',
  'git_commits',
  'comments',
  'issue_comment',
  'contents',
  'compare',
  'merges',
  'archive',
  'downloads',
  'issues',
  'pulls',
  'milestones',
  'notifications',
  'labels',
  'releases',
  'deployments',
];

export function repositoryShape(origin, repository) {
  const { id, full_name: fullName, has_issues, archived, disabled, permissions } = repository;
  const [, name] = fullName.split('/');
  const base = api(origin, `/repos/${fullName}`);
  const web = `${origin}/${fullName}`;
  const counts = Object.fromEntries(
    [
      'forks',
      'forks_count',
      'stargazers_count',
      'watchers',
      'watchers_count',
      'size',
      'open_issues',
      'open_issues_count',
      'network_count',
      'subscribers_count',
    ].map((count) => [count, 0]),
  );
  return {
    id,
    node_id: `R_${id}`,
    name,
    full_name: fullName,
    private: repository.private,
    owner: userShape(origin, repository.owner),
    html_url: web,
    description: null,
    fork: false,
    url: base,
    ...urls(base, repositoryUrls),
    git_url: `git:${web}.git`,
    ssh_url: `git@example.org:${fullName}.git`,
    clone_url: `${web}.git`,
    svn_url: web,
    homepage: null,
    mirror_url: null,
    language: null,
    default_branch: 'main',
    license: null,
    topics: [],
    ...counts,
    is_template: false,
    has_issues,
    has_projects: true,
    has_wiki: true,
    has_pages: false,
    has_downloads: true,
    has_discussions: false,
    archived,
    disabled,
    visibility: repository.private ? 'private' : 'public',
    allow_forking: true,
    web_commit_signoff_required: false,
    permissions: { admin: false, maintain: false, pull: true, ...permissions },
    pushed_at: '2026-01-01T00:00:00Z',
    created_at: '2026-01-01T00:00:00Z',
    updated_at: '2026-01-01T00:00:00Z',
  };
}

export function issueTypeShape({ id, name, is_enabled = true }) {
  const times = { created_at: '2026-01-01T00:00:00Z', updated_at: '2026-01-01T00:00:00Z' };
  return { id, node_id: `IT_${id}`, name, description: null, color: 'blue', is_enabled, ...times };
}

export function milestoneShape(origin, repository, user, { number, title }) {
  const base = api(origin, `/repos/${repository.full_name}/milestones/${number}`);
  return {
    url: base,
    html_url: `${origin}/${repository.full_name}/milestone/${number}`,
    labels_url: `${base}/labels`,
    id: repository.id * 1000 + number,
    node_id: `MI_${number}`,
    number,
    title,
    description: null,
    creator: userShape(origin, user),
    open_issues: 0,
    closed_issues: 0,
    state: 'open',
    created_at: '2026-01-01T00:00:00Z',
    updated_at: '2026-01-01T00:00:00Z',
    closed_at: null,
    due_on: null,
  };
}

export function issueShape(origin, repository, issue) {
  const base = api(origin, `/repos/${repository.full_name}/issues/${issue.number}`);
  const kind = issue.isPullRequest ? 'pull' : 'issues';
  const html = `${origin}/${repository.full_name}/${kind}/${issue.number}`;
  const label = (name, index) => ({
    id: index + 1,
    node_id: `LA_${index}`,
    url: `${base}/labels/${index}`,
    name,
    description: null,
    color: 'ededed',
    default: false,
  });
  const assignees = issue.assignees.map((user) => userShape(origin, user));
  const pull = { url: base, html_url: html, diff_url: `${html}.diff`, patch_url: `${html}.patch` };
  return {
    id: issue.id,
    node_id: `I_${issue.id}`,
    url: base,
    repository_url: api(origin, `/repos/${repository.full_name}`),
    labels_url: `${base}/labels{/name}`,
    comments_url: `${base}/comments`,
    events_url: `${base}/events`,
    html_url: html,
    number: issue.number,
    title: issue.title,
    body: issue.body,
    user: userShape(origin, issue.user),
    labels: issue.labels.map(label),
    state: issue.state,
    state_reason: issue.state === 'closed' ? 'completed' : null,
    locked: false,
    active_lock_reason: null,
    assignee: assignees[0] ?? null,
    assignees,
    comments: 0,
    author_association: 'MEMBER',
    milestone: issue.milestone ? milestoneShape(origin, repository, issue.user, issue.milestone) : null,
    type: issue.type ? issueTypeShape(issue.type) : null,
    ...(issue.isPullRequest ? { pull_request: pull } : {}),
    created_at: issue.created_at,
    updated_at: issue.updated_at,
    closed_at: issue.state === 'closed' ? issue.updated_at : null,
  };
}
