//! Operations on members and stakeholders, one function each; those on invitations are in a module of their own.
//!
//! A change of members runs in a task apart from its request: a client that disconnects must not leave behind a
//! membership that was deleted but is still cached, or a change whose events were not published.

pub mod invitations;
pub mod open_invitations;

use actors::event_kind::EventKind;
use actors::ids::{self, Id, User};
use actors::live::{EventRecord, RequestId};
use actors::time::Time;
use futures_util::future::BoxFuture;
use tokio::sync::oneshot;

use super::bodies::{Filter, StakeholderFilter};
use super::model::{self, Member, MemberChanged, MemberViewer, ProjectMember, Refusal, Stakeholder, Target};
use super::store::{self, Searched};
use crate::access::principal::Caller;
use crate::access::role::ProjectRole;
use crate::db::{Conn, DbError, events};
use crate::http::code::Code;
use crate::http::envelope::List;
use crate::http::error::ApiError;
use crate::http::list::Listing;
use crate::projects::events::{record_event, topic};
use crate::projects::membership_end::EndedMembership;
use crate::projects::model::Project;
use crate::projects::state::Projects;
use crate::projects::{must_be_active, store as projects};

/// Lists a project's members, those who joined last first.
///
/// # Errors
/// Only database errors.
pub async fn list(
    state: &Projects,
    project_id: Id<ids::Project>,
    viewer: MemberViewer,
    listing: Listing<Filter>,
) -> Result<List<ProjectMember>, ApiError> {
    let searched = if viewer.sees_emails() { Searched::NamesAndEmails } else { Searched::Names };
    let found = state.db.read(move |conn| Box::pin(store::list(conn, project_id, searched, listing))).await;
    Ok(found.map_err(ApiError::from)?.map(|member| ProjectMember::of(member, viewer)))
}

/// Changes a member's role. Setting the present role changes nothing.
///
/// # Errors
/// 403 when the caller may not take the present role or give the new one; 409 for the last OWNER, and in an archived
/// project.
pub async fn change_role(
    state: &Projects,
    caller: Caller,
    project_id: Id<ids::Project>,
    member_id: Id<ids::Member>,
    role: ProjectRole,
    request: RequestId,
) -> Result<ProjectMember, ApiError> {
    let now = state.now();
    let (member, viewer) = change_members(state, project_id, None, move |conn| {
        Box::pin(async move {
            let HeldMember { project, actor, mut member, target, successor } =
                lock_member(conn, project_id, member_id, caller).await?;
            model::change(actor, target, role).map_err(refused)?;
            must_be_active(&project)?;
            let is_new = member.role != role;
            member.role = role;
            // A caller who changed their own role sees the response with the new one.
            let viewer = MemberViewer { user_id: caller.user_id, role: if target.own { role } else { actor } };
            if !is_new {
                return Ok(((member, viewer), Vec::new()));
            }
            store::set_role(conn, member_id, role).await?;
            let mut records = vec![record_change(conn, project_id, MemberChanged::to(&member), now, &request).await?];
            if role != ProjectRole::Owner {
                records.extend(transfer_ownership(conn, project, member.user_id, successor, now, &request).await?);
            }
            Ok(((member, viewer), records))
        })
    })
    .await?;
    Ok(ProjectMember::of(member, viewer))
}

/// Removes a member from a project, by the member or by a member with a sufficient role, and revokes an open invitation
/// of the member's address.
///
/// # Errors
/// 403 for a role that the caller may not take; 404 for an unknown member; 409 for the last OWNER, and in an archived
/// project.
pub async fn remove(
    state: &Projects,
    caller: Caller,
    project_id: Id<ids::Project>,
    member_id: Id<ids::Member>,
    request: RequestId,
) -> Result<(), ApiError> {
    let now = state.now();
    let found = state.db.read(move |conn| Box::pin(store::find(conn, project_id, member_id))).await;
    let found = found.map_err(ApiError::from)?.ok_or_else(|| ApiError::of(Code::NOT_FOUND))?;
    let ended = EndedMembership { project_id, user_id: found.user_id, at: now, request: request.clone() };
    let (hooks, own) = (state.membership_hooks.clone(), ended.clone());
    change_members(state, project_id, Some(ended), move |conn| {
        Box::pin(async move {
            let HeldMember { project, actor, member, target, successor } =
                lock_member(conn, project_id, member_id, caller).await?;
            model::removal(actor, target).map_err(refused)?;
            must_be_active(&project)?;
            if let Some(open) = store::invitations::open(conn, project_id, &member.email).await? {
                store::invitations::revoke(conn, open.id, now).await?;
            }
            let mut records = hooks.end(conn, &own).await?;
            records.extend(take_out(conn, project, &member, successor, now, &request).await?);
            Ok(((), records))
        })
    })
    .await
}

/// Lists a project's stakeholders, newest first.
///
/// # Errors
/// Only database errors.
pub async fn stakeholders(
    state: &Projects,
    project_id: Id<ids::Project>,
    listing: Listing<StakeholderFilter>,
) -> Result<List<Stakeholder>, ApiError> {
    // A transaction, so that its queries see one consistent state.
    let read = async move |conn: &mut Conn| store::stakeholders::list(conn, project_id, listing).await;
    let found = state.db.read(move |conn| Box::pin(conn.transaction(read))).await;
    found.map_err(|failed: DbError| ApiError::from(failed))
}

