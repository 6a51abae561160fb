//! Queries of projects and memberships.

pub mod deletion;

use std::collections::HashMap;

use actors::ids::{self, Id, Member, User};
use actors::language::Language;
use actors::meeting::MeetingStatus;
use actors::run::AiRunStatus;
use actors::time::Time;
use diesel::{
    BoolExpressionMethods, ExpressionMethods, Insertable, JoinOnDsl, OptionalExtension, QueryDsl, Queryable, Selectable,
};

use super::bodies::Filter;
use super::model::{Counts, Project, ProjectStatus};
use crate::access::role::ProjectRole;
use crate::db::schema::{documents, items, meetings, members, projects, runs};
use crate::db::{Columns, Conn, DbError, RunQueryDsl, contains, is_found, is_wanted, kept, page_of};
use crate::http::envelope::List;
use crate::http::list::Listing;
use crate::projects::item_kind::ItemKind;
use crate::quotas::StoredBytes;

#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = projects)]
struct ProjectRow {
    id: Id<ids::Project>,
    name: String,
    description: String,
    language: Language,
    status: ProjectStatus,
    owner_id: Id<User>,
    version: i64,
    created_at: Time,
    updated_at: Time,
    signed_approvals: bool,
}

impl From<ProjectRow> for Project {
    fn from(row: ProjectRow) -> Self {
        Self {
            id: row.id,
            language: row.language,
            status: row.status,
            name: row.name,
            description: row.description,
            owner_id: row.owner_id,
            version: row.version,
            created_at: row.created_at,
            updated_at: row.updated_at,
            signed_approvals: row.signed_approvals,
        }
    }
}

pub async fn find(conn: &mut Conn, id: Id<ids::Project>) -> Result<Option<Project>, DbError> {
    let found = projects::table.find(id).filter(projects::status.ne(deletion::BURIED));
    let row: Option<ProjectRow> = found.select(ProjectRow::columns()).first(conn).await.optional()?;
    Ok(row.map(Project::from))
}

/// Like [`find`], for a transaction that goes on to change the project: locks the row, so that a second transaction
/// waits and sees what the first one wrote.
pub async fn find_to_change(conn: &mut Conn, id: Id<ids::Project>) -> Result<Option<Project>, DbError> {
    // Changes nothing but locks the row, in a statement that both databases support.
    diesel::update(projects::table.find(id)).set(projects::version.eq(projects::version)).execute(conn).await?;
    find(conn, id).await
}

/// The role of a user in a project; `None` if the user is not a member.
pub async fn role(conn: &mut Conn, id: Id<ids::Project>, user_id: Id<User>) -> Result<Option<ProjectRole>, DbError> {
    Ok(members::table
        .filter(members::project_id.eq(id))
        .filter(members::user_id.eq(user_id))
        .select(members::role)
        .first(conn)
        .await
        .optional()?)
}

/// Like [`role`], for several users; those who are not members are omitted.
pub async fn roles(
    conn: &mut Conn,
    id: Id<ids::Project>,
    user_ids: &[Id<User>],
) -> Result<HashMap<Id<User>, ProjectRole>, DbError> {
    let these = members::table.filter(members::project_id.eq(id)).filter(members::user_id.eq_any(user_ids));
    let roles: Vec<(Id<User>, ProjectRole)> = these.select((members::user_id, members::role)).load(conn).await?;
    Ok(roles.into_iter().collect())
}

/// Inserts a project and its owner's membership, unless the project's id exists already. Returns whether it was
/// inserted.
pub async fn insert(conn: &mut Conn, project: &Project) -> Result<bool, DbError> {
    let row = ProjectRow {
        id: project.id,
        name: project.name.clone(),
        description: project.description.clone(),
        language: project.language,
        status: project.status,
        owner_id: project.owner_id,
        version: project.version,
        created_at: project.created_at,
        updated_at: project.updated_at,
        signed_approvals: project.signed_approvals,
    };
    if diesel::insert_into(projects::table).values(&row).on_conflict_do_nothing().execute(conn).await? == 0 {
        return Ok(false);
    }
    let owner = (
        members::id.eq(Id::<Member>::generate()),
        members::project_id.eq(project.id),
        members::user_id.eq(project.owner_id),
        members::role.eq(ProjectRole::Owner),
        members::joined_at.eq(project.created_at),
    );
    diesel::insert_into(members::table).values(owner).execute(conn).await?;
    Ok(true)
}

/// Updates a project if the stored version still equals `before`. Returns whether it did.
pub async fn update(conn: &mut Conn, project: &Project, before: i64) -> Result<bool, DbError> {
    // Named one by one, so that a new field does not compile without it.
    let Project {
        id,
        name,
        description,
        language,
        status,
        owner_id: _,
        version,
        created_at: _,
        updated_at,
        signed_approvals,
    } = project;
    let updated = diesel::update(projects::table.find(*id)).filter(projects::version.eq(before)).set((
        projects::name.eq(name.clone()),
        projects::description.eq(description.clone()),
        projects::language.eq(*language),
        projects::status.eq(*status),
        projects::version.eq(*version),
        projects::updated_at.eq(*updated_at),
        projects::signed_approvals.eq(*signed_approvals),
    ));
    Ok(kept(updated).execute(conn).await? == 1)
}

