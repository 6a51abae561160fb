//! Projects and memberships as rows.

pub mod deletion;

use std::collections::HashMap;

use actors::ids::{self, Id, Member, User};
use diesel::{
    BoolExpressionMethods, EscapeExpressionMethods, ExpressionMethods, Insertable, IntoSql, JoinOnDsl,
    OptionalExtension, QueryDsl, Queryable, Selectable, TextExpressionMethods,
};

use super::model::{Counts, Project, ProjectStatus};
use crate::access::role::ProjectRole;
use crate::accounts::model::Language;
use crate::db::schema::{documents, items, meetings, members, projects, runs};
use crate::db::{At, Columns, Conn, Failed, Key, RunQueryDsl};
use crate::http::page::Page;

#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = projects)]
struct ProjectRow {
    id: Key<ids::Project>,
    name: String,
    description: String,
    language: String,
    status: String,
    owner_id: Key<User>,
    version: i64,
    created_at: At,
    updated_at: At,
}

impl TryFrom<ProjectRow> for Project {
    type Error = Failed;
    fn try_from(row: ProjectRow) -> Result<Self, Failed> {
        let broken = |what: &str| Failed::Broken(format!("the project {:?} has the {what}", row.id));
        Ok(Self {
            id: row.id.0,
            language: Language::named(&row.language).ok_or_else(|| broken("language of nobody"))?,
            status: ProjectStatus::named(&row.status).ok_or_else(|| broken("status of nothing"))?,
            name: row.name,
            description: row.description,
            owner_id: row.owner_id.0,
            version: row.version,
            created_at: row.created_at.0,
            updated_at: row.updated_at.0,
        })
    }
}

pub(super) fn role_of(text: &str) -> Result<ProjectRole, Failed> {
    ProjectRole::named(text).ok_or_else(|| Failed::Broken(format!("a member has the role {text}")))
}

pub async fn find(conn: &mut Conn, id: Id<ids::Project>) -> Result<Option<Project>, Failed> {
    let found = projects::table.find(Key(id)).filter(projects::status.ne(deletion::BURIED));
    let row = found.select(ProjectRow::columns()).first(conn).await.optional()?;
    row.map(|row: ProjectRow| row.try_into()).transpose()
}

/// As [`find`], for a transaction that goes on to write it: whoever comes second waits and sees what the first wrote.
pub async fn find_to_change(conn: &mut Conn, id: Id<ids::Project>) -> Result<Option<Project>, Failed> {
    // Changes nothing and takes the row's lock, in words that both databases know.
    diesel::update(projects::table.find(Key(id))).set(projects::version.eq(projects::version)).execute(conn).await?;
    find(conn, id).await
}

/// What somebody is in a project; `None`: no member.
pub async fn role(conn: &mut Conn, id: Id<ids::Project>, user_id: Id<User>) -> Result<Option<ProjectRole>, Failed> {
    let found: Option<String> = members::table
        .filter(members::project_id.eq(Key(id)))
        .filter(members::user_id.eq(Key(user_id)))
        .select(members::role)
        .first(conn)
        .await
        .optional()?;
    found.as_deref().map(role_of).transpose()
}

/// As [`role`], of many; who is no member is left out.
pub async fn roles(
    conn: &mut Conn,
    id: Id<ids::Project>,
    user_ids: &[Id<User>],
) -> Result<HashMap<Id<User>, ProjectRole>, Failed> {
    let user_ids: Vec<Key<User>> = user_ids.iter().copied().map(Key).collect();
    let these = members::table.filter(members::project_id.eq(Key(id))).filter(members::user_id.eq_any(user_ids));
    let rows: Vec<(Key<User>, String)> = these.select((members::user_id, members::role)).load(conn).await?;
    rows.into_iter().map(|(user_id, role)| Ok((user_id.0, role_of(&role)?))).collect()
}

/// Inserts a project with its owner; one that stands there already under the same id is left as it is.
pub async fn insert(conn: &mut Conn, project: &Project) -> Result<bool, Failed> {
    let row = ProjectRow {
        id: Key(project.id),
        name: project.name.clone(),
        description: project.description.clone(),
        language: project.language.as_str().to_owned(),
        status: project.status.as_str().to_owned(),
        owner_id: Key(project.owner_id),
        version: project.version,
        created_at: At(project.created_at),
        updated_at: At(project.updated_at),
    };
    if diesel::insert_into(projects::table).values(&row).on_conflict_do_nothing().execute(conn).await? == 0 {
        return Ok(false);
    }
    let owner = (
        members::id.eq(Key(Id::<Member>::draw())),
        members::project_id.eq(Key(project.id)),
        members::user_id.eq(Key(project.owner_id)),
        members::role.eq(ProjectRole::Owner.as_str()),
        members::joined_at.eq(At(project.created_at)),
    );
    diesel::insert_into(members::table).values(owner).execute(conn).await?;
    Ok(true)
}

