//! Operations on project invitations: invite, resend, preview and accept.

use std::time::Duration;

use actors::ids::{self, Id, User};
use actors::language::Language;
use actors::live::{EventRecord, RequestId};
use actors::time::Time;

use super::super::bodies::AddProjectMember;
use super::super::emails;
use super::super::model::{
    self, InvitationStatus, InvitationToProject, JoinedProject, Member, MemberChanged, MemberViewer, ProjectInvitation,
    ProjectInvitationPreview, ProjectMember, State,
};
use super::super::store::{self, invitations};
use super::{acting, change_members, locked, record_change};
use crate::access::one_time::OneTimeToken;
use crate::access::principal::Caller;
use crate::access::role::ProjectRole;
use crate::accounts;
use crate::db::rate_limits::{self, Rate};
use crate::db::{Conn, DbError};
use crate::http::call_limits::rate;
use crate::http::code::Code;
use crate::http::error::ApiError;
use crate::jobs::mail::QueuedEmail;
use crate::projects::model::Project;
use crate::projects::state::Projects;
use crate::projects::{must_be_active, store as projects};
use crate::quotas::model::CountedKind;

const DAY: Duration = Duration::from_secs(24 * 3600);
/// How long an invitation can be accepted, in days.
const LIFE_DAYS: u32 = 7;
/// Separates the hashes of these tokens from those of other links.
pub const PURPOSE: &str = "project invitation";
/// How long after one invitation the next one may be sent.
const PAUSE: Duration = Duration::from_secs(60);

/// Invites an address to a project by e-mail. Inviting an address again sends a new link and invalidates the former
/// one. If the id exists already, returns that invitation.
///
/// # Errors
/// 403 for a role that the caller may not give, or while a pending invitation exists whose role the caller may not
/// give; 409 for a member, and in an archived project; 429 beyond the rate limits of invitations.
pub async fn add(
    state: &Projects,
    caller: Caller,
    project_id: Id<ids::Project>,
    id: Id<InvitationToProject>,
    body: AddProjectMember,
    request: RequestId,
) -> Result<ProjectInvitation, ApiError> {
    let AddProjectMember { email, role } = body;
    invite(
        state,
        caller,
        NewInvitation { id, project_id, email: email.as_str().to_owned(), role, former: None },
        request,
    )
    .await
}

/// Invites the person of an open invitation once more: with a new link, in a new invitation that takes its place. If the id exists
/// already, returns that invitation.
///
/// # Errors
/// 403 for a role that the caller may not give; 409 for an invitation that was accepted or revoked, and in an archived project; 429
/// within a minute of the last one, and beyond the rate limits of invitations.
pub async fn resend(
    state: &Projects,
    caller: Caller,
    id: Id<InvitationToProject>,
    former: InvitationToProject,
    request: RequestId,
) -> Result<ProjectInvitation, ApiError> {
    let (now, next_at) = (state.now(), former.created_at + PAUSE);
    if now < next_at {
        return Err(ApiError::too_many(next_at.since(now)));
    }
    let InvitationToProject { project_id, email, role, .. } = former;
    invite(state, caller, NewInvitation { id, project_id, email, role, former: Some(former.id) }, request).await
}

/// Whom to invite.
struct NewInvitation {
    id: Id<InvitationToProject>,
    project_id: Id<ids::Project>,
    email: String,
    role: ProjectRole,
    /// The open invitation whose place it takes, where there has to be one.
    former: Option<Id<InvitationToProject>>,
}

async fn invite(
    state: &Projects,
    caller: Caller,
    NewInvitation { id, project_id, email, role, former }: NewInvitation,
    request: RequestId,
) -> Result<ProjectInvitation, ApiError> {
    let now = state.now();
    let token = OneTimeToken::generate()?;
    let token_hash = token.stored_hash(&state.secret, PURPOSE)?;
    let link = format!("{}/invitations/project#token={}", state.url, token.text());
    let url = link.clone();
    let outbox = state.outbox.clone();
    let whole = state.clone();
    let (kind, owner) = (CountedKind::InvitationsToProject, project_id.uuid());
    let counted =
        state.quotas.count_unless_made(kind, owner, 1, move |conn| Box::pin(invitations::find(conn, id))).await?;
    let (invitation, inviter_name, is_new) = state
        .db
        .write(move |conn| {
            Box::pin(async move {
                // Locks the project, so that two invitations of one address are handled one after the other.
                let project = locked(conn, project_id).await?;
                let inviter = acting(conn, project_id, caller).await?;
                if !model::may_handle(inviter, role) {
                    return Err(ApiError::of(Code::FORBIDDEN));
                }
                let inviter_name = name(conn, caller.user_id).await?;
                if let Some(made) = invitations::find(conn, id).await? {
                    return Ok((made, inviter_name, false));
                }
                count_emails(&whole, conn, caller.user_id, &[&email], now).await?;
                must_be_active(&project)?;
                let language = language(conn, &project, caller, &email).await?;
                supersede(conn, project_id, inviter, &email, former, now).await?;
                let invitation = InvitationToProject {
                    id,
                    project_id,
                    email,
                    role,
                    invited_by_id: caller.user_id,
                    created_at: now,
                    expires_at: now + DAY * LIFE_DAYS,
                    state: State::Open,
                };
                invitations::insert(conn, &invitation, token_hash).await?;
                let words = emails::ProjectInvitationEmail {
                    language,
                    project: &project.name,
                    inviter: &inviter_name,
                    url,
                    days: LIFE_DAYS,
                };
                let mailing = QueuedEmail::from(emails::invitation(&invitation, words)).until(invitation.expires_at);
                let mailing = mailing.in_turn_of(invitation.project_id);
                outbox.send(conn, mailing, now, &request).await?;
                Ok((invitation, inviter_name, true))
            })
        })
        .await?;
    drop(counted);
    state.jobs.wake();
    let made = ProjectInvitation::of(invitation, InvitationStatus::Pending, Some(inviter_name));
    // One that an earlier request made has another link.
    Ok(ProjectInvitation { link: is_new.then_some(link), ..made })
}

