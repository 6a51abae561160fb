// What is read aloud of the events of a meeting.

import type { TopicEvent } from '$shared/topics/socket';
import { t } from '$shared/words/text.svelte';
import { listOf } from '$shared/words/formats';
import { answerOf, type MeetingState, type Participant } from '$shared/recording/meeting';

/** What others do: they come, go, and answer the question of consent. */
export function eventAnnouncements(before: MeetingState, after: MeetingState, { event, data }: TopicEvent, myId: string | null): string[] {
  if (!event.startsWith('participant.')) return [];
  const { id } = data as Participant;
  const [was, is] = [before.participant(id), after.participant(id)];
  if (!is || id === myId) return [];
  const name = is.displayName;
  const spoken: string[] = [];
  if (was?.status !== is.status) {
    if (is.status === 'JOINED') spoken.push(t('announce.joined', { name }));
    if (is.status === 'LEFT') spoken.push(t('announce.left', { name }));
    if (is.status === 'REMOVED') spoken.push(t('announce.removed', { name }));
  }
  const answer = answerOf(is);
  if (answer !== answerOf(was) && answer !== 'unanswered') spoken.push(t(`announce.${answer}`, { name }));
  return spoken;
}

/** Whether the meeting is being recorded, in words. */
export function recordingSentence(meeting: MeetingState | null): string {
  if (!meeting) return t('recording.none');
  const { kind, waitsFor } = meeting.recordingState;
  if (kind !== 'paused' || waitsFor.length === 0) return t(`recording.${kind}`);
  return t('recording.pausedFor', { names: listOf(waitsFor.map(({ displayName }) => displayName)) });
}
