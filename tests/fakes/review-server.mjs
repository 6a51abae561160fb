// A server that knows the review of stakeholders alone, as the interface describes it, and serves the built pages: the
// page can be looked at, and its scene played, where there is no other server. It forgets everything when it ends.
//
// usage: PAGES=web/dist [ITEMS=200] node review-server.mjs

import { randomBytes, randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { extname, join, normalize } from 'node:path';
import { json } from 'node:stream/consumers';
import { listen, tell } from './beginning.mjs';

const PAGES = process.env.PAGES;
const ITEMS = Number(process.env.ITEMS ?? 200);
const AUTHORIZATION = `Bearer ${randomBytes(16).toString('hex')}`;
const MOST_CHARACTERS = 5_000;
const TARGETS = ['SUMMARY', 'REQUIREMENT', 'USER_STORY', 'ACCEPTANCE_CRITERION', 'RISK', 'OPEN_QUESTION', 'ACTION_ITEM'];
const TYPES = { '.html': 'text/html; charset=utf-8', '.js': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml' };
const POLICY = [
  "default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self' data: blob:", "connect-src 'self'", "base-uri 'none'",
  "form-action 'none'", "frame-ancestors 'none'", "require-trusted-types-for 'script'", 'trusted-types svelte-trusted-html',
].join('; ');

const projectId = randomUUID();
const now = () => new Date().toISOString();
const dashboard = makeDashboard();
const invitations = ['APPROVER', 'COMMENTER', 'VIEWER', 'EXPIRED', 'REVOKED'].map((kind) => ({
  id: randomUUID(), token: randomBytes(32).toString('base64url'), reviewToken: null, name: null, email: `${kind.toLowerCase()}@example.org`,
  permission: kind === 'EXPIRED' || kind === 'REVOKED' ? 'APPROVER' : kind, status: kind === 'EXPIRED' || kind === 'REVOKED' ? kind : 'PENDING',
  expiresAt: new Date(Date.now() + 14 * 86_400_000).toISOString(), feedback: [], keys: new Map(),
}));

class Refused extends Error {
  constructor(status, code, message, field = null, reason = null) {
    super(message);
    Object.assign(this, { status, fault: { code, message, field, reason } });
  }
}
const gone = () => new Refused(410, 'Gone', 'It has expired or was revoked.');

/** [method, path, answer] */
const operations = [
  ['GET', /^\/api\/review-invitations\/([^/]+)$/, ([token]) => {
    const { permission, status, expiresAt } = invitationOf(token);
    return { projectName: dashboard.projectName, inviterName: 'Ada Lovelace', permission, status, expiresAt };
  }],
  ['POST', /^\/api\/review-invitations\/([^/]+)\/accept$/, ([token], { body }) => {
    const invitation = invitationOf(token);
    if (body.fullName !== undefined && (typeof body.fullName !== 'string' || body.fullName.trim() === '')) {
      throw new Refused(422, 'ValidationError', 'This must not be empty.', 'fullName', 'TooShort');
    }
    Object.assign(invitation, { status: 'ACCEPTED', reviewToken: randomBytes(32).toString('base64url'), name: body.fullName ?? invitation.name });
    const { reviewToken, permission, expiresAt } = invitation;
    return { reviewToken, permission, status: 'ACTIVE', projectName: dashboard.projectName, expiresAt };
  }],
  ['GET', /^\/api\/project-review\/dashboard$/, (_, asked) => ({ ...dashboard, permission: reviewerOf(asked).permission })],
  // In pages, as the server gives them: the cursor is the place of the first one that is left.
  ['GET', /^\/api\/project-review\/feedback$/, (_, asked) => {
    const query = new URL(asked.url, 'http://server').searchParams;
    const [from, limit] = [Number(query.get('cursor') ?? 0), Number(query.get('limit') ?? 25)];
    const all = [...reviewerOf(asked).feedback].reverse();
    const isMore = from + limit < all.length;
    return { items: all.slice(from, from + limit), nextCursor: isMore ? `${from + limit}` : null, totalCount: all.length };
  }],
  ['POST', /^\/api\/project-review\/feedback$/, (_, asked) => {
    const invitation = reviewerOf(asked);
    const key = asked.headers['idempotency-key'];
    const sent = JSON.stringify(asked.body);
    const before = invitation.keys.get(key);
    if (before && before.sent !== sent) throw new Refused(422, 'IdempotencyKeyReused', 'This Idempotency-Key was already used with a different request body.');
    if (before) return before.feedback;
    const feedback = feedbackOf(invitation, asked.body);
    invitation.feedback.push(feedback);
    if (key) invitation.keys.set(key, { sent, feedback });
    return feedback;
  }],
  ['PATCH', /^\/api\/projects\/[^/]+\/feedback\/([^/]+)$/, ([id], { headers, body }) => {
    isMember(headers);
    const feedback = invitations.flatMap((invitation) => invitation.feedback).find((one) => one.id === id);
    if (!feedback) throw new Refused(404, 'NotFound', 'Resource not found.');
    const isSettled = ['RESOLVED', 'REJECTED'].includes(body.status);
    if (feedback.status === 'OPEN' && isSettled) throw new Refused(409, 'InvalidState', 'This is not possible in the current state.');
    return Object.assign(feedback, body, body.status === 'RESOLVED' && { resolvedAt: now() });
  }],
  ['DELETE', /^\/api\/projects\/[^/]+\/review-invitations\/([^/]+)$/, ([id], { headers }) => {
    isMember(headers);
    const invitation = invitations.find((one) => one.id === id);
    if (!invitation) throw new Refused(404, 'NotFound', 'Resource not found.');
    invitation.status = 'REVOKED';
    return {};
  }],
];

function isMember({ authorization }) {
  if (authorization !== AUTHORIZATION) throw new Refused(401, 'Unauthorized', 'Sign in.');
}

function invitationOf(token) {
  const invitation = invitations.find((one) => one.token === decodeURIComponent(token));
  if (!invitation) throw new Refused(404, 'NotFound', 'Resource not found.');
  if (['EXPIRED', 'REVOKED'].includes(invitation.status)) throw gone();
  return invitation;
}

function reviewerOf({ headers }) {
  const invitation = invitations.find(({ reviewToken }) => reviewToken !== null && reviewToken === headers['x-review-token']);
  if (!invitation) throw new Refused(401, 'Unauthorized', 'The review token is missing or unknown.');
  if (invitation.status !== 'ACCEPTED') throw gone();
  return invitation;
}

function feedbackOf({ permission, name, email }, { targetType, targetId = null, comment, verdict = null }) {
  if (permission === 'VIEWER' || (verdict !== null && permission !== 'APPROVER')) throw new Refused(403, 'Forbidden', 'You are not allowed to do this.');
  if (!TARGETS.includes(targetType)) throw new Refused(422, 'ValidationError', 'This is not one of the values.', 'targetType', 'InvalidValue');
  const characters = typeof comment === 'string' ? [...comment].length : 0;
  if (characters < 1 || characters > MOST_CHARACTERS) throw new Refused(422, 'ValidationError', '1 to 5000 characters.', 'comment', characters < 1 ? 'TooShort' : 'TooLong');
  const target = targetType === 'SUMMARY' ? null : codes.get(`${targetType}:${targetId}`);
  if (target === undefined) throw new Refused(404, 'NotFound', 'Resource not found.');
  return {
    id: randomUUID(), projectId, targetType, targetId, targetCode: target, comment, verdict, status: 'OPEN', isRead: false, resolutionNote: null,
    author: { name: name ?? email, email }, createdAt: now(), resolvedAt: null,
  };
}

const envelope = (statusCode, data, fault) =>
  JSON.stringify({ isSuccess: !fault, data, message: fault?.message ?? 'OK.', statusCode, errors: fault ? [fault] : [] });

async function answer(request, response) {
  const { pathname } = new URL(request.url, 'http://server');
  const operation = operations.find(([method, path]) => method === request.method && path.test(pathname));
  response.setHeader('content-type', 'application/json');
  response.setHeader('cache-control', 'no-store');
  try {
    if (!operation) throw new Refused(404, 'NotFound', 'Resource not found.');
    const body = request.method === 'GET' || request.method === 'DELETE' ? {} : await json(request);
    const data = operation[2](pathname.match(operation[1]).slice(1), { headers: request.headers, body, url: request.url });
    const status = request.method === 'POST' && pathname.endsWith('/feedback') ? 201 : 200;
    response.writeHead(status).end(envelope(status, data));
  } catch (refused) {
    if (!(refused instanceof Refused)) throw refused;
    response.writeHead(refused.status).end(envelope(refused.status, null, refused.fault));
  }
}

async function serve(request, response) {
  const { pathname } = new URL(request.url, 'http://server');
  const path = pathname === '/review' ? '/review/index.html' : normalize(pathname);
  const content = await readFile(join(PAGES, path)).catch(() => null);
  if (!content) return void response.writeHead(404).end();
  response.writeHead(200, {
    'content-type': TYPES[extname(path)] ?? 'application/octet-stream', 'cache-control': 'no-store', 'content-security-policy': POLICY,
    'referrer-policy': 'no-referrer',
  });
  response.end(path.endsWith('.html') ? content.toString().replaceAll('../assets/', '/assets/') : content);
}

/** As many requirements, stories, criteria, risks, questions and actions as make ITEMS with the summary. */
function makeDashboard() {
  const things = ['a booked slot', 'a waiting list', 'a referral letter', 'an insurance card', 'a lab result', 'a reminder', 'a prescription', 'a cancelled visit'];
  const who = ['The reception desk', 'A patient', 'The practice manager', 'A doctor', 'The billing office'];
  const deeds = ['shall be able to find', 'must be able to correct', 'has to be told of', 'shall be able to print'];
  const item = (kind, index) => ({ id: randomUUID(), code: `${kind}-${String(index + 1).padStart(3, '0')}`, createdAt: now(), updatedAt: now() });
  const reviewed = { workflowStatus: 'NEEDS_REVIEW', qualityIssues: [], version: 1, revisionSource: 'AI_GENERATED', suspect: false, runId: randomUUID() };
  const sentence = (index) => `${who[index % who.length]} ${deeds[index % deeds.length]} ${things[index % things.length]} within ${2 + (index % 9)} seconds.`;
  const quote = (index) => {
    const isSpoken = index % 3 === 1;
    return {
      quote: isSpoken ? `we really need ${things[index % things.length]} to turn up in a couple of seconds, not minutes` : sentence(index),
      sourceName: isSpoken ? 'Discovery with the clinic' : 'call-for-tenders.pdf', page: isSpoken ? null : 1 + (index % 14), section: isSpoken ? null : `${1 + (index % 6)}. Booking › Front desk`,
      startMs: isSpoken ? 61_000 * (index % 40) : null, speaker: null,
      before: isSpoken ? ' know how it is on a Monday morning with the whole corridor full. So, honestly, ' : 'The front desk is open from seven to six and sees about two hundred people a day. ',
      after: isSpoken ? ', because the phone rings the whole time while we look for it.' : ' Paper forms are kept for cases in which the network is not there.',
    };
  };
  const number = Math.max(1, ITEMS - 1);
  const counts = { stories: Math.floor(number / 6), risks: Math.floor(number / 30), questions: Math.floor(number / 25), actions: Math.floor(number / 40) };
  const requirements = Array.from({ length: number - 2 * counts.stories - counts.risks - counts.questions - counts.actions }, (_, index) => ({
    ...item('REQ', index), ...reviewed, type: ['FUNCTIONAL', 'NON_FUNCTIONAL', 'BUSINESS', 'CONSTRAINT'][index % 4],
    category: index % 4 === 1 ? 'PERFORMANCE_EFFICIENCY' : null, title: `Find ${things[index % things.length]}`, statement: sentence(index),
    priority: ['HIGH', 'MEDIUM', 'CRITICAL', 'LOW', 'UNKNOWN'][index % 5], confidence: 0.9, pattern: null, duplicateOf: null, conflictsWith: [],
    quotes: index % 7 === 6 ? [quote(index), quote(index + 1)] : [quote(index)],
  }));
  requirements[2].statement = 'يجب أن تتمكن موظفة الاستقبال من العثور على موعد محجوز خلال خمس ثوانٍ.';
  const userStories = Array.from({ length: counts.stories }, (_, index) => ({
    ...item('US', index), ...reviewed, requirementIds: [requirements[index % requirements.length].id], title: `Find ${things[index % things.length]}`,
    role: 'receptionist', goal: `find ${things[index % things.length]}`, benefit: null, description: `As a receptionist, I want to find ${things[index % things.length]}, so that the queue moves on.`,
    priority: 'HIGH', qualityScore: 0.9, trackerIssue: null, quotes: [quote(index)],
    acceptanceCriteria: [{ ...item('AC', index), text: `The result is shown within ${2 + (index % 9)} seconds.`, given: 'a list of two hundred visits', when: 'the first letters of a name are typed', then: `the result is shown within ${2 + (index % 9)} seconds` }],
  }));
  const risks = Array.from({ length: counts.risks }, (_, index) => ({
    ...item('RISK', index), title: `The interface to ${things[index % things.length]} is late`, description: 'The supplier named no day for it, and three other parts wait.', severity: 'HIGH', likelihood: 'MEDIUM', mitigation: 'Agree on a day in the contract.', quotes: [quote(index)],
  }));
  const openQuestions = Array.from({ length: counts.questions }, (_, index) => ({
    ...item('Q', index), question: `Who may see ${things[index % things.length]}?`, why: 'It decides how the access rights are cut.', quotes: [quote(index)],
  }));
  const actionItems = Array.from({ length: counts.actions }, (_, index) => ({ ...item('ACT', index), text: `Ask the hospital about ${things[index % things.length]}.`, dueDate: '2026-12-01', quotes: [] }));
  return {
    projectId, projectName: 'Clinic portal', runId: reviewed.runId, generatedAt: now(),
    summary: { text: 'The clinic wants patients to book, move and cancel visits by themselves, and the front desk to see it all in one list.\nThe old system stays until spring.', keyDecisions: ['Bookings are confirmed by text message.'], scope: ['Booking, waiting list, reminders'], outOfScope: ['Billing'], assumptions: ['Each patient has a phone number.'] },
    requirements, userStories, risks, openQuestions, actionItems, decisions: [], metrics: {}, quality: {},
  };
}

const codes = new Map([
  ...dashboard.requirements.map(({ id, code }) => [`REQUIREMENT:${id}`, code]), ...dashboard.userStories.map(({ id, code }) => [`USER_STORY:${id}`, code]),
  ...dashboard.userStories.flatMap(({ acceptanceCriteria }) => acceptanceCriteria.map(({ id, code }) => [`ACCEPTANCE_CRITERION:${id}`, code])),
  ...dashboard.risks.map(({ id, code }) => [`RISK:${id}`, code]), ...dashboard.openQuestions.map(({ id, code }) => [`OPEN_QUESTION:${id}`, code]),
  ...dashboard.actionItems.map(({ id, code }) => [`ACTION_ITEM:${id}`, code]),
]);

const server = createServer((request, response) => {
  const done = request.url.startsWith('/api/') ? answer(request, response) : serve(request, response);
  done.catch((error) => { console.error(error); response.writeHead(500).end(); });
});
const port = await listen(server);
const page = `http://127.0.0.1:${port}/review`;
const known = invitations.map((invitation, index) => [['approver', 'commenter', 'viewer', 'expired', 'revoked'][index], {
  link: `${page}#token=${invitation.token}`, revoke: `http://127.0.0.1:${port}/api/projects/${projectId}/review-invitations/${invitation.id}`,
}]);
tell({ port, ...Object.fromEntries(known), feedback: `http://127.0.0.1:${port}/api/projects/${projectId}/feedback`, authorization: AUTHORIZATION });