/// Writes an edited project where the stored version is still the one before. Whether it was.
pub async fn update(conn: &mut Conn, project: &Project, before: i64) -> Result<bool, Failed> {
    let updated = diesel::update(projects::table.find(Key(project.id))).filter(projects::version.eq(before)).set((
        projects::name.eq(project.name.clone()),
        projects::description.eq(project.description.clone()),
        projects::language.eq(project.language.as_str()),
        projects::status.eq(project.status.as_str()),
        projects::version.eq(project.version),
        projects::updated_at.eq(At(project.updated_at)),
    ));
    Ok(updated.execute(conn).await? == 1)
}

/// Names another owner. No edit of somebody's own is stale by that: the version stays.
pub async fn set_owner(conn: &mut Conn, project: &Project) -> Result<(), Failed> {
    diesel::update(projects::table.find(Key(project.id)))
        .set((projects::owner_id.eq(Key(project.owner_id)), projects::updated_at.eq(At(project.updated_at))))
        .execute(conn)
        .await?;
    Ok(())
}

/// Whether a meeting is LIVE or a run unfinished: then the project can't be deleted.
pub async fn is_busy(conn: &mut Conn, id: Id<ids::Project>) -> Result<bool, Failed> {
    let live = meetings::table.filter(meetings::project_id.eq(Key(id))).filter(meetings::status.eq("LIVE"));
    let unfinished =
        runs::table.filter(runs::project_id.eq(Key(id))).filter(runs::status.eq_any(["QUEUED", "PROCESSING"]));
    let live: i64 = live.count().get_result(conn).await?;
    let unfinished: i64 = unfinished.count().get_result(conn).await?;
    Ok(live + unfinished > 0)
}

pub async fn counts(conn: &mut Conn, id: Id<ids::Project>) -> Result<Counts, Failed> {
    let of = Key(id);
    Ok(Counts {
        members: members::table.filter(members::project_id.eq(of)).count().get_result(conn).await?,
        documents: documents::table.filter(documents::project_id.eq(of)).count().get_result(conn).await?,
        meetings: meetings::table.filter(meetings::project_id.eq(of)).count().get_result(conn).await?,
        requirements: items_of(conn, id, "REQUIREMENT").await?,
        user_stories: items_of(conn, id, "USER_STORY").await?,
    })
}

async fn items_of(conn: &mut Conn, id: Id<ids::Project>, kind: &str) -> Result<i64, Failed> {
    let found = items::table.filter(items::project_id.eq(Key(id))).filter(items::kind.eq(kind));
    Ok(found.count().get_result(conn).await?)
}

/// Which of somebody's projects are listed.
#[derive(Debug, Clone)]
pub struct Filter {
    pub status: Option<ProjectStatus>,
    pub search: Option<String>,
}

/// Somebody's projects, newest first: one more than the page has, and how many there are.
pub async fn list(
    conn: &mut Conn,
    user_id: Id<User>,
    filter: &Filter,
    page: &Page,
) -> Result<(Vec<(Project, ProjectRole)>, i64), Failed> {
    let pattern = filter.search.as_deref().map(crate::db::like).unwrap_or_default();
    let status = filter.status.map_or("", ProjectStatus::as_str);
    macro_rules! mine {
        () => {
            projects::table
                .inner_join(members::table.on(members::project_id.eq(projects::id)))
                .filter(members::user_id.eq(Key(user_id)))
                .filter(filter.status.is_none().into_sql::<diesel::sql_types::Bool>().or(projects::status.eq(status)))
                .filter(
                    filter
                        .search
                        .is_none()
                        .into_sql::<diesel::sql_types::Bool>()
                        .or(crate::db::lower(projects::name).like(pattern.clone()).escape('\\'))
                        .or(crate::db::lower(projects::description).like(pattern.clone()).escape('\\')),
                )
        };
    }
    let total: i64 = mine!().count().get_result(conn).await?;
    let rows: Vec<(ProjectRow, String)> = mine!()
        .filter(projects::id.lt(Key(Id::<ids::Project>::from_uuid(page.before()))))
        .order(projects::id.desc())
        .limit(page.limit + 1)
        .select((ProjectRow::columns(), members::role))
        .load(conn)
        .await?;
    let rows: Result<Vec<_>, Failed> =
        rows.into_iter().map(|(row, role)| Ok((row.try_into()?, role_of(&role)?))).collect();
    Ok((rows?, total))
}
