//! Projects, one function an operation.

use actors::ids::{self, Id};
use actors::live::RequestId;

use super::deletion;
use super::events::tell;
use super::model::{Counts, Description, MyProject, Name, Project, ProjectStatus};
use super::store::{self, Filter};
use crate::access::caller::Caller;
use crate::access::role::ProjectRole;
use crate::accounts;
use crate::accounts::model::Language;
use crate::http::code::Code;
use crate::http::envelope::List;
use crate::http::failure::Failure;
use crate::http::page::Page;
use crate::projects::state::Projects;

/// Makes a project whose owner is the caller. Under an id that was made before, gives that project.
///
/// # Errors
/// The database's own.
pub async fn create(
    state: &Projects,
    caller: Caller,
    id: Id<ids::Project>,
    name: Name,
    description: Description,
    language: Language,
) -> Result<MyProject, Failure> {
    let now = state.now();
    let project = Project {
        id,
        name: name.0,
        description: description.0,
        language,
        status: ProjectStatus::Active,
        owner_id: caller.user_id,
        version: 1,
        created_at: now,
        updated_at: now,
    };
    state
        .db
        .write(move |conn| {
            Box::pin(async move {
                if store::insert(conn, &project).await? {
                    // Looked at once the row names it, which a deletion of the account waits for.
                    let owner = accounts::store::account(conn, project.owner_id).await?;
                    owner.ok_or_else(|| Failure::of(Code::UNAUTHORIZED))?;
                    let counts = Counts { members: 1, ..Counts::default() };
                    return Ok::<_, Failure>(MyProject { project, my_role: ProjectRole::Owner, counts });
                }
                let project = store::find(conn, id).await?.ok_or_else(|| Failure::of(Code::CONFLICT))?;
                let counts = store::counts(conn, id).await?;
                Ok(MyProject { project, my_role: ProjectRole::Owner, counts })
            })
        })
        .await
}

/// The caller's projects, newest first.
///
/// # Errors
/// The database's own.
pub async fn list(state: &Projects, caller: Caller, filter: Filter, page: Page) -> Result<List<MyProject>, Failure> {
    state
        .db
        .read(move |conn| {
            Box::pin(async move {
                let (found, total_count) = store::list(conn, caller.user_id, &filter, &page).await?;
                let (found, next_cursor) = page.cut(found, |(project, _)| project.id.uuid());
                let mut items = Vec::with_capacity(found.len());
                for (project, my_role) in found {
                    let counts = store::counts(conn, project.id).await?;
                    items.push(MyProject { project, my_role, counts });
                }
                Ok(List { items, next_cursor, total_count })
            })
        })
        .await
}

/// A project with what it holds.
///
/// # Errors
/// The database's own.
pub async fn details(state: &Projects, project: Project, my_role: ProjectRole) -> Result<MyProject, Failure> {
    let id = project.id;
    let counts = state.db.read(move |conn| Box::pin(store::counts(conn, id))).await.map_err(Failure::from)?;
    Ok(MyProject { project, my_role, counts })
}

/// What an edit changes.
#[derive(Debug)]
pub struct Edit {
    pub name: Option<Name>,
    pub description: Option<Description>,
    pub language: Option<Language>,
    pub status: Option<ProjectStatus>,
}

impl Edit {
    /// Whether an archived project takes it: one that wakes it, or names its status alone.
    fn may_be_archived(&self) -> bool {
        let status_alone = self.name.is_none() && self.description.is_none() && self.language.is_none();
        matches!((self.status, status_alone), (Some(ProjectStatus::Active), _) | (Some(_), true))
    }
}

/// Edits a project. Of two edits of different fields both survive; nothing that differs is no edit.
///
/// # Errors
/// 412 for a stale version, 409 for an edit of an archived project that does not wake it.
pub async fn edit(
    state: &Projects,
    id: Id<ids::Project>,
    my_role: ProjectRole,
    edit: Edit,
    version: Option<i64>,
    request: RequestId,
) -> Result<MyProject, Failure> {
    let now = state.now();
    let (project, counts, told) = state
        .db
        .write(move |conn| {
            Box::pin(async move {
                let before = store::find_to_change(conn, id).await?.ok_or_else(|| Failure::of(Code::NOT_FOUND))?;
                if version.is_some_and(|version| version != before.version) {
                    return Err(Failure::of(Code::PRECONDITION_FAILED));
                }
                if !edit.may_be_archived() {
                    super::must_be_active(&before)?;
                }
                let mut project = before.clone();
                project.name = edit.name.map_or(project.name, |name| name.0);
                project.description = edit.description.map_or(project.description, |description| description.0);
                project.language = edit.language.unwrap_or(project.language);
                project.status = edit.status.unwrap_or(project.status);
                let counts = store::counts(conn, id).await?;
                if project == before {
                    return Ok((project, counts, None));
                }
                project.version += 1;
                project.updated_at = now;
                if !store::update(conn, &project, before.version).await? {
                    return Err(Failure::unavailable("two edits of a project met"));
                }
                let told = tell(conn, &project, "project.updated", now, &request).await?;
                Ok((project, counts, Some(told)))
            })
        })
        .await?;
    state.hub.tell(told.into_iter().collect());
    Ok(MyProject { project, my_role, counts })
}

/// Deletes a project with all that belongs to it.
///
/// # Errors
/// 409 while a meeting is LIVE or a run unfinished, and for an archived project.
pub async fn delete(state: &Projects, project: Project, request: RequestId) -> Result<(), Failure> {
    let now = state.now();
    let (id, jobs, asked) = (project.id, state.jobs.clone(), request.clone());
    super::must_be_active(&project)?;
    // Whatever comes of it: it may be written though nobody heard so.
    let changing = state.roles.change(id);
    let told = state
        .db
        .write(move |conn| {
            Box::pin(async move {
                let project = store::find_to_change(conn, id).await?.ok_or_else(|| Failure::of(Code::NOT_FOUND))?;
                deletion::bury(conn, &jobs, &project, now, &asked).await
            })
        })
        .await;
    drop(changing);
    state.hub.tell(vec![told?]);
    deletion::begin(state, id, deletion::in_a_moment(), &request).await;
    Ok(())
}
