import { beforeEach, expect, test, vi } from 'vitest';
import * as api from '../../review/stakeholder/api';
import { Board } from '../../review/stakeholder/board.svelte';
import { isStakeholder, takeLink } from '../../review/stakeholder/link';
import { ReviewSession } from '../../review/stakeholder/session.svelte';
import { readAccess } from '../../review/stakeholder/storage';
import { ApiError } from '../../shared/api/error';
import { dashboard, feedback } from './fixture';

const preview = { projectName: 'Clinic portal', inviterName: 'Ada', permission: 'APPROVER', status: 'PENDING', expiresAt: '2026-12-01T00:00:00Z' } as const;
const access = (reviewToken: string) => ({ reviewToken, permission: 'APPROVER', status: 'ACTIVE', projectName: 'Clinic portal', expiresAt: '2026-12-01T00:00:00Z' }) as const;
const refusal = (status: number) => new ApiError(status, [{ code: 'Refused', field: null, message: '', reason: null }]);
const settled = () => new Promise((resolve) => setTimeout(resolve, 5));

beforeEach(() => {
  sessionStorage.clear();
  history.replaceState(null, '', '/review');
  vi.spyOn(api, 'previewInvitation').mockResolvedValue(preview);
  vi.spyOn(api, 'acceptInvitation').mockResolvedValue(access('r1'));
  vi.spyOn(api, 'readDashboard').mockResolvedValue(dashboard());
  vi.spyOn(api, 'listFeedback').mockResolvedValue([feedback()]);
});

function opened(token = 'link'): ReviewSession {
  history.replaceState(null, '', `/review#token=${token}`);
  takeLink();
  return new ReviewSession();
}

test('the token is out of the address at once, the language that the link asks for stays', () => {
  history.replaceState(null, '', '/review?lang=ar&project=p#token=secret');
  expect(isStakeholder()).toBe(true);
  expect([location.search, location.hash, readAccess()?.invitationToken]).toEqual(['?lang=ar', '', 'secret']);
  expect(localStorage.length).toBe(0);
});

test('members come with a project, and whoever comes with nothing is told about the link', async () => {
  history.replaceState(null, '', '/review?project=p');
  expect(isStakeholder()).toBe(false);
  history.replaceState(null, '', '/review');
  expect(isStakeholder()).toBe(true);
  const session = new ReviewSession();
  await session.begin();
  expect([session.view, session.ending]).toEqual(['over', 'none']);
});

test('a link is previewed, accepted and read; a reload goes on without asking again', async () => {
  const session = opened();
  await session.begin();
  expect([session.view, session.preview?.projectName]).toEqual(['invitation', 'Clinic portal']);
  await session.accept('  Grace ');
  expect(api.acceptInvitation).toHaveBeenCalledWith('link', 'Grace');
  expect([session.view, session.answered, session.canJudge]).toEqual(['reading', 1, true]);
  const again = new ReviewSession();
  await again.begin();
  expect([again.view, vi.mocked(api.readDashboard).mock.calls, vi.mocked(api.previewInvitation).mock.calls.length]).toEqual(['reading', [['r1'], ['r1']], 1]);
});

test('the same link opened once more goes on; another one counts over it', async () => {
  const session = opened();
  await session.begin();
  await session.accept('');
  opened();
  expect(readAccess()?.reviewToken).toBe('r1');
  opened('newer');
  expect(readAccess()).toEqual({ invitationToken: 'newer', reviewToken: null, inviterName: null });
});

test.each([[410, 'gone'], [404, 'unknown'], [400, 'unknown'], [0, 'failed'], [503, 'failed']] as const)('a link that is refused with %i is %s', async (status, ending) => {
  vi.mocked(api.previewInvitation).mockRejectedValue(refusal(status));
  const session = opened();
  await session.begin();
  expect([session.view, session.ending]).toEqual(['over', ending]);
  vi.mocked(api.previewInvitation).mockResolvedValue(preview);
  await session.again();
  expect(session.view).toBe('invitation');
});

test.each([['EXPIRED', 'expired'], ['REVOKED', 'revoked']] as const)('an invitation that is %s can not be accepted, and says whom to ask', async (status, ending) => {
  vi.mocked(api.previewInvitation).mockResolvedValue({ ...preview, status });
  const session = opened();
  await session.begin();
  expect([session.view, session.ending, session.inviterName]).toEqual(['over', ending, 'Ada']);
});

