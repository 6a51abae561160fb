//! Queries of memberships.

pub mod invitations;
pub mod stakeholders;

use actors::ids::{self, Id, User};
use actors::time::Time;
use diesel::sql_types::Bool;
use diesel::{BoolExpressionMethods, ExpressionMethods, IntoSql, JoinOnDsl, OptionalExtension, QueryDsl};

use super::bodies::Filter;
use super::model::Member;
use crate::access::role::ProjectRole;
use crate::db::schema::{members, users};
use crate::db::{Conn, DbError, RunQueryDsl, contains, is_found, is_wanted, page_of};
use crate::http::envelope::List;
use crate::http::list::Listing;

type Row = (Id<ids::Member>, Id<User>, String, String, Option<String>, ProjectRole, Time);

macro_rules! columns {
    () => {
        (
            members::id,
            members::user_id,
            users::full_name,
            users::email,
            users::avatar,
            members::role,
            members::joined_at,
        )
    };
}

/// The members of a project, joined with their accounts.
macro_rules! of_project {
    ($id:expr) => {
        members::table.inner_join(users::table.on(users::id.eq(members::user_id))).filter(members::project_id.eq($id))
    };
}

fn member((id, user_id, full_name, email, avatar, role, joined_at): Row) -> Member {
    Member { id, user_id, full_name, email, avatar, role, joined_at }
}

pub async fn find(
    conn: &mut Conn,
    project_id: Id<ids::Project>,
    id: Id<ids::Member>,
) -> Result<Option<Member>, DbError> {
    let found = of_project!(project_id).filter(members::id.eq(id)).select(columns!()).first(conn).await;
    Ok(found.optional()?.map(member))
}

/// The membership of a user.
pub async fn of(conn: &mut Conn, project_id: Id<ids::Project>, user_id: Id<User>) -> Result<Option<Member>, DbError> {
    let found = of_project!(project_id).filter(members::user_id.eq(user_id)).select(columns!()).first(conn).await;
    Ok(found.optional()?.map(member))
}

/// The accounts of a project's owners, those who joined first first.
pub async fn owners(conn: &mut Conn, project_id: Id<ids::Project>) -> Result<Vec<Id<User>>, DbError> {
    Ok(members::table
        .filter(members::project_id.eq(project_id))
        .filter(members::role.eq(ProjectRole::Owner))
        .order((members::joined_at.asc(), members::id.asc()))
        .select(members::user_id)
        .load(conn)
        .await?)
}

pub async fn insert(
    conn: &mut Conn,
    project_id: Id<ids::Project>,
    user_id: Id<User>,
    role: ProjectRole,
    joined_at: Time,
) -> Result<(), DbError> {
    let row = (
        members::id.eq(Id::<ids::Member>::generate()),
        members::project_id.eq(project_id),
        members::user_id.eq(user_id),
        members::role.eq(role),
        members::joined_at.eq(joined_at),
    );
    diesel::insert_into(members::table).values(row).execute(conn).await?;
    Ok(())
}

pub async fn set_role(conn: &mut Conn, id: Id<ids::Member>, role: ProjectRole) -> Result<(), DbError> {
    diesel::update(members::table.find(id)).set(members::role.eq(role)).execute(conn).await?;
    Ok(())
}

pub async fn delete(conn: &mut Conn, id: Id<ids::Member>) -> Result<(), DbError> {
    diesel::delete(members::table.find(id)).execute(conn).await?;
    Ok(())
}

/// The columns that are searched. A viewer who sees no addresses must not find members by them either.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Searched {
    Names,
    NamesAndEmails,
}

/// Lists a project's members, those who joined last first.
pub async fn list(
    conn: &mut Conn,
    project_id: Id<ids::Project>,
    searched: Searched,
    Listing { filter, page }: Listing<Filter>,
) -> Result<List<Member>, DbError> {
    let by_email = (searched == Searched::NamesAndEmails).into_sql::<Bool>();
    let listed = of_project!(project_id)
        .filter(is_wanted(members::role, filter.role))
        .filter(is_found(filter.search.as_ref(), |pattern| {
            contains(users::full_name, pattern).or(by_email.and(contains(users::email, pattern)))
        }));
    let (rows, total): (Vec<Row>, _) = page_of!(conn, page, listed, members::id, columns!());
    Ok(page.list(rows, total, |(id, ..)| id.uuid()).map(member))
}
