// What the server says in English is said in the reader's language.
import { fireEvent, render, screen } from '@testing-library/svelte';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import Invite from '../console/feedback/Invite.svelte';
import type { FeedbackState } from '../console/feedback/feedback.svelte';
import Quotes from '../console/items/Quotes.svelte';
import Runs from '../console/operator/Runs.svelte';
import type { Project } from '../console/project/project.svelte';
import NewRun from '../console/runs/NewRun.svelte';
import EditTerm from '../console/settings/EditTerm.svelte';
import { GlossaryState } from '../console/settings/glossary.svelte';
import arabic from '../console/words/arabic';
import english from '../console/words/english';
import { ApiError, type Schemas } from '../shared/api/client';
import type { Fault } from '../shared/api/error';
import RecordedQuote from '../shared/source/RecordedQuote.svelte';
import SourcePicker from '../shared/source/SourcePicker.svelte';
import sharedArabic from '../shared/words/shared.ar.json';
import { setLanguage, startLanguage } from '../shared/words/text.svelte';

beforeEach(async () => {
  await startLanguage(english, () => Promise.resolve({ default: arabic }));
  await setLanguage('ar');
});
afterEach(async () => {
  await setLanguage('en');
  localStorage.clear();
  vi.unstubAllGlobals();
});

const fault = (field: string): Fault => ({ code: 'ValidationError', field, reason: 'InvalidValue', message: 'The value is invalid.' });
const page = (items: object[]) => ({ items, nextCursor: null, totalCount: items.length });
/** Answers by the end of the path, with the method before it where it matters; the first that fits. */
function serve(answers: Record<string, unknown>): void {
  vi.stubGlobal('fetch', (request: Request) => {
    const { pathname } = new URL(request.url);
    const data = Object.entries(answers).find(([end]) => `${request.method} ${pathname}`.endsWith(end) || (end.startsWith('GET /') && request.method === 'GET' && pathname.endsWith(end.slice(4))))?.[1];
    if (request.method === 'POST') return Promise.resolve(Response.json({ isSuccess: false, data: null, errors: [data] }, { status: 422 }));
    return Promise.resolve(Response.json({ isSuccess: true, data, errors: [] }));
  });
}
const press = (name: string) => fireEvent.click(screen.getByRole('button', { name, hidden: true }));

test('which of the invited people is at fault, and why', async () => {
  const feedback = { invite: () => Promise.reject(new ApiError(422, [fault('invitees[1].email')])) } as unknown as FeedbackState;
  render(Invite, { open: true, feedback });
  const people = screen.getByLabelText(arabic['invitations.people']);
  await fireEvent.input(people, { target: { value: 'ada@example.org, bo' } });
  await press(arabic['invitations.send']);
  const words = await screen.findByText(/\bbo\b/);
  expect(words.textContent).toBe(`\u2068bo\u2069: ${sharedArabic['reason.InvalidValue']}`);
});

test('why documents can not be analysed', async () => {
  serve({ '/documents': page([{ id: 'd', fileName: 'notes.txt', status: 'READY' }]), '/meetings': page([]), 'GET /runs': page([]), '/runs': fault('documentIds') });
  render(NewRun, { open: true, project: { path: { projectId: 'p' }, on: () => () => undefined } as unknown as Project, onstarted: () => undefined });
  await screen.findByText('notes.txt');
  await press(arabic['run.startNow']);
  expect(await screen.findByText(sharedArabic['reason.InvalidValue'])).toBeTruthy();
});

const source = { documentId: null, recordingId: null, page: null, section: null, speaker: 'Speaker 2', startMs: 0, endMs: 900, quote: 'Be quiet.' } as unknown as Schemas['SourceReference'];
const SPEAKER = arabic['transcript.speaker'].replace('{number}', '\u20682\u2069');

test('a voice that nobody named, where it is quoted', () => {
  render(RecordedQuote, { source });
  expect(screen.getByText(SPEAKER)).toBeTruthy();
  render(SourcePicker, { sources: [source], nameOf: () => '', index: 0, onpick: () => undefined });
  render(Quotes, { sources: [source] });
  expect(document.body.textContent?.split(SPEAKER)).toHaveLength(4);
  expect(document.body.textContent).not.toContain('Speaker');
});

test('a voice that nobody named, where the words around a quote are shown', async () => {
  const segment = { index: 0, startMs: 0, endMs: 900, speaker: { participantId: null, name: 'Speaker 2' }, text: 'Be quiet.' };
  serve({ '/transcript': { segments: [segment] } });
  render(RecordedQuote, { source: { ...source, recordingId: 'r', speaker: null } });
  expect(await screen.findByText(SPEAKER)).toBeTruthy();
});

test('a term that is in the glossary already', async () => {
  const glossary = new GlossaryState({ path: { projectId: 'p' } } as unknown as Project);
  glossary.save = () => Promise.reject(new ApiError(422, [{ ...fault('entries[1].term'), reason: 'Repeated' }]));
  render(EditTerm, { open: true, glossary, entry: null });
  await fireEvent.input(screen.getByLabelText(arabic['settings.term']), { target: { value: 'OAuth' } });
  await press(sharedArabic.save);
  expect(await screen.findByText(sharedArabic['reason.Repeated'])).toBeTruthy();
});

test('the engine of a run, as the operator sees it', async () => {
  serve({ '/runs': page([{ id: 'r', projectName: 'Portal', createdAt: '2026-11-01T00:00:00Z', engine: 'embedded', attempt: 1, status: 'COMPLETED', completedAt: '2026-11-01T00:00:09Z', progress: 100, errorMessage: null }]) });
  render(Runs);
  expect(await screen.findByText(arabic['run.engine.embedded'])).toBeTruthy();
});