/// Runs a change of a project's members to completion, independent of the request. While it is written, no role of the
/// project is cached; afterwards its events are published.
async fn change_members<T: Send + 'static>(
    state: &Projects,
    project_id: Id<ids::Project>,
    ended: Option<EndedMembership>,
    job: impl for<'c> FnOnce(&'c mut Conn) -> BoxFuture<'c, Result<(T, Vec<EventRecord>), ApiError>> + Send + 'static,
) -> Result<T, ApiError> {
    let (answer, settled) = oneshot::channel();
    let own = state.clone();
    state.tasks.spawn(async move {
        let changing = own.roles.change(project_id);
        let written = own.db.write(job).await;
        drop(changing);
        if let Some(ended) = ended {
            own.membership_hooks.after_end(&ended).await;
        }
        let written = match written {
            Ok((done, records)) => {
                own.hub.publish(records);
                Ok(done)
            }
            Err(failure) => {
                // The change may be committed nevertheless, so the hub reads the topic again.
                if failure.code == Code::SERVICE_UNAVAILABLE {
                    own.hub.doubt(&[topic(project_id)]);
                }
                Err(failure)
            }
        };
        // The caller may no longer wait for the result.
        let _ = answer.send(written);
    });
    settled.await.unwrap_or_else(|_| Err(ApiError::internal("a change of members did not finish")))
}

/// A project and one of its members, locked until the end of the transaction: no other transaction changes members
/// meanwhile.
struct HeldMember {
    project: Project,
    /// The caller's present role, which may be lower than when the request began.
    actor: ProjectRole,
    member: Member,
    target: Target,
    /// Of the other OWNERs, the one who joined first.
    successor: Option<Id<User>>,
}

async fn lock_member(
    conn: &mut Conn,
    project_id: Id<ids::Project>,
    member_id: Id<ids::Member>,
    caller: Caller,
) -> Result<HeldMember, ApiError> {
    let project = locked(conn, project_id).await?;
    let actor = acting(conn, project_id, caller).await?;
    let member = store::find(conn, project_id, member_id).await?.ok_or_else(|| ApiError::of(Code::NOT_FOUND))?;
    let successor = store::owners(conn, project_id).await?.into_iter().find(|owner| *owner != member.user_id);
    let last_owner = member.role == ProjectRole::Owner && successor.is_none();
    let target = Target { role: member.role, own: member.user_id == caller.user_id, last_owner };
    Ok(HeldMember { project, actor, member, target, successor })
}

async fn locked(conn: &mut Conn, project_id: Id<ids::Project>) -> Result<Project, ApiError> {
    projects::find_to_change(conn, project_id).await?.ok_or_else(|| ApiError::of(Code::NOT_FOUND))
}

async fn acting(conn: &mut Conn, project_id: Id<ids::Project>, caller: Caller) -> Result<ProjectRole, ApiError> {
    projects::role(conn, project_id, caller.user_id).await?.ok_or_else(|| ApiError::of(Code::FORBIDDEN))
}

fn refused(refusal: Refusal) -> ApiError {
    ApiError::of(match refusal {
        Refusal::NotAllowed => Code::FORBIDDEN,
        Refusal::LastOwner => Code::LAST_OWNER,
    })
}

/// Ends a membership and records the event; `successor` as in [`transfer_ownership`].
///
/// # Errors
/// Only database errors.
pub async fn take_out(
    conn: &mut Conn,
    project: Project,
    member: &Member,
    successor: Option<Id<User>>,
    now: Time,
    request: &RequestId,
) -> Result<Vec<EventRecord>, DbError> {
    store::delete(conn, member.id).await?;
    let mut records = vec![record_change(conn, project.id, MemberChanged::removed(member), now, request).await?];
    records.extend(transfer_ownership(conn, project, member.user_id, successor, now, request).await?);
    Ok(records)
}

/// Makes `successor` the project's `ownerId` if it was `from`.
async fn transfer_ownership(
    conn: &mut Conn,
    mut project: Project,
    from: Id<User>,
    successor: Option<Id<User>>,
    now: Time,
    request: &RequestId,
) -> Result<Option<EventRecord>, DbError> {
    let Some(successor) = successor.filter(|_| project.owner_id == from) else { return Ok(None) };
    project.owner_id = successor;
    project.updated_at = now;
    projects::set_owner(conn, &project).await?;
    record_event(conn, &project, EventKind::ProjectUpdated, now, request).await.map(Some)
}

async fn record_change(
    conn: &mut Conn,
    project_id: Id<ids::Project>,
    changed: MemberChanged,
    now: Time,
    request: &RequestId,
) -> Result<EventRecord, DbError> {
    let data = serde_json::to_string(&changed).map_err(|error| DbError::Broken(error.to_string()))?;
    events::append(conn, topic(project_id), EventKind::MemberChanged, &data, now, request).await
}