/// The language of the e-mail: the invitee's, else the project's, else the inviter's.
///
/// # Errors
/// 409 if the invitee is a member. Whoever may invite may see the members' addresses, so this reveals nothing.
async fn language(conn: &mut Conn, project: &Project, caller: Caller, email: &str) -> Result<Language, ApiError> {
    if let Some(invitee) = accounts::store::account_of(conn, email).await? {
        if store::of(conn, project.id, invitee.id).await?.is_some() {
            return Err(ApiError::with_message(Code::CONFLICT, "The user with this address is already a member."));
        }
        return Ok(invitee.language);
    }
    if project.language != Language::Auto {
        return Ok(project.language);
    }
    let inviter = accounts::store::account(conn, caller.user_id).await?;
    Ok(inviter.map_or(Language::En, |inviter| inviter.language))
}

/// Revokes the open invitation of the address, if there is one: it has to be the expected one.
async fn supersede(
    conn: &mut Conn,
    project_id: Id<ids::Project>,
    inviter: ProjectRole,
    email: &str,
    expected: Option<Id<InvitationToProject>>,
    now: Time,
) -> Result<(), ApiError> {
    let open = invitations::open(conn, project_id, email).await?;
    if expected.is_some() && open.as_ref().map(|open| open.id) != expected {
        return Err(ApiError::with_message(Code::INVALID_STATE, "The invitation is no longer open."));
    }
    if let Some(former) = open {
        let by = projects::role(conn, project_id, former.invited_by_id).await?;
        if former.status(by, now) == InvitationStatus::Pending && !model::may_handle(inviter, former.role) {
            return Err(ApiError::with_message(
                Code::FORBIDDEN,
                "An owner has already invited this address with another role.",
            ));
        }
        invitations::revoke(conn, former.id, now).await?;
    }
    Ok(())
}

async fn name(conn: &mut Conn, user_id: Id<User>) -> Result<String, DbError> {
    let account = accounts::store::account(conn, user_id).await?;
    Ok(account.map(|account| account.full_name).unwrap_or_default())
}

/// The rate limits of invitation e-mails, with the keys they are counted under: one per sender, one per recipient.
fn rates(state: &Projects, user_id: Id<User>, email: &str) -> [(Rate, String); 2] {
    let limits = &state.config.limits;
    let by = rate("invitation_mails", limits.invitation_mails);
    let to = rate("invitation_mails_of_address", limits.invitation_mails_of_address);
    let account = state.secret.hex("account", &[user_id.uuid().as_bytes()]);
    [(by, account), (to, state.secret.hex("address", &[email.as_bytes()]))]
}

/// Counts invitation e-mails against the rate limits of the sender and of the recipients, which all kinds of
/// invitations share.
///
/// # Errors
/// 429 when one of these limits is exceeded for the day.
pub async fn count_emails(
    state: &Projects,
    conn: &mut Conn,
    user_id: Id<User>,
    emails: &[&str],
    now: Time,
) -> Result<(), ApiError> {
    let rates: Vec<_> = emails.iter().flat_map(|email| rates(state, user_id, email)).collect();
    match rate_limits::count(conn, &rates, now).await? {
        Some(wait) => Err(ApiError::too_many(wait)),
        None => Ok(()),
    }
}

