//! Project Lookup, one function an operation; what is done with invitations has a file of its own.
//!
//! A change of members is settled apart from its request: a client that goes away in the middle must not leave behind a
//! membership that was taken from the database and is still remembered, or that nobody was told of.

pub mod invitations;

use actors::ids::{self, Id, User};
use actors::live::{RequestId, Told};
use actors::time::Time;
use futures_util::future::BoxFuture;
use tokio::sync::oneshot;

use super::membership_end::EndedMembership;
use super::model::{self, Member, MemberChanged, ProjectMember, Refusal, Stakeholder, Target, Viewer};
use super::store::{self, Filter, Searched, StakeholderFilter};
use crate::access::caller::Caller;
use crate::access::role::ProjectRole;
use crate::db::{Conn, Failed, events};
use crate::http::code::Code;
use crate::http::envelope::List;
use crate::http::failure::Failure;
use crate::http::page::Page;
use crate::projects::events::{tell, topic};
use crate::projects::model::Project;
use crate::projects::state::Projects;
use crate::projects::{must_be_active, store as projects};

/// A project's members, who joined last at the beginning.
///
/// # Errors
/// The database's own.
pub async fn list(
    state: &Projects,
    project_id: Id<ids::Project>,
    viewer: Viewer,
    filter: Filter,
    page: Page,
) -> Result<List<ProjectMember>, Failure> {
    let searched = if viewer.sees_emails() { Searched::NamesAndEmails } else { Searched::Names };
    let read = state
        .db
        .read(move |conn| Box::pin(async move { store::list(conn, project_id, &filter, searched, &page).await }));
    let (found, total_count) = read.await.map_err(Failure::from)?;
    let (found, next_cursor) = page.cut(found, |member| member.id.uuid());
    let items = found.into_iter().map(|member| ProjectMember::of(member, viewer)).collect();
    Ok(List { items, next_cursor, total_count })
}

/// Changes what a member may do; the role they have already changes nothing.
///
/// # Errors
/// 403 where the caller may not take the one role or give the other; 409 for the last OWNER, and in an archived project.
pub async fn change_role(
    state: &Projects,
    caller: Caller,
    project_id: Id<ids::Project>,
    member_id: Id<ids::Member>,
    role: ProjectRole,
    request: RequestId,
) -> Result<ProjectMember, Failure> {
    let now = state.now();
    let (member, viewer) = settle(state, project_id, None, move |conn| {
        Box::pin(async move {
            let Held { project, actor, mut member, target, heir } = hold(conn, project_id, member_id, caller).await?;
            model::change(actor, target, role).map_err(refused)?;
            must_be_active(&project)?;
            let is_new = member.role != role;
            member.role = role;
            // Who gave their own role away sees with the new one.
            let viewer = Viewer { user_id: caller.user_id, role: if target.own { role } else { actor } };
            if !is_new {
                return Ok(((member, viewer), Vec::new()));
            }
            store::set_role(conn, member_id, role).await?;
            let mut told = vec![tell_changed(conn, project_id, MemberChanged::to(&member), now, &request).await?];
            if role != ProjectRole::Owner {
                told.extend(hand_over(conn, project, member.user_id, heir, now, &request).await?);
            }
            Ok(((member, viewer), told))
        })
    })
    .await?;
    Ok(ProjectMember::of(member, viewer))
}

/// Takes a member out of a project, by themself or by who may; an invitation that waits for them is worth nothing.
///
/// # Errors
/// 403 for a role that the caller may not take; 409 for the last OWNER, and in an archived project.
pub async fn remove(
    state: &Projects,
    caller: Caller,
    project_id: Id<ids::Project>,
    member_id: Id<ids::Member>,
    request: RequestId,
) -> Result<(), Failure> {
    let now = state.now();
    let found = state.db.read(move |conn| Box::pin(store::find(conn, project_id, member_id))).await;
    let found = found.map_err(Failure::from)?.ok_or_else(|| Failure::of(Code::NOT_FOUND))?;
    let ended = EndedMembership { project_id, user_id: found.user_id, at: now, request: request.clone() };
    let (hooks, own) = (state.membership_hooks.clone(), ended.clone());
    settle(state, project_id, Some(ended), move |conn| {
        Box::pin(async move {
            let Held { project, actor, member, target, heir } = hold(conn, project_id, member_id, caller).await?;
            model::removal(actor, target).map_err(refused)?;
            must_be_active(&project)?;
            store::invitations::revoke(conn, project_id, &member.email, now).await?;
            let mut told = hooks.end(conn, &own).await?;
            told.extend(take_out(conn, project, &member, heir, now, &request).await?);
            Ok(((), told))
        })
    })
    .await
}

/// Who has a stake in a project, newest first.
///
/// # Errors
/// The database's own.
pub async fn stakeholders(
    state: &Projects,
    project_id: Id<ids::Project>,
    filter: StakeholderFilter,
    page: Page,
) -> Result<List<Stakeholder>, Failure> {
    // Several queries that must see one state.
    let read = async move |conn: &mut Conn| store::stakeholders::list(conn, project_id, &filter, &page).await;
    let found = state.db.read(move |conn| Box::pin(conn.transaction(read))).await;
    let (found, total_count) = found.map_err(|failed: Failed| Failure::from(failed))?;
    let (items, next_cursor) = page.cut(found, |one| one.id.uuid());
    Ok(List { items, next_cursor, total_count })
}

