//! Queries of the projects whose requirements are to be compared.

use actors::ids::{self, Id};
use diesel::{ExpressionMethods, QueryDsl};

use crate::db::schema::uncompared_projects;
use crate::db::{Conn, DbError, RunQueryDsl};

/// Notes a project. Returns whether it was not noted yet.
pub async fn note(conn: &mut Conn, project_id: Id<ids::Project>) -> Result<bool, DbError> {
    let row = uncompared_projects::project_id.eq(project_id);
    let noted = diesel::insert_into(uncompared_projects::table).values(row).on_conflict_do_nothing();
    Ok(noted.execute(conn).await? == 1)
}

/// Forgets that a project is noted: whoever changes a requirement from now on notes it again.
pub async fn forget(conn: &mut Conn, project_id: Id<ids::Project>) -> Result<(), DbError> {
    diesel::delete(uncompared_projects::table.find(project_id)).execute(conn).await?;
    Ok(())
}

/// Returns some of the noted projects, after `after` by their ids.
pub async fn noted(conn: &mut Conn, after: Id<ids::Project>, most: i64) -> Result<Vec<Id<ids::Project>>, DbError> {
    let noted = uncompared_projects::table.filter(uncompared_projects::project_id.gt(after));
    let noted = noted.order(uncompared_projects::project_id.asc()).limit(most);
    Ok(noted.select(uncompared_projects::project_id).load(conn).await?)
}
