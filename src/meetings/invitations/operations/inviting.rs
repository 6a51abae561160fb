//! The operation that invites people to a meeting: all invitees of a request, or none.

use std::collections::{HashMap, HashSet};

use actors::ids::{self, Id};
use actors::live::RequestId;
use actors::meeting::{self, MeetingRole};
use actors::time::Time;
use uuid::Uuid;

use super::super::model::{
    Delivery, Invitation, InvitationStatus, Invitee, InviteeType, MAX_VALIDITY, MeetingInvitation, Message, State,
    expiry, may_be,
};
use super::super::store;
use super::sending::Sender;
use super::{PURPOSE, must_go_on};
use crate::access::one_time::OneTimeToken;
use crate::access::principal::Caller;
use crate::db::Conn;
use crate::http::code::Code;
use crate::http::error::{ApiError, FieldError};
use crate::http::reason::Reason;
use crate::meetings::state::Meetings;
use crate::meetings::{MeetingSnapshot, store as meetings};
use crate::projects::people::operations as people;
use crate::quotas::model::CountedKind;
use crate::{accounts, projects};

/// The invitees of one request, and what their invitations have in common.
#[derive(Debug)]
pub struct InvitationRequest {
    pub invitees: Vec<Invitee>,
    pub message: Message,
    /// `None`: a week, or until the day after the meeting if that is later.
    pub expires_at: Option<Time>,
    /// The id of the first invitation; the others get the ids that follow it.
    pub first: Id<ids::Invitation>,
}

impl InvitationRequest {
    fn ids(&self) -> Vec<Id<ids::Invitation>> {
        let first = self.first.uuid().as_u128();
        let ids = (0_u128..).map(|index| Id::from_uuid(Uuid::from_u128(first.wrapping_add(index))));
        ids.take(self.invitees.len()).collect()
    }
}

/// Invites people to a meeting by e-mail: all of them or, if anything is wrong with one of them, none. If invitations
/// with these ids exist, because the request is repeated, returns those.
///
/// # Errors
/// 422 or 409 with a field error for each invalid invitee; 409 for a meeting that has ended or was cancelled, and in an
/// archived project; 429 beyond the rate limits of invitations.
pub async fn invite(
    state: &Meetings,
    caller: Caller,
    meeting: &MeetingSnapshot,
    input: InvitationRequest,
    request: RequestId,
) -> Result<Vec<MeetingInvitation>, ApiError> {
    let now = state.now();
    if input.expires_at.is_some_and(|at| at <= now || at > now + MAX_VALIDITY) {
        let sentence = "This must be a time in the next 90 days.";
        return Err(ApiError::field("expiresAt", Reason::InvalidValue, sentence));
    }
    let tokens = input.invitees.iter().map(|_| OneTimeToken::generate()).collect::<Result<_, _>>()?;
    let batch =
        InvitationBatch { state: state.clone(), caller, meeting_id: meeting.state.id, input, tokens, now, request };
    let (kind, more) = (CountedKind::InvitationsToMeeting, batch.input.invitees.len());
    let (meeting_id, ids) = (batch.meeting_id, batch.input.ids());
    let counted = state.quotas.count_unless_made(kind, meeting_id.uuid(), more, move |conn| {
        Box::pin(async move {
            let former = store::of_meeting(conn, meeting_id).await?;
            Ok(former.into_iter().find(|one| ids.contains(&one.id)))
        })
    });
    let counted = counted.await?;
    let made = state.db.write(move |conn| Box::pin(batch.make(conn))).await?;
    drop(counted);
    state.jobs.wake();
    Ok(made.into_iter().map(|invitation| MeetingInvitation::of(invitation, now)).collect())
}

/// The invitations of one request, before they are written.
struct InvitationBatch {
    state: Meetings,
    caller: Caller,
    meeting_id: Id<meeting::Meeting>,
    input: InvitationRequest,
    /// One for each invitee.
    tokens: Vec<OneTimeToken>,
    now: Time,
    request: RequestId,
}

