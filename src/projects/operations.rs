//! Operations on projects, one function each.

use actors::event_kind::EventKind;
use actors::ids::{self, Id};
use actors::live::RequestId;

use super::bodies::{CreateProject, EditProject, Filter};
use super::deletion;
use super::events::record_event;
use super::model::{Counts, MyProject, Project, ProjectStatus};
use super::store::{self, ProjectContents};
use crate::access::principal::Caller;
use crate::access::role::ProjectRole;
use crate::accounts;
use crate::db::number;
use crate::http::code::Code;
use crate::http::envelope::List;
use crate::http::error::ApiError;
use crate::http::list::Listing;
use crate::projects::state::Projects;
use crate::quotas::model::{CountedKind, ProjectStorage};

/// Creates a project owned by the caller. If the id exists already, returns that project.
///
/// # Errors
/// 401 if the account was deleted in the meantime; 409 if the id belongs to a deleted project, or if the account owns as many
/// projects as it may; otherwise only database errors.
pub async fn create(
    state: &Projects,
    caller: Caller,
    id: Id<ids::Project>,
    body: CreateProject,
) -> Result<MyProject, ApiError> {
    let now = state.now();
    let mut project = Project::new(id, caller.user_id, body.name.0, now);
    project.description = body.description.unwrap_or_default().0;
    project.language = body.language.unwrap_or(project.language);
    let (kind, owner) = (CountedKind::ProjectsOfAccount, caller.user_id.uuid());
    let counted = state.quotas.count_unless_made(kind, owner, 1, move |conn| Box::pin(store::find(conn, id))).await?;
    let made = state
        .db
        .write(move |conn| {
            Box::pin(async move {
                if store::insert(conn, &project).await? {
                    // Read after the insert: from then on the deletion of the account waits for this transaction.
                    let owner = accounts::store::account(conn, project.owner_id).await?;
                    owner.ok_or_else(|| ApiError::of(Code::UNAUTHORIZED))?;
                    let counts = Counts { members: 1, ..Counts::default() };
                    return Ok::<_, ApiError>((project, ProjectContents { counts, ..ProjectContents::default() }));
                }
                let project = store::find(conn, id).await?.ok_or_else(|| ApiError::of(Code::CONFLICT))?;
                let contents = store::contents(conn, id).await?;
                Ok((project, contents))
            })
        })
        .await;
    drop(counted);
    let (project, contents) = made?;
    Ok(mine(state, project, ProjectRole::Owner, contents))
}

fn mine(state: &Projects, project: Project, my_role: ProjectRole, contents: ProjectContents) -> MyProject {
    let analysis_engines = state.config.engines(&project.id.to_string());
    let limit = match contents.quota_bytes {
        Some(own) => Some(own).filter(|own| *own > 0),
        None => state.quotas.project_limit().map(number),
    };
    let storage = ProjectStorage { used_bytes: contents.stored_bytes, limit_bytes: limit };
    MyProject { project, my_role, counts: contents.counts, analysis_engines, storage }
}

/// Lists the caller's projects, newest first.
///
/// # Errors
/// Only database errors.
pub async fn list(state: &Projects, caller: Caller, listing: Listing<Filter>) -> Result<List<MyProject>, ApiError> {
    let found = state.db.read(move |conn| Box::pin(store::list(conn, caller.user_id, listing))).await;
    Ok(found.map_err(ApiError::from)?.map(|(project, my_role, contents)| mine(state, project, my_role, contents)))
}

/// Returns a project with its counts.
///
/// # Errors
/// Only database errors.
pub async fn details(state: &Projects, project: Project, my_role: ProjectRole) -> Result<MyProject, ApiError> {
    let id = project.id;
    let contents = state.db.read(move |conn| Box::pin(store::contents(conn, id))).await.map_err(ApiError::from)?;
    Ok(mine(state, project, my_role, contents))
}

/// Edits a project. Concurrent edits of different fields are both kept; an edit that changes nothing does not count as
/// one.
///
/// # Errors
/// 412 for a stale version; 409 for an edit of an archived project that does not make it active again.
pub async fn edit(
    state: &Projects,
    id: Id<ids::Project>,
    my_role: ProjectRole,
    body: EditProject,
    version: Option<i64>,
    request: RequestId,
) -> Result<MyProject, ApiError> {
    let now = state.now();
    // Held whatever the outcome is: the change may be committed although the result is unknown.
    let changing = state.roles.change(id);
    let changed = state
        .db
        .write(move |conn| {
            Box::pin(async move {
                let before = store::find_to_change(conn, id).await?.ok_or_else(|| ApiError::of(Code::NOT_FOUND))?;
                if version.is_some_and(|version| version != before.version) {
                    return Err(ApiError::of(Code::PRECONDITION_FAILED));
                }
                if !is_allowed_while_archived(&body) {
                    super::must_be_active(&before)?;
                }
                let mut project = before.clone();
                project.name = body.name.map_or(project.name, |name| name.0);
                project.description = body.description.map_or(project.description, |description| description.0);
                project.language = body.language.unwrap_or(project.language);
                project.status = body.status.unwrap_or(project.status);
                project.signed_approvals = body.signed_approvals.unwrap_or(project.signed_approvals);
                let contents = store::contents(conn, id).await?;
                if project == before {
                    return Ok((project, contents, None));
                }
                project.version += 1;
                project.updated_at = now;
                if !store::update(conn, &project, before.version).await? {
                    return Err(ApiError::unavailable("two edits of the project conflicted"));
                }
                let record = record_event(conn, &project, EventKind::ProjectUpdated, now, &request).await?;
                Ok((project, contents, Some(record)))
            })
        })
        .await;
    drop(changing);
    let (project, contents, record) = changed?;
    state.hub.publish(record.into_iter().collect());
    Ok(mine(state, project, my_role, contents))
}

/// Whether an edit is allowed in an archived project: one that makes it active again, or that sets only the status.
fn is_allowed_while_archived(edit: &EditProject) -> bool {
    // Named one by one, so that a new field does not compile without it.
    let EditProject { name, description, language, status, signed_approvals } = edit;
    let status_alone = name.is_none() && description.is_none() && language.is_none() && signed_approvals.is_none();
    matches!((status, status_alone), (Some(ProjectStatus::Active), _) | (Some(_), true))
}

/// Deletes a project and everything in it.
///
/// # Errors
/// 409 while a meeting is LIVE or a run is unfinished, and for an archived project.
pub async fn delete(state: &Projects, project: Project, request: RequestId) -> Result<(), ApiError> {
    let now = state.now();
    let (id, jobs, request_id) = (project.id, state.jobs.clone(), request.clone());
    super::must_be_active(&project)?;
    // Held whatever the outcome is: the change may be committed although the result is unknown.
    let changing = state.roles.change(id);
    let record = state
        .db
        .write(move |conn| {
            Box::pin(async move {
                let project = store::find_to_change(conn, id).await?.ok_or_else(|| ApiError::of(Code::NOT_FOUND))?;
                deletion::hide_and_enqueue_deletion(conn, &jobs, &project, now, &request_id).await
            })
        })
        .await;
    // Subscribers hear of the end before their access is looked at again, which says only that they have none.
    state.hub.publish(vec![record?]);
    drop(changing);
    deletion::begin(state, id, deletion::in_a_moment(), &request).await;
    Ok(())
}
