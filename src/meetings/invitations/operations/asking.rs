//! Asking people to a meeting: all that a call names, or nobody.

use std::collections::{HashMap, HashSet};

use actors::ids::{self, Id};
use actors::live::RequestId;
use actors::meeting::{self, Role};
use actors::time::Time;
use uuid::Uuid;

use super::super::model::{
    Delivery, Invitation, InvitationStatus, Invitee, InviteeType, LONGEST, MeetingInvitation, Message, State, expiry,
    may_be,
};
use super::super::store;
use super::sending::{Sender, count};
use super::{PURPOSE, must_go_on};
use crate::access::caller::Caller;
use crate::access::one_time::OneTimeToken;
use crate::accounts;
use crate::db::Conn;
use crate::http::code::Code;
use crate::http::failure::{Failure, Fault};
use crate::http::reason::Reason;
use crate::meetings::state::Meetings;
use crate::meetings::{Meeting, store as meetings};
use crate::projects;

/// Who is asked by one call, and how.
#[derive(Debug)]
pub struct Asked {
    pub invitees: Vec<Invitee>,
    pub message: Message,
    /// `None`: a week, or until the day after the meeting.
    pub expires_at: Option<Time>,
    /// Of the first invitation; the others follow it.
    pub first: Id<ids::Invitation>,
}

impl Asked {
    fn ids(&self) -> Vec<Id<ids::Invitation>> {
        let first = self.first.uuid().as_u128();
        let ids = (0_u128..).map(|index| Id::from_uuid(Uuid::from_u128(first.wrapping_add(index))));
        ids.take(self.invitees.len()).collect()
    }
}

/// Asks people to a meeting by mail: all of them or, where anything is wrong with one, nobody. Under an id that was made
/// before, gives those invitations.
///
/// # Errors
/// 422 and 409 with every invitee at fault; 409 for a meeting that is over; 429 past the limits of invitations.
pub async fn invite(
    state: &Meetings,
    caller: Caller,
    meeting: &Meeting,
    asked: Asked,
    request: RequestId,
) -> Result<Vec<MeetingInvitation>, Failure> {
    let now = state.now();
    if asked.expires_at.is_some_and(|at| at <= now || at > now + LONGEST) {
        let sentence = "This must be a time in the next 90 days.";
        return Err(Failure::field("expiresAt", Reason::InvalidValue, sentence));
    }
    let tokens = asked.invitees.iter().map(|_| OneTimeToken::draw()).collect::<Result<_, _>>()?;
    let batch = Batch { state: state.clone(), caller, meeting_id: meeting.state.id, asked, tokens, now, request };
    let made = state.db.write(move |conn| Box::pin(batch.make(conn))).await?;
    state.jobs.wake();
    Ok(made.into_iter().map(|invitation| MeetingInvitation::of(invitation, now)).collect())
}

/// One call's invitations, on their way into the database.
struct Batch {
    state: Meetings,
    caller: Caller,
    meeting_id: Id<meeting::Meeting>,
    asked: Asked,
    /// One an invitee.
    tokens: Vec<OneTimeToken>,
    now: Time,
    request: RequestId,
}

/// What is known of an invitee before their place is.
struct Draft {
    invitee_type: InviteeType,
    email: String,
    display_name: Option<String>,
    user_id: Option<Id<ids::User>>,
    role: Role,
}

impl Batch {
    async fn make(self, conn: &mut Conn) -> Result<Vec<Invitation>, Failure> {
        let missing = || Failure::of(Code::MEETING_NOT_FOUND);
        // Held, so that nobody is asked twice at once, and nobody misses a change of the meeting.
        let meeting = meetings::locked(conn, self.meeting_id).await?.ok_or_else(missing)?;
        let former = store::of_meeting(conn, meeting.id).await?;
        let ids = self.asked.ids();
        let made: Vec<_> = former.iter().filter(|one| ids.contains(&one.id)).cloned().collect();
        if !made.is_empty() {
            return Ok(made);
        }
        let project = projects::store::find(conn, meeting.project_id).await?.ok_or_else(missing)?;
        let drafts = self.drafts(conn, &meeting).await?;
        projects::must_be_active(&project)?;
        must_go_on(&meeting)?;
        let invitations = self.with_places(&meeting, &former, drafts)?;
        let emails: Vec<&str> = invitations.iter().map(|one| one.email.as_str()).collect();
        count(&self.state, conn, self.caller, &emails, self.now).await?;
        let mut rows = Vec::with_capacity(invitations.len());
        for (invitation, token) in invitations.iter().zip(&self.tokens) {
            rows.push((invitation, token.kept(&self.state.secret, PURPOSE)?));
        }
        store::insert(conn, rows).await?;
        let languages = accounts::store::languages(conn, &emails).await?;
        let inviter = accounts::store::account(conn, self.caller.user_id).await?;
        let (state, inviter) = (&self.state, inviter.as_ref());
        let sender = Sender { state, meeting: &meeting, project: &project, inviter, now: self.now };
        let letter = |(invitation, token): (&Invitation, &OneTimeToken)| {
            sender.letter(invitation, token, languages.get(&invitation.email).copied())
        };
        let letters = invitations.iter().zip(&self.tokens).map(letter);
        state.post.send_all(conn, letters, self.now, &self.request).await?;
        // Looked at again once rows name the accounts, which their deletion waits for.
        self.drafts(conn, &meeting).await?;
        Ok(invitations)
    }

