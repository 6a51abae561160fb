// A project with results, made through the interface for scenes that begin there.

const TEXT = `# Appointments

The desk must print the letter within 5 seconds after the visit.

Parents must be able to see the appointments of their children.

Parents must not see the appointments of their children.

The archive must keep the letters for ten years.

The archive must not keep the letters for ten years.

The system shall send a reminder two days before each visit by text message.

As a clerk, I want to print the labels, so that I save time.

As a nurse, I want to sort the letters, so that I save time.

As a driver, I want to see the map, so that I save time.
`;
const POLL_MS = 100;
const PATIENCE_MS = 60_000;

/** Calls of the interface as an account. */
export class Caller {
  static async as(page, { email, password }) {
    const caller = new this(page);
    const { accessToken } = await caller.call('POST', '/api/auth/login', { email, password });
    caller.token = accessToken;
    return caller;
  }

  constructor(page) {
    Object.assign(this, { page, token: null });
  }

  async send(method, path, body, headers = {}) {
    const isForm = body instanceof FormData;
    const response = await fetch(new URL(path, this.page), {
      method,
      headers: { ...(this.token && { authorization: `Bearer ${this.token}` }), ...(body && !isForm && { 'content-type': 'application/json' }), ...headers },
      body: isForm ? body : body && JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return response;
  }

  async call(...request) {
    return (await (await this.send(...request)).json()).data;
  }

  /** The answer to a GET, as soon as it is as wanted. */
  async until(path, isWanted) {
    const deadline = Date.now() + PATIENCE_MS;
    for (;;) {
      const data = await this.call('GET', path);
      if (isWanted(data)) return data;
      if (Date.now() > deadline) throw new Error(`never as wanted: ${path}`);
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  }
}

/** Makes a project with a text that was analysed: {caller, id, path, requirements, stories}. */
export async function analysedProject(page, account, name, text = TEXT) {
  const caller = await Caller.as(page, account);
  const { id } = await caller.call('POST', '/api/projects', { name });
  const path = `/api/projects/${id}`;
  await uploads(caller, path, 'appointments.md', text);
  await analyses(caller, path);
  const byCode = (one, other) => one.code.localeCompare(other.code);
  const { items: requirements } = await caller.call('GET', `${path}/requirements?limit=100`);
  const { items: stories } = await caller.call('GET', `${path}/user-stories?limit=100`);
  return { caller, id, path, requirements: requirements.sort(byCode), stories: stories.sort(byCode) };
}

export async function uploads(caller, path, name, text) {
  const form = new FormData();
  form.set('file', new Blob([text]), name);
  await caller.call('POST', `${path}/documents`, form);
  await caller.until(`${path}/documents`, ({ items }) => items.every(({ status }) => status === 'READY'));
}

export async function analyses(caller, path) {
  const { id } = await caller.call('POST', `${path}/ai/runs`, {});
  await caller.until(`${path}/ai/runs/${id}`, ({ completedAt }) => completedAt !== null);
}
