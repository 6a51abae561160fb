// The operations of the interface that the page uses.

import { api, unwrap, type Schemas } from '$shared/api/client';
import type { Participant } from '$shared/recording/meeting';

export type Details = Schemas['MeetingDetails'];
export type Preview = Schemas['InvitationPreview'];
export type Consent = Schemas['SaveRecordingConsent'];

const meeting = (meetingId: string) => ({ params: { path: { meetingId } } });
const invitation = (token: string) => ({ params: { path: { token } } });

export const readMeeting = (id: string): Promise<Details> => unwrap(api.GET('/api/meetings/{meetingId}', meeting(id)));
export const startMeeting = (id: string) => unwrap(api.POST('/api/meetings/{meetingId}/start', meeting(id)));
export const endMeeting = (id: string) => unwrap(api.POST('/api/meetings/{meetingId}/end', { ...meeting(id), body: {} }));
export const joinMeeting = (id: string): Promise<Participant> =>
  unwrap(api.POST('/api/meetings/{meetingId}/join', { ...meeting(id), body: {} }));
export const leaveMeeting = (id: string) => unwrap(api.POST('/api/meetings/{meetingId}/leave', meeting(id)));
export const issueRoomCredentials = (id: string): Promise<Schemas['RoomCredentials']> =>
  unwrap(api.POST('/api/meetings/{meetingId}/room-credentials', meeting(id)));

export const saveConsent = (meetingId: string, participantId: string, consent: Consent): Promise<Participant> =>
  unwrap(api.POST('/api/meetings/{meetingId}/participants/{participantId}/consent', {
    params: { path: { meetingId, participantId } }, body: consent,
  }));

export const previewInvitation = (token: string): Promise<Preview> =>
  unwrap(api.GET('/api/meeting-invitations/{token}', invitation(token)));
export const acceptInvitation = (token: string, displayName: string): Promise<Schemas['AcceptedInvitation']> =>
  unwrap(api.POST('/api/meeting-invitations/{token}/accept', { ...invitation(token), body: displayName ? { displayName } : {} }));
export const declineInvitation = (token: string) =>
  unwrap(api.POST('/api/meeting-invitations/{token}/decline', invitation(token)));

/** The role in the project; null for whoever is not a member of it. */
export const readProjectRole = async (projectId: string): Promise<Schemas['ProjectRole'] | null> => {
  const { data } = await api.GET('/api/projects/{projectId}', { params: { path: { projectId } } });
  return data?.data.myRole ?? null;
};

export const issueSocketTicket = async (): Promise<string> => (await unwrap(api.POST('/api/ws/tickets'))).ticket;
export const logIn = (email: string, password: string): Promise<Schemas['AuthResponse']> =>
  unwrap(api.POST('/api/auth/login', { body: { email, password } }));
