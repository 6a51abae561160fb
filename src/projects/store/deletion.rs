//! The end of a project as rows: hidden first, then page by page.

use actors::ids::{self, Id};
use actors::meeting::Meeting;
use actors::run::Run;
use diesel::{ExpressionMethods, QueryDsl};

use crate::db::schema::{documents, meetings, members, project_invitations, projects, runs};
use crate::db::sweep::Part;
use crate::db::{Conn, Failed, Key, RunQueryDsl};

/// In the place of a status: nobody finds the project any longer, and what is in it is being deleted.
pub const BURIED: &str = "BURIED";
/// A document goes with its text, which may have millions of characters.
const DOCUMENTS: i64 = 20;

/// What there may be many of in a project, in a meeting of it and in a run; what else there is goes with them.
pub const OF_PROJECT: [Part; 1] = [Part { table: "items", key: "id", of: "project_id" }];
pub const OF_MEETING: [Part; 3] = [
    Part { table: "consents", key: "meeting_id, number", of: "meeting_id" },
    Part { table: "meeting_invitations", key: "id", of: "meeting_id" },
    Part { table: "participants", key: "id", of: "meeting_id" },
];
pub const OF_RUN: [Part; 2] = [
    Part { table: "run_nodes", key: "run_id, attempt, node", of: "run_id" },
    Part { table: "run_items", key: "run_id, id", of: "run_id" },
];

/// Takes a project out of everybody's sight: nobody is a member of it, or asked to be.
pub async fn bury(conn: &mut Conn, id: Id<ids::Project>) -> Result<(), Failed> {
    diesel::delete(members::table.filter(members::project_id.eq(Key(id)))).execute(conn).await?;
    diesel::delete(project_invitations::table.filter(project_invitations::project_id.eq(Key(id))))
        .execute(conn)
        .await?;
    diesel::update(projects::table.find(Key(id))).set(projects::status.eq(BURIED)).execute(conn).await?;
    Ok(())
}

/// Whether a project is there and buried.
pub async fn is_buried(conn: &mut Conn, id: Id<ids::Project>) -> Result<bool, Failed> {
    let buried = projects::table.find(Key(id)).filter(projects::status.eq(BURIED));
    Ok(buried.count().get_result::<i64>(conn).await? > 0)
}

/// Some of a project's meetings.
pub async fn meetings(conn: &mut Conn, id: Id<ids::Project>, most: i64) -> Result<Vec<Id<Meeting>>, Failed> {
    let some = meetings::table.filter(meetings::project_id.eq(Key(id))).limit(most);
    let some: Vec<Key<Meeting>> = some.select(meetings::id).load(conn).await?;
    Ok(some.into_iter().map(|id| id.0).collect())
}

pub async fn delete_meeting(conn: &mut Conn, id: Id<Meeting>) -> Result<(), Failed> {
    diesel::delete(meetings::table.find(Key(id))).execute(conn).await?;
    Ok(())
}

/// Some of a project's runs.
pub async fn runs(conn: &mut Conn, id: Id<ids::Project>, most: i64) -> Result<Vec<Id<Run>>, Failed> {
    let some = runs::table.filter(runs::project_id.eq(Key(id))).limit(most);
    let some: Vec<Key<Run>> = some.select(runs::id).load(conn).await?;
    Ok(some.into_iter().map(|id| id.0).collect())
}

pub async fn delete_run(conn: &mut Conn, id: Id<Run>) -> Result<(), Failed> {
    diesel::delete(runs::table.find(Key(id))).execute(conn).await?;
    Ok(())
}

/// Deletes some of a project's documents; gives the contents that they had.
pub async fn delete_documents(conn: &mut Conn, id: Id<ids::Project>) -> Result<Vec<String>, Failed> {
    let some = documents::table.filter(documents::project_id.eq(Key(id))).limit(DOCUMENTS);
    let some: Vec<(Key<ids::Document>, String)> = some.select((documents::id, documents::sha256)).load(conn).await?;
    let (ids, contents): (Vec<_>, Vec<_>) = some.into_iter().unzip();
    diesel::delete(documents::table.filter(documents::id.eq_any(ids))).execute(conn).await?;
    Ok(contents)
}

/// Deletes a project's own row, and what somebody added to it while it was emptied.
pub async fn delete(conn: &mut Conn, id: Id<ids::Project>) -> Result<(), Failed> {
    diesel::delete(projects::table.find(Key(id))).execute(conn).await?;
    Ok(())
}