    /// # Errors
    /// 422: whoever is there twice, is no member, or can't be asked in that role.
    async fn drafts(&self, conn: &mut Conn, meeting: &meeting::Meeting) -> Result<Vec<Draft>, Failure> {
        let members = self.asked.invitees.iter().filter_map(|invitee| match invitee {
            Invitee::Member { user_id, .. } => Some(*user_id),
            Invitee::Guest { .. } => None,
        });
        let members: Vec<_> = members.collect();
        let roles = projects::store::roles(conn, meeting.project_id, &members).await?;
        let accounts = accounts::store::accounts(conn, &members).await?;
        let accounts: HashMap<_, _> = accounts.into_iter().map(|account| (account.id, account)).collect();
        let mut drafts: Vec<Draft> = Vec::with_capacity(self.asked.invitees.len());
        let mut seen = HashSet::new();
        let mut faults = Vec::new();
        for (index, invitee) in self.asked.invitees.iter().enumerate() {
            let field = |key: &str| Some(format!("invitees[{index}].{key}"));
            let (draft, key, member) = match invitee {
                Invitee::Member { user_id, role } => {
                    let (Some(member), Some(account)) = (roles.get(user_id).copied(), accounts.get(user_id)) else {
                        let none = Code::NOT_A_PROJECT_MEMBER;
                        faults.push(Fault::of(none, field("userId"), none.sentence));
                        continue;
                    };
                    let (email, display_name) = (account.email.clone(), Some(account.full_name.clone()));
                    let invitee_type = InviteeType::Participant;
                    let draft = Draft { invitee_type, email, display_name, user_id: Some(*user_id), role: *role };
                    (draft, "userId", Some(member))
                }
                Invitee::Guest { email, display_name, role } => {
                    let email = email.as_str().to_owned();
                    let display_name = display_name.as_ref().map(|name| name.0.clone());
                    let invitee_type = InviteeType::Guest;
                    (Draft { invitee_type, email, display_name, user_id: None, role: *role }, "email", None)
                }
            };
            if let Err(unfit) = may_be(draft.role, member) {
                faults.push(Fault::value(Reason::InvalidValue, field("role"), unfit.sentence()));
            }
            if !seen.insert(draft.email.clone()) {
                faults.push(Fault::value(Reason::Repeated, field(key), Reason::Repeated.sentence()));
            }
            drafts.push(draft);
        }
        if faults.is_empty() { Ok(drafts) } else { Err(Failure::invalid(faults)) }
    }

    /// # Errors
    /// 409: the host, and whoever has an invitation that waits for an answer.
    fn with_places(
        &self,
        meeting: &meeting::Meeting,
        former: &[Invitation],
        drafts: Vec<Draft>,
    ) -> Result<Vec<Invitation>, Failure> {
        let waiting = former.iter().filter(|one| one.status(self.now) == InvitationStatus::Pending);
        let waiting: HashSet<&str> = waiting.map(|one| one.email.as_str()).collect();
        // Whoever was asked as a guest before comes back to the same place.
        let places = former.iter().filter(|one| one.invitee_type == InviteeType::Guest);
        let places: HashMap<&str, _> = places.map(|one| (one.email.as_str(), one.participant_id)).collect();
        let mut faults = Vec::new();
        let mut invitations = Vec::with_capacity(drafts.len());
        for ((index, draft), id) in drafts.into_iter().enumerate().zip(self.asked.ids()) {
            let mut fault = |sentence: &str| {
                let key = if draft.user_id.is_some() { "userId" } else { "email" };
                let field = Some(format!("invitees[{index}].{key}"));
                faults.push(Fault::of(Code::CONFLICT, field, sentence));
            };
            let present = draft.user_id.and_then(|user_id| meeting.participants.of_user(user_id));
            if present.is_some_and(|present| present.role == Role::Host) {
                fault("That is the meeting's host.");
            } else if waiting.contains(draft.email.as_str()) {
                fault("An invitation waits for an answer already: send it again, or take it back first.");
            }
            let place = present.map(|present| present.id).or_else(|| places.get(draft.email.as_str()).copied());
            invitations.push(Invitation {
                id,
                meeting_id: meeting.id,
                invitee_type: draft.invitee_type,
                email: draft.email,
                display_name: draft.display_name,
                user_id: draft.user_id,
                role: draft.role,
                participant_id: place.unwrap_or_else(Id::draw),
                message: self.asked.message.0.clone(),
                delivery: Delivery::Queued,
                invited_by_id: self.caller.user_id,
                send_count: 1,
                last_sent_at: self.now,
                sequence: i64::try_from(meeting.version).unwrap_or(i64::MAX),
                expires_at: self.asked.expires_at.unwrap_or_else(|| expiry(self.now, meeting.scheduled_at)),
                is_expiry_chosen: self.asked.expires_at.is_some(),
                state: State::Open,
                created_at: self.now,
            });
        }
        if faults.is_empty() { Ok(invitations) } else { Err(Failure { faults, ..Failure::of(Code::CONFLICT) }) }
    }
}