/// What is known of an invitee before their participant is determined.
struct InviteeDraft {
    invitee_type: InviteeType,
    email: String,
    display_name: Option<String>,
    user_id: Option<Id<ids::User>>,
    role: MeetingRole,
}

impl InvitationBatch {
    async fn make(self, conn: &mut Conn) -> Result<Vec<Invitation>, ApiError> {
        let missing = || ApiError::of(Code::MEETING_NOT_FOUND);
        // Locked, so that concurrent requests do not invite anyone twice, and no invitee misses a change of the
        // meeting.
        let meeting = meetings::locked(conn, self.meeting_id).await?.ok_or_else(missing)?;
        let former = store::of_meeting(conn, meeting.id).await?;
        let ids = self.input.ids();
        let made: Vec<_> = former.iter().filter(|one| ids.contains(&one.id)).cloned().collect();
        if !made.is_empty() {
            return Ok(made);
        }
        let project = projects::store::find(conn, meeting.project_id).await?.ok_or_else(missing)?;
        let drafts = self.drafts(conn, &meeting).await?;
        projects::must_be_active(&project)?;
        must_go_on(&meeting)?;
        let invitations = self.build_invitations(&meeting, &former, drafts)?;
        let emails: Vec<&str> = invitations.iter().map(|one| one.email.as_str()).collect();
        people::invitations::count_emails(&self.state.projects, conn, self.caller.user_id, &emails, self.now).await?;
        let mut rows = Vec::with_capacity(invitations.len());
        for (invitation, token) in invitations.iter().zip(&self.tokens) {
            rows.push((invitation, token.stored_hash(&self.state.secret, PURPOSE)?));
        }
        store::insert(conn, rows).await?;
        let languages = accounts::store::languages(conn, &emails).await?;
        let inviter = accounts::store::account(conn, self.caller.user_id).await?;
        let (state, inviter) = (&self.state, inviter.as_ref());
        let sender = Sender { state, meeting: &meeting, project: &project, inviter, now: self.now };
        let email = |(invitation, token): (&Invitation, &OneTimeToken)| {
            sender.email(invitation, token, languages.get(&invitation.email).copied())
        };
        let emails = invitations.iter().zip(&self.tokens).map(email);
        state.outbox.send_all(conn, emails, self.now, &self.request).await?;
        // Checked again after the insert: from here on rows reference the accounts, and their deletion waits for this
        // transaction.
        self.drafts(conn, &meeting).await?;
        Ok(invitations)
    }

    /// Resolves the invitees.
    ///
    /// # Errors
    /// 422 for each invitee who is named twice, is not a member of the project, or can't be invited in that role.
    async fn drafts(&self, conn: &mut Conn, meeting: &meeting::Meeting) -> Result<Vec<InviteeDraft>, ApiError> {
        let members = self.input.invitees.iter().filter_map(|invitee| match invitee {
            Invitee::Member { user_id, .. } => Some(*user_id),
            Invitee::Guest { .. } => None,
        });
        let members: Vec<_> = members.collect();
        let roles = projects::store::roles(conn, meeting.project_id, &members).await?;
        let accounts = accounts::store::accounts(conn, &members).await?;
        let accounts: HashMap<_, _> = accounts.into_iter().map(|account| (account.id, account)).collect();
        let mut drafts: Vec<InviteeDraft> = Vec::with_capacity(self.input.invitees.len());
        let mut seen = HashSet::new();
        let mut faults = Vec::new();
        for (index, invitee) in self.input.invitees.iter().enumerate() {
            let field = |key: &str| Some(format!("invitees[{index}].{key}"));
            let (draft, key, member) = match invitee {
                Invitee::Member { user_id, role } => {
                    let (Some(member), Some(account)) = (roles.get(user_id).copied(), accounts.get(user_id)) else {
                        let none = Code::NOT_A_PROJECT_MEMBER;
                        faults.push(FieldError::of(none, field("userId"), none.sentence));
                        continue;
                    };
                    let (email, display_name) = (account.email.clone(), Some(account.full_name.clone()));
                    let invitee_type = InviteeType::Participant;
                    let draft =
                        InviteeDraft { invitee_type, email, display_name, user_id: Some(*user_id), role: *role };
                    (draft, "userId", Some(member))
                }
                Invitee::Guest { email, display_name, role } => {
                    let email = email.as_str().to_owned();
                    let display_name = display_name.as_ref().map(|name| name.0.clone());
                    let invitee_type = InviteeType::Guest;
                    (InviteeDraft { invitee_type, email, display_name, user_id: None, role: *role }, "email", None)
                }
            };
            if let Err(error) = may_be(draft.role, member) {
                faults.push(FieldError::value(Reason::InvalidValue, field("role"), error.sentence()));
            }
            if !seen.insert(draft.email.clone()) {
                faults.push(FieldError::value(Reason::Repeated, field(key), Reason::Repeated.sentence()));
            }
            drafts.push(draft);
        }
        if faults.is_empty() { Ok(drafts) } else { Err(ApiError::invalid(faults)) }
    }