/// Returns what an invitation is about, without changing it.
///
/// # Errors
/// 404 for an unknown token; 410 for an invitation that can no longer be accepted.
pub async fn preview(state: &Projects, token: &OneTimeToken) -> Result<ProjectInvitationPreview, ApiError> {
    let hash = token.hash(&state.secret, PURPOSE).ok_or_else(|| ApiError::of(Code::NOT_FOUND))?;
    let now = state.now();
    let read = async move |conn: &mut Conn| {
        let Some(invitation) = invitations::by_token(conn, &hash).await? else { return Ok::<_, DbError>(None) };
        let Some(project) = projects::find(conn, invitation.project_id).await? else { return Ok(None) };
        let role = projects::role(conn, project.id, invitation.invited_by_id).await?;
        let inviter_name = name(conn, invitation.invited_by_id).await?;
        Ok(Some(ProjectInvitationPreview {
            project_name: project.name,
            inviter_name,
            invitee_email: model::masked(&invitation.email),
            role: invitation.role,
            status: invitation.status(role, now),
            expires_at: invitation.expires_at,
        }))
    };
    let found = state.db.read(move |conn| Box::pin(conn.transaction(read))).await.map_err(ApiError::from)?;
    let found = found.ok_or_else(|| ApiError::of(Code::NOT_FOUND))?;
    match found.status {
        InvitationStatus::Pending | InvitationStatus::Accepted => Ok(found),
        InvitationStatus::Declined | InvitationStatus::Expired | InvitationStatus::Revoked => {
            Err(ApiError::of(Code::GONE))
        }
    }
}

/// Makes the caller a member. Repeating the call changes nothing; an existing member keeps the higher role.
///
/// # Errors
/// 404 for an unknown token; 403 for an account with another address; 410 for an invitation that can no longer be
/// accepted, or that was accepted by a user who is no longer a member; 409 in an archived project, and in one that has
/// as many members as it may have.
pub async fn accept(
    state: &Projects,
    caller: Caller,
    token: &OneTimeToken,
    request: RequestId,
) -> Result<JoinedProject, ApiError> {
    let unknown = || ApiError::of(Code::NOT_FOUND);
    let hash = token.hash(&state.secret, PURPOSE).ok_or_else(unknown)?;
    let token_hash = hash.clone();
    let found =
        state.db.read(move |conn| Box::pin(async move { invitations::by_token(conn, &token_hash).await })).await;
    let project_id = found.map_err(ApiError::from)?.ok_or_else(unknown)?.project_id;
    let now = state.now();
    // Whoever is a member already needs no room, which is looked at only where there is none.
    let (kind, user_id) = (CountedKind::MembersOfProject, caller.user_id);
    let counted = state
        .quotas
        .count_unless_made(kind, project_id.uuid(), 1, move |conn| Box::pin(store::of(conn, project_id, user_id)));
    let counted = counted.await?;
    let member = change_members(state, project_id, None, move |conn| {
        Box::pin(async move {
            let project = locked(conn, project_id).await?;
            let invitation = invitations::by_token(conn, &hash).await?.ok_or_else(|| ApiError::of(Code::NOT_FOUND))?;
            let account = accounts::store::account(conn, caller.user_id).await?;
            if account.is_none_or(|account| account.email != invitation.email) {
                return Err(ApiError::with_message(Code::FORBIDDEN, "This invitation is for another address."));
            }
            let inviter = projects::role(conn, project_id, invitation.invited_by_id).await?;
            let member = store::of(conn, project_id, caller.user_id).await?;
            match (invitation.status(inviter, now), member) {
                (InvitationStatus::Pending, member) => {
                    must_be_active(&project)?;
                    invitations::accept(conn, invitation.id, now).await?;
                    join(conn, &invitation, caller, member, now, &request).await
                }
                (InvitationStatus::Accepted, Some(member)) => Ok((member, Vec::new())),
                _ => Err(ApiError::of(Code::GONE)),
            }
        })
    })
    .await?;
    drop(counted);
    let viewer = MemberViewer { user_id: member.user_id, role: member.role };
    Ok(JoinedProject { member: ProjectMember::of(member, viewer), project_id })
}

async fn join(
    conn: &mut Conn,
    invitation: &InvitationToProject,
    caller: Caller,
    member: Option<Member>,
    now: Time,
    request: &RequestId,
) -> Result<(Member, Vec<EventRecord>), ApiError> {
    let InvitationToProject { project_id, role, .. } = *invitation;
    match member {
        Some(member) if member.role >= role => return Ok((member, Vec::new())),
        Some(member) => store::set_role(conn, member.id, role).await?,
        None => store::insert(conn, project_id, caller.user_id, role, now).await?,
    }
    // Read again after a row refers to the account: from then on the deletion of the account waits for this
    // transaction.
    let account = accounts::store::account(conn, caller.user_id).await?;
    account.ok_or_else(|| ApiError::of(Code::UNAUTHORIZED))?;
    let member = store::of(conn, project_id, caller.user_id).await?;
    let member = member.ok_or_else(|| ApiError::internal("the user who joined is not a member"))?;
    let record = record_change(conn, project_id, MemberChanged::to(&member), now, request).await?;
    Ok((member, vec![record]))
}