/// Sets another owner. The version stays the same, so that no user's edit becomes stale.
pub async fn set_owner(conn: &mut Conn, project: &Project) -> Result<(), DbError> {
    diesel::update(projects::table.find(project.id))
        .set((projects::owner_id.eq(project.owner_id), projects::updated_at.eq(project.updated_at)))
        .execute(conn)
        .await?;
    Ok(())
}

/// Whether a meeting is LIVE or a run is unfinished, in which case the project cannot be deleted.
pub async fn is_busy(conn: &mut Conn, id: Id<ids::Project>) -> Result<bool, DbError> {
    let live = meetings::table.filter(meetings::project_id.eq(id)).filter(meetings::status.eq(MeetingStatus::Live));
    let unfinished = runs::table
        .filter(runs::project_id.eq(id))
        .filter(runs::status.eq_any([AiRunStatus::Queued, AiRunStatus::Processing]));
    let live: i64 = live.count().get_result(conn).await?;
    let unfinished: i64 = unfinished.count().get_result(conn).await?;
    Ok(live + unfinished > 0)
}

/// What a project has.
#[derive(Debug, Clone, Copy, Default)]
pub struct ProjectContents {
    pub counts: Counts,
    pub stored_bytes: i64,
    /// What an operator has set for it.
    pub quota_bytes: Option<i64>,
}

pub async fn contents(conn: &mut Conn, id: Id<ids::Project>) -> Result<ProjectContents, DbError> {
    let contents = projects::table.find(id).select((counts_of(projects::id), StoredBytes, projects::quota_bytes));
    let found: Option<(FiveCounts, i64, Option<i64>)> = contents.first(conn).await.optional()?;
    Ok(found.map(read_contents).unwrap_or_default())
}

fn read_contents((counts, stored_bytes, quota_bytes): (FiveCounts, i64, Option<i64>)) -> ProjectContents {
    ProjectContents { counts: read_counts(counts), stored_bytes, quota_bytes }
}

diesel::alias!(members as all_members: AllMembers);

/// Counts what the project of a row has: expressions of the row's own statement, because each statement is a round trip to
/// PostgreSQL, and a transaction of its own on SQLite.
#[diesel::dsl::auto_type(no_type_alias)]
fn counts_of(id: projects::id) -> _ {
    let requirement: ItemKind = ItemKind::Requirement;
    let story: ItemKind = ItemKind::UserStory;
    let requirements = items::table.filter(items::project_id.eq(id)).filter(items::kind.eq(requirement));
    let stories = items::table.filter(items::project_id.eq(id)).filter(items::kind.eq(story));
    (
        all_members.filter(all_members.field(members::project_id).eq(id)).count().single_value(),
        documents::table.filter(documents::project_id.eq(id)).count().single_value(),
        meetings::table.filter(meetings::project_id.eq(id)).count().single_value(),
        requirements.count().single_value(),
        stories.count().single_value(),
    )
}

/// A count of a select is nullable.
type Count = Option<i64>;
type FiveCounts = (Count, Count, Count, Count, Count);

fn read_counts(counts: FiveCounts) -> Counts {
    let counts: [Count; 5] = counts.into();
    let [members, documents, meetings, requirements, user_stories] = counts.map(Option::unwrap_or_default);
    Counts { members, documents, meetings, requirements, user_stories }
}

/// A row of the list of projects.
type Listed = (ProjectRow, ProjectRole, (FiveCounts, i64, Option<i64>));

/// Lists a user's projects with the user's role in each, newest first.
pub async fn list(
    conn: &mut Conn,
    user_id: Id<User>,
    Listing { filter, page }: Listing<Filter>,
) -> Result<List<(Project, ProjectRole, ProjectContents)>, DbError> {
    let listed = projects::table
        .inner_join(members::table.on(members::project_id.eq(projects::id)))
        .filter(members::user_id.eq(user_id))
        .filter(is_wanted(projects::status, filter.status))
        .filter(is_found(filter.search.as_ref(), |pattern| {
            contains(projects::name, pattern).or(contains(projects::description, pattern))
        }));
    let contents = (counts_of(projects::id), StoredBytes, projects::quota_bytes);
    let columns = (ProjectRow::columns(), members::role, contents);
    let (rows, total): (Vec<Listed>, _) = page_of!(conn, page, listed, projects::id, columns);
    let listed = page.list(rows, total, |(row, ..)| row.id.uuid());
    Ok(listed.map(|(row, role, contents)| (row.into(), role, read_contents(contents))))
}