    /// Builds the invitations, each with the id of its participant.
    ///
    /// # Errors
    /// 409 for the host, and for each invitee who has a pending invitation.
    fn build_invitations(
        &self,
        meeting: &meeting::Meeting,
        former: &[Invitation],
        drafts: Vec<InviteeDraft>,
    ) -> Result<Vec<Invitation>, ApiError> {
        let waiting = former.iter().filter(|one| one.status(self.now) == InvitationStatus::Pending);
        let waiting: HashSet<&str> = waiting.map(|one| one.email.as_str()).collect();
        // Someone who was invited as a guest before gets the same participant again.
        let guests_by_email = former.iter().filter(|one| one.invitee_type == InviteeType::Guest);
        let guests_by_email: HashMap<&str, _> =
            guests_by_email.map(|one| (one.email.as_str(), one.participant_id)).collect();
        let mut faults = Vec::new();
        let mut invitations = Vec::with_capacity(drafts.len());
        for ((index, draft), id) in drafts.into_iter().enumerate().zip(self.input.ids()) {
            let mut fault = |sentence: &str| {
                let key = if draft.user_id.is_some() { "userId" } else { "email" };
                let field = Some(format!("invitees[{index}].{key}"));
                faults.push(FieldError::of(Code::CONFLICT, field, sentence));
            };
            let present = draft.user_id.and_then(|user_id| meeting.participants.of_user(user_id));
            if present.is_some_and(|present| present.role == MeetingRole::Host) {
                fault("This user is the meeting's host.");
            } else if waiting.contains(draft.email.as_str()) {
                fault("There is already a pending invitation: resend it, or revoke it first.");
            }
            let participant_id =
                present.map(|present| present.id).or_else(|| guests_by_email.get(draft.email.as_str()).copied());
            invitations.push(Invitation {
                id,
                meeting_id: meeting.id,
                invitee_type: draft.invitee_type,
                email: draft.email,
                display_name: draft.display_name,
                user_id: draft.user_id,
                role: draft.role,
                participant_id: participant_id.unwrap_or_else(Id::generate),
                message: self.input.message.0.clone(),
                delivery: Delivery::Queued,
                invited_by_id: self.caller.user_id,
                send_count: 1,
                last_sent_at: self.now,
                sequence: i64::try_from(meeting.version).unwrap_or(i64::MAX),
                expires_at: self.input.expires_at.unwrap_or_else(|| expiry(self.now, meeting.scheduled_at)),
                is_expiry_chosen: self.input.expires_at.is_some(),
                state: State::Open,
                created_at: self.now,
            });
        }
        if faults.is_empty() { Ok(invitations) } else { Err(ApiError { faults, ..ApiError::of(Code::CONFLICT) }) }
    }
}