test('a name that is refused is for the form; an invitation that ends meanwhile is for the page', async () => {
  const session = opened();
  await session.begin();
  vi.mocked(api.acceptInvitation).mockRejectedValueOnce(new ApiError(422, [{ code: 'ValidationError', field: 'fullName', message: '', reason: 'TooLong' }]));
  await expect(session.accept('x')).rejects.toThrow(ApiError);
  expect(session.view).toBe('invitation');
  vi.mocked(api.acceptInvitation).mockRejectedValueOnce(refusal(410));
  await session.accept('x');
  expect([session.view, session.ending]).toEqual(['over', 'gone']);
});

test('a review that is revoked meanwhile is over, and its token is forgotten', async () => {
  const session = opened();
  await session.begin();
  await session.accept('');
  vi.spyOn(api, 'submitFeedback').mockRejectedValue(refusal(410));
  const [, item] = session.items;
  if (item) session.outbox?.submit(item, 'Too late.', null);
  await settled();
  expect([session.view, session.ending, session.inviterName, readAccess()?.reviewToken]).toEqual(['over', 'ended', 'Ada', null]);
});

test('a link that was opened elsewhere can be gone on with, and what was not sent is sent with the new token', async () => {
  const session = opened();
  await session.begin();
  await session.accept('');
  const submit = vi.spyOn(api, 'submitFeedback').mockRejectedValueOnce(refusal(401)).mockResolvedValue(feedback());
  const [, item] = session.items;
  if (item) session.outbox?.submit(item, 'Why?', null);
  await settled();
  expect([session.view, session.ending]).toEqual(['over', 'elsewhere']);
  vi.mocked(api.acceptInvitation).mockResolvedValue(access('r2'));
  await session.again();
  await settled();
  const [first, second] = submit.mock.calls;
  expect([session.view, first?.[0], second?.[0], first?.[2] === second?.[2]]).toEqual(['reading', 'r1', 'r2', true]);
});

test('whoever may only read sends nothing, whatever was written before', async () => {
  vi.mocked(api.readDashboard).mockResolvedValue(dashboard('VIEWER'));
  const session = opened();
  await session.begin();
  await session.accept('');
  expect([session.canComment, session.canJudge]).toEqual([false, false]);
});

test('after an answer the next item is open, also where the answered one leaves the list', async () => {
  const submit = vi.spyOn(api, 'submitFeedback').mockImplementation((_, { targetType, targetId }) => Promise.resolve(feedback({ targetType, targetId })));
  const session = opened();
  await session.begin();
  await session.accept('');
  const board = new Board(session);
  board.unanswered = true;
  expect(board.shown.map(({ code }) => code)).not.toContain('REQ-002');
  const first = board.current;
  if (first) session.outbox?.submit(first, 'Yes.', 'APPROVE');
  if (first) board.choose(first.id);
  expect(board.step(1)).toBe(true);
  await settled();
  expect([submit.mock.calls.length, board.current?.code, board.place, session.answered]).toEqual([1, 'REQ-010', 1, 2]);
});

test('an item has an address, with the link and without', async () => {
  history.replaceState(null, '', '/review#token=link&item=REQ-002');
  expect(takeLink()).toBe(true);
  expect(location.hash).toBe('#REQ-002');
  const session = new ReviewSession();
  await session.begin();
  await session.accept('');
  const board = new Board(session);
  expect(board.current?.code).toBe('REQ-002');
  board.step(1);
  expect([board.current?.code, location.hash]).toEqual(['REQ-010', '#REQ-010']);
  const criterion = session.items.find(({ targetType }) => targetType === 'ACCEPTANCE_CRITERION');
  board.choose(criterion?.id ?? '');
  expect(location.hash).toBe('#US-001/AC-001');
  expect(new Board(session).current?.id).toBe(criterion?.id);
  // Another one is typed into the address; what nobody knows is the first.
  history.replaceState(null, '', '/review#req-010');
  board.follow();
  expect(board.current?.code).toBe('REQ-010');
  history.replaceState(null, '', '/review#%');
  board.follow();
  expect(board.current?.targetType).toBe('SUMMARY');
});
