// Faults on demand: what goes wrong with the next calls of an operation, before or after it was executed.

import { setTimeout as wait } from 'node:timers/promises';
import { limited } from './jira-limits.mjs';

const KINDS = {
  timeoutBefore: [],
  timeoutAfter: [],
  dropBefore: [],
  dropAfter: [],
  truncate: [],
  partial: ['keep'],
  slow: ['ms'],
  status: ['status', 'body', 'headers', 'executes'],
  rateLimit: ['reason', 'retryAfter'],
  redirect: ['url', 'status'],
  selfUrls: ['url'],
  huge: ['bytes'],
};

/** Adds a fault to a list. */
export function addFault(faults, given) {
  const { operation, kind, count = 1, skip = 0, ...settings } = given;
  const known = KINDS[kind];
  if (!operation || !known) throw new Error(`a fault has an operation, and one of the kinds ${Object.keys(KINDS)}`);
  const stray = Object.keys(settings).find((name) => !known.includes(name));
  if (stray) throw new Error(`a fault ${kind} has no ${stray}`);
  faults.push({ operations: [operation].flat(), kind, count, skip, hits: 0, ...settings });
}

/** Takes the fault that an operation is to meet now, if there is one. */
export function takeFault(faults, operation) {
  const matches = ({ operations }) =>
    operations.some(
      (one) => one === '*' || one === operation || (one === 'search' && operation.startsWith('searchAndReconsile')),
    );
  for (const fault of faults) {
    if (!matches(fault) || (fault.count !== null && fault.hits >= fault.count)) continue;
    if (fault.skip > 0) {
      fault.skip -= 1;
      continue;
    }
    fault.hits += 1;
    return fault;
  }
  return null;
}

/** Answers with a fault or without; `execute({keep})` gives the answer of the operation, to its first `keep` elements only. */
export async function answer(fault, { request, response }, execute) {
  switch (fault?.kind) {
    case undefined:
      return send(response, await execute({}));
    case 'timeoutBefore':
      return undefined;
    case 'timeoutAfter':
      return void (await execute({}));
    case 'dropBefore':
      return void request.socket.destroy();
    case 'dropAfter':
      await execute({});
      return void request.socket.destroy();
    case 'partial':
      await execute({ keep: fault.keep ?? 1 });
      return void request.socket.destroy();
    case 'truncate':
      return truncate(response, await execute({}));
    case 'slow':
      await wait(fault.ms ?? 1000);
      return send(response, await execute({}));
    case 'status':
      return sendStatus(response, fault, execute);
    case 'rateLimit':
      return send(response, limited(fault.reason ?? 'jira-burst-based', (fault.retryAfter ?? 1) * 1000));
    case 'redirect':
      return send(response, { status: fault.status ?? 302, headers: { location: fault.url } });
    case 'huge':
      return send(response, {
        status: 200,
        headers: { 'content-type': 'application/json' },
        body: `"${'a'.repeat(fault.bytes ?? 2 ** 26)}"`,
      });
    default:
      return send(response, hostile(await execute({}), fault.url ?? 'http://169.254.169.254/latest/meta-data/'));
  }
}

/** Sends an answer; a body that is no text goes as JSON. */
export function send(response, { status, headers = {}, body }) {
  const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
  const type = typeof body === 'string' ? 'text/plain;charset=UTF-8' : 'application/json;charset=UTF-8';
  response.writeHead(status, {
    ...(text !== undefined && { 'content-type': type }),
    'atl-traceid': Date.now().toString(16),
    ...headers,
  });
  response.end(text);
}

async function sendStatus(response, { status = 503, body = 'upstream connect error', headers = {}, executes }, execute) {
  if (executes) await execute({});
  send(response, { status, headers, body });
}

function truncate(response, { status, headers, body }) {
  const text = Buffer.from(JSON.stringify(body ?? null));
  response.writeHead(status, { 'content-type': 'application/json;charset=UTF-8', ...headers, 'content-length': text.length });
  response.write(text.subarray(0, Math.floor(text.length / 2)), () => response.socket.destroy());
}

/** An answer whose addresses all lead elsewhere. */
function hostile({ body, ...rest }, url) {
  if (body === undefined) return rest;
  const turned = JSON.stringify(body, (name, value) => (typeof value === 'string' && /^https?:\/\//.test(value) ? url : value));
  return { ...rest, body: JSON.parse(turned) };
}
