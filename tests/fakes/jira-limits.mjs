// The three limits of Jira Cloud: an hourly quota of points, bursts to one operation, writes to one issue. Their headers are
// those of developer.atlassian.com/cloud/jira/platform/rate-limiting. Only the last is on from the beginning, with
// Atlassian's own numbers.

const PER_ISSUE = { short: 20, shortMs: 2000, long: 100, longMs: 30_000 };
const WRITES = ['editIssue', 'deleteIssue'];

/** Sets the limits of a site: `{quota, burst, perIssue}`, each described at the head of jira.mjs. Those not given are off. */
export function setLimits(site, { quota, burst, perIssue }) {
  const window = quota && { windowMs: 3_600_000, reason: 'jira-quota-global-based', used: 0, ...quota };
  site.limits = {
    quota: window && { ...window, resetAt: Date.now() + window.windowMs },
    burst: burst && { capacity: burst.perSecond, ...burst },
    perIssue,
  };
  site.buckets.clear();
}

/** Takes a call into account. Gives the answer 429 where a limit is reached, else `{headers}` for the answer. */
export function takeCall(site, { operation, issueId, quoted }) {
  const now = Date.now();
  const { quota, burst } = site.limits;
  if (quota && quoted) {
    if (now >= quota.resetAt) Object.assign(quota, { used: 0, resetAt: now + quota.windowMs });
    if (quota.used >= quota.points) return limited(quota.reason, quota.resetAt - now, quota.points);
    quota.used += 1;
  }
  const bucket =
    burst && (!burst.operations || burst.operations.includes(operation)) ? fill(site, operation, burst, now) : null;
  if (bucket && bucket.tokens < 1) return limited('jira-burst-based', 1000 / burst.perSecond, burst.capacity);
  if (bucket) bucket.tokens -= 1;
  if (WRITES.includes(operation) && issueId) {
    const waitMs = writeToIssue(site, issueId, now);
    if (waitMs > 0) return limited('jira-per-issue-on-write', waitMs, (site.limits.perIssue ?? PER_ISSUE).short);
  }
  const [capacity, left] = bucket ? [burst.capacity, Math.floor(bucket.tokens)] : [350, 349];
  return { headers: { 'X-RateLimit-Limit': capacity, 'X-RateLimit-Remaining': left, ...quotaHeaders(quota, quoted, now) } };
}

/** Charges what a read gave: a point for each object. */
export function chargeObjects(site, operation, body) {
  const { quota } = site.limits;
  if (!quota || !body || !/^(get|search)/.test(operation)) return;
  const list = body.issues ?? body.values ?? body.issueTypes ?? body.fields;
  quota.used += Array.isArray(list) ? list.length : 1;
}

/** The answer 429 of a limit. */
export function limited(reason, waitMs, limit = 350) {
  const seconds = Math.max(1, Math.ceil(waitMs / 1000));
  const reset = new Date(Date.now() + seconds * 1000).toISOString().replace(/\.\d+Z$/, 'Z');
  return {
    status: 429,
    headers: {
      'Retry-After': seconds,
      'X-RateLimit-Limit': limit,
      'X-RateLimit-Remaining': 0,
      'X-RateLimit-Reset': reset,
      'RateLimit-Reason': reason,
    },
    body: { errorMessages: ['Rate limit exceeded.'], errors: {} },
  };
}

function quotaHeaders(quota, quoted, now) {
  if (!quota || !quoted) return {};
  const name = quota.reason === 'jira-quota-tenant-based' ? 'tenant-app-quota' : 'global-app-quota';
  const left = Math.max(0, quota.points - quota.used);
  const near = left < quota.points / 5 ? { 'X-RateLimit-NearLimit': 'true' } : {};
  const seconds = Math.ceil((quota.resetAt - now) / 1000);
  return {
    'RateLimit-Policy': `"${name}";q=${quota.points};w=${Math.ceil(quota.windowMs / 1000)}`,
    RateLimit: `"${name}";r=${left};t=${seconds}`,
    ...near,
  };
}

function fill(site, operation, { capacity, perSecond }, now) {
  const bucket = site.buckets.get(operation) ?? { tokens: capacity, at: now };
  bucket.tokens = Math.min(capacity, bucket.tokens + ((now - bucket.at) / 1000) * perSecond);
  bucket.at = now;
  site.buckets.set(operation, bucket);
  return bucket;
}

/** Gives how long a write to an issue must wait; zero if it may go on, and then it counts. */
function writeToIssue(site, issueId, now) {
  const { short, shortMs, long, longMs } = { ...PER_ISSUE, ...site.limits.perIssue };
  const times = (site.buckets.get(issueId) ?? []).filter((time) => time > now - longMs);
  site.buckets.set(issueId, times);
  const recent = times.filter((time) => time > now - shortMs);
  if (recent.length >= short) return recent[0] + shortMs - now;
  if (times.length >= long) return times[0] + longMs - now;
  times.push(now);
  return 0;
}
