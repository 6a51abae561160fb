// A transcript that is attached to a meeting: what is sent, and what is said where it is refused.
import { fireEvent, render, screen } from '@testing-library/svelte';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import AttachTranscript from '../../console/meetings/AttachTranscript.svelte';
import english from '../../console/words/english';
import { hasSound, MeetingState, type Recording, type Snapshot } from '../../shared/recording/meeting';
import { startLanguage } from '../../shared/words/text.svelte';

/** What the server answers, and the forms that it was sent. */
let answer: { status: number; body: object };
let sent: FormData[] = [];

beforeEach(async () => {
  await startLanguage(english, () => Promise.resolve({ default: english }));
  sent = [];
  answer = { status: 201, body: { isSuccess: true, data: { id: 'r' }, errors: [] } };
  vi.stubGlobal('fetch', async (request: Request) => {
    sent.push(await request.formData());
    return Response.json(answer.body, { status: answer.status });
  });
});
afterEach(() => vi.unstubAllGlobals());

const file = new File(['WEBVTT\n\n00:01.000 --> 00:02.000\nYes.\n'], 'teams.vtt');
const meeting = (joinedAt: string | null): MeetingState =>
  MeetingState.of({ meeting: {}, participants: [{ id: 'p', displayName: 'Ada', joinedAt }], recordings: [] } as unknown as Snapshot);

async function choose(): Promise<void> {
  const input = document.querySelector<HTMLInputElement>('[type="file"]')!;
  Object.defineProperty(input, 'files', { value: [file], configurable: true });
  await fireEvent.change(input);
}
const refuse = (status: number, code: string, field: string | null, message = ''): void => {
  answer = { status, body: { isSuccess: false, data: null, message, errors: [{ code, field, reason: null, message }] } };
};

test('where nobody joined the host declares first that everyone agreed', async () => {
  render(AttachTranscript, { meetingId: 'm', meeting: meeting(null) });
  await fireEvent.click(screen.getByRole('button'));
  expect(screen.getByRole('alert').textContent).toBe(english['attach.declarationMissing']);
  await fireEvent.click(screen.getByRole('checkbox'));
  expect(screen.getByRole('alert').textContent).toBe('');
  await choose();
  await vi.waitFor(() => expect(sent).toHaveLength(1));
  expect((sent[0]?.get('file') as File).name).toBe('teams.vtt');
  expect(sent[0]?.get('consentAttestation')).toBe(english['attach.declaration']);
});

test('where people joined it needs no declaration, and says whose consent is missing', async () => {
  render(AttachTranscript, { meetingId: 'm', meeting: meeting('2026-11-01T00:00:00Z') });
  expect(screen.queryByRole('checkbox')).toBeNull();
  refuse(409, 'ConsentRequired', 'participants.p');
  await choose();
  await vi.waitFor(() => expect(screen.getByRole('alert').textContent).toContain('Ada'));
  expect(sent[0]?.has('consentAttestation')).toBe(false);
  refuse(415, 'UnsupportedMediaType', null);
  await choose();
  await vi.waitFor(() => expect(screen.getByRole('alert').textContent).toBe(english['attach.otherType']));
  refuse(422, 'ValidationError', 'file', 'Nothing is said in this file.');
  await choose();
  await vi.waitFor(() => expect(screen.getByRole('alert').textContent).toContain('Nothing is said in this file.'));
});

test('a transcript that was attached can not be heard', () => {
  const of = (mimeType: Recording['mimeType']): boolean => hasSound({ mimeType } as Recording);
  expect([of('audio/webm'), of('video/mp4'), of('text/vtt'), of('application/x-subrip')]).toEqual([true, true, false, false]);
});