/// Writes a change of a project's members to its end, whatever becomes of the request: while it is written no role of the
/// project is remembered, and afterwards everybody is told.
async fn settle<T: Send + 'static>(
    state: &Projects,
    project_id: Id<ids::Project>,
    ended: Option<EndedMembership>,
    job: impl for<'c> FnOnce(&'c mut Conn) -> BoxFuture<'c, Result<(T, Vec<Told>), Failure>> + Send + 'static,
) -> Result<T, Failure> {
    let (answer, settled) = oneshot::channel();
    let own = state.clone();
    state.tasks.spawn(async move {
        let changing = own.roles.change(project_id);
        let written = own.db.write(job).await;
        drop(changing);
        if let Some(ended) = ended {
            own.membership_hooks.settle(&ended).await;
        }
        let written = match written {
            Ok((done, told)) => {
                own.hub.tell(told);
                Ok(done)
            }
            Err(failure) => {
                // It may have been written all the same.
                if failure.code == Code::SERVICE_UNAVAILABLE {
                    own.hub.doubt(&[topic(project_id)]);
                }
                Err(failure)
            }
        };
        // Nobody waiting for it any longer is fine.
        let _ = answer.send(written);
    });
    settled.await.unwrap_or_else(|_| Err(Failure::internal("a change of members did not come to its end")))
}

/// A project and a member of it that are held until the end of the transaction: nobody else changes members meanwhile.
struct Held {
    project: Project,
    /// What the caller is now, which may be less than when the request began.
    actor: ProjectRole,
    member: Member,
    target: Target,
    /// The OWNER, other than this member, who joined first.
    heir: Option<Id<User>>,
}

async fn hold(
    conn: &mut Conn,
    project_id: Id<ids::Project>,
    member_id: Id<ids::Member>,
    caller: Caller,
) -> Result<Held, Failure> {
    let project = locked(conn, project_id).await?;
    let actor = acting(conn, project_id, caller).await?;
    let member = store::find(conn, project_id, member_id).await?.ok_or_else(|| Failure::of(Code::NOT_FOUND))?;
    let heir = store::owners(conn, project_id).await?.into_iter().find(|owner| *owner != member.user_id);
    let last_owner = member.role == ProjectRole::Owner && heir.is_none();
    let target = Target { role: member.role, own: member.user_id == caller.user_id, last_owner };
    Ok(Held { project, actor, member, target, heir })
}

async fn locked(conn: &mut Conn, project_id: Id<ids::Project>) -> Result<Project, Failure> {
    projects::find_to_change(conn, project_id).await?.ok_or_else(|| Failure::of(Code::NOT_FOUND))
}

async fn acting(conn: &mut Conn, project_id: Id<ids::Project>, caller: Caller) -> Result<ProjectRole, Failure> {
    projects::role(conn, project_id, caller.user_id).await?.ok_or_else(|| Failure::of(Code::FORBIDDEN))
}

fn refused(refusal: Refusal) -> Failure {
    Failure::of(match refusal {
        Refusal::NotAllowed => Code::FORBIDDEN,
        Refusal::LastOwner => Code::LAST_OWNER,
    })
}

/// Ends a membership, and tells it; `heir` as in [`hand_over`].
///
/// # Errors
/// The database's own.
pub async fn take_out(
    conn: &mut Conn,
    project: Project,
    member: &Member,
    heir: Option<Id<User>>,
    now: Time,
    request: &RequestId,
) -> Result<Vec<Told>, Failed> {
    store::delete(conn, member.id).await?;
    let mut told = vec![tell_changed(conn, project.id, MemberChanged::gone(member), now, request).await?];
    told.extend(hand_over(conn, project, member.user_id, heir, now, request).await?);
    Ok(told)
}

/// Where the project's `ownerId` was this account, it becomes the heir's.
async fn hand_over(
    conn: &mut Conn,
    mut project: Project,
    from: Id<User>,
    heir: Option<Id<User>>,
    now: Time,
    request: &RequestId,
) -> Result<Option<Told>, Failed> {
    let Some(heir) = heir.filter(|_| project.owner_id == from) else { return Ok(None) };
    project.owner_id = heir;
    project.updated_at = now;
    projects::set_owner(conn, &project).await?;
    tell(conn, &project, "project.updated", now, request).await.map(Some)
}

async fn tell_changed(
    conn: &mut Conn,
    project_id: Id<ids::Project>,
    changed: MemberChanged,
    now: Time,
    request: &RequestId,
) -> Result<Told, Failed> {
    let data = serde_json::to_string(&changed).map_err(|error| Failed::Broken(error.to_string()))?;
    events::append(conn, topic(project_id), "member.changed", &data, now, request).await
}
