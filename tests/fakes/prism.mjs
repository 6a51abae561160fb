// Checks requests and answers of the fake Jira against Atlassian's own document, by the libraries of prism in this process:
// what `prism proxy --errors` does, without its second HTTP server. Answers that are made in front of Jira (401 and 404 of
// the gateway, 429, faults) are not in that document and don't come here.

import { readFileSync } from 'node:fs';
import prism from '@stoplight/prism-http';

const silent = { child: () => silent, trace() {}, debug() {}, info() {}, success() {}, warn() {}, error() {}, fatal() {} };
// The upstream is never called: `forward` answers in its place.
const config = {
  isProxy: true,
  upstream: new URL('http://upstream.invalid/'),
  errors: true,
  validateRequest: true,
  validateResponse: true,
  checkSecurity: true,
  mock: { dynamic: false },
};

/** Reads the document: the operations, and which one a request is for. */
export async function readDocument(path) {
  const document = JSON.parse(readFileSync(path, 'utf8'));
  const operations = await prism.getHttpOperationsFromSpec(path);
  const routes = [];
  for (const [template, methods] of Object.entries(document.paths)) {
    for (const [method, { operationId, security }] of Object.entries(methods)) {
      if (!operationId) continue;
      const pattern = new RegExp(`^${template.replace(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`);
      const scopes = (security ?? []).flatMap((one) => one.OAuth2 ?? []);
      const anonymous = operationId === 'getServerInfo';
      routes.push({ method: method.toUpperCase(), pattern, operationId, scopes, anonymous, named: template.includes('{') });
    }
  }
  // A literal path comes before one with a parameter in the same place.
  routes.sort((one, other) => Number(one.named) - Number(other.named));
  const route = (method, path) => {
    for (const one of routes) {
      const match = one.method === method && one.pattern.exec(path);
      if (match) {
        const params = Object.entries(match.groups ?? {}).map(([name, value]) => [name, decodeURIComponent(value)]);
        return { ...one, params: Object.fromEntries(params) };
      }
    }
    return null;
  };
  return { route, check: (request, answer) => check(operations, request, answer) };
}

/**
 * Lets `answer` answer the request if the request is valid. Gives `{status, headers, body, violations}`; a violation
 * is `{side: "request" | "response", location, code, message}`. A request that is not valid is answered with 422, as
 * prism does, and an answer that is not valid is replaced by 500.
 */
async function check(operations, { method, path, query, headers, body }, answer) {
  let refused = [];
  const forward =
    ({ data, validations }) =>
    () =>
    async () => {
      refused = validations;
      if (validations.length) return { _tag: 'Left', left: { status: 422, detail: 'the request is not valid' } };
      const { status, body: content } = await answer();
      // Jira names the type of an answer without content too, and its document asks for that.
      const type = { 'content-type': 'application/json;charset=UTF-8' };
      return { _tag: 'Right', right: { statusCode: status, headers: type, body: content } };
    };
  const input = { method: method.toLowerCase(), url: { path, query: values(query) }, headers, body };
  const outcome = await prism.createInstance(config, { logger: silent, forward }).request(input, operations)();
  if (outcome._tag === 'Left') {
    const { status = 500, detail, message } = outcome.left;
    const told = refused.map((one) => violation('request', one));
    const violations = told.length
      ? told
      : [{ side: 'request', location: '', code: String(status), message: detail ?? message }];
    return problem(status, violations);
  }
  const { output, validations } = outcome.right;
  const violations = validations.output.map((one) => violation('response', one));
  if (validations.output.some((one) => one.severity === 0)) return problem(500, violations);
  return { status: output.statusCode, headers: output.headers, body: output.body, violations };
}

function problem(status, violations) {
  const body = { type: 'https://stoplight.io/prism/errors#VIOLATIONS', title: 'Not valid', status, validation: violations };
  return { status, headers: { 'content-type': 'application/problem+json' }, body, violations };
}

function violation(side, { path, code, message }) {
  return { side, location: (path ?? []).join('.'), code: String(code), message };
}

function values(query) {
  const names = [...new Set(query.keys())];
  return Object.fromEntries(names.map((name) => [name, query.getAll(name).length > 1 ? query.getAll(name) : query.get(name)]));
}
