//! Queries that delete a project: it is hidden first, then emptied page by page.

use actors::ids::{self, Id};
use actors::meeting::Meeting;
use actors::run::Run;
use diesel::{ExpressionMethods, QueryDsl};

use crate::db::schema::{document_versions, documents, meetings, members, project_invitations, projects, runs};
use crate::db::sweep::Part;
use crate::db::{Conn, DbError, RunQueryDsl};

/// Stored in the column of the status: the project is no longer found, and its contents are being deleted.
pub const BURIED: &str = "BURIED";
/// How many documents are deleted at once: each comes with its text, which may have millions of characters.
const DOCUMENTS: i64 = 20;

/// The tables that may hold many rows of a project, a meeting or a run; all other rows are deleted by cascade.
pub const OF_PROJECT: [Part; 10] = [
    Part { table: "tracker_export_items", key: "export_id, user_story_id", of: "project_id" },
    Part { table: "tracker_issues", key: "user_story_id, provider, site_id", of: "project_id" },
    Part { table: "proposals", key: "id", of: "project_id" },
    Part { table: "items", key: "id", of: "project_id" },
    Part { table: "approval_events", key: "id", of: "project_id" },
    Part { table: "baseline_items", key: "project_id, baseline_id, item_id", of: "project_id" },
    Part { table: "feedback", key: "id", of: "project_id" },
    Part { table: "review_invitations", key: "id", of: "project_id" },
    Part { table: "search_passages", key: "id", of: "project_id" },
    Part { table: "search_words", key: "project_id, word", of: "project_id" },
];
pub const OF_MEETING: [Part; 5] = [
    Part { table: "recording_chunks", key: "recording_id, number", of: "meeting_id" },
    Part { table: "transcript_segments", key: "transcript_id, position", of: "meeting_id" },
    Part { table: "consents", key: "meeting_id, number", of: "meeting_id" },
    Part { table: "meeting_invitations", key: "id", of: "meeting_id" },
    Part { table: "participants", key: "id", of: "meeting_id" },
];
pub const OF_RUN: [Part; 5] = [
    Part { table: "run_supersedes", key: "run_id, proposal_id", of: "run_id" },
    Part { table: "model_answers", key: "run_id, question", of: "run_id" },
    Part { table: "run_nodes", key: "run_id, attempt, node", of: "run_id" },
    Part { table: "run_items", key: "run_id, id", of: "run_id" },
    Part { table: "run_findings", key: "run_id, attempt, item_id", of: "run_id" },
];

/// Hides a project from all users: deletes its memberships and invitations, and sets its status to `BURIED`.
pub async fn hide(conn: &mut Conn, id: Id<ids::Project>) -> Result<(), DbError> {
    diesel::delete(members::table.filter(members::project_id.eq(id))).execute(conn).await?;
    diesel::delete(project_invitations::table.filter(project_invitations::project_id.eq(id))).execute(conn).await?;
    diesel::update(projects::table.find(id)).set(projects::status.eq(BURIED)).execute(conn).await?;
    Ok(())
}

/// Whether a project exists and is buried.
pub async fn is_buried(conn: &mut Conn, id: Id<ids::Project>) -> Result<bool, DbError> {
    let buried = projects::table.find(id).filter(projects::status.eq(BURIED));
    Ok(buried.count().get_result::<i64>(conn).await? > 0)
}

/// Some of a project's meetings.
pub async fn meetings(conn: &mut Conn, id: Id<ids::Project>, most: i64) -> Result<Vec<Id<Meeting>>, DbError> {
    let some = meetings::table.filter(meetings::project_id.eq(id)).limit(most);
    Ok(some.select(meetings::id).load(conn).await?)
}

pub async fn delete_meeting(conn: &mut Conn, id: Id<Meeting>) -> Result<(), DbError> {
    diesel::delete(meetings::table.find(id)).execute(conn).await?;
    Ok(())
}

/// Some of a project's runs.
pub async fn runs(conn: &mut Conn, id: Id<ids::Project>, most: i64) -> Result<Vec<Id<Run>>, DbError> {
    let some = runs::table.filter(runs::project_id.eq(id)).limit(most);
    Ok(some.select(runs::id).load(conn).await?)
}

pub async fn delete_run(conn: &mut Conn, id: Id<Run>) -> Result<(), DbError> {
    diesel::delete(runs::table.find(id)).execute(conn).await?;
    Ok(())
}

/// Deletes some of a project's documents, those of their versions first that are not present. Returns the hashes of their contents.
pub async fn delete_documents(conn: &mut Conn, id: Id<ids::Project>) -> Result<Vec<String>, DbError> {
    let former = document_versions::table.filter(document_versions::project_id.eq(id)).limit(DOCUMENTS);
    let former = former.select((document_versions::document_id, document_versions::version, document_versions::sha256));
    let former: Vec<(Id<ids::Document>, i64, String)> = former.load(conn).await?;
    if !former.is_empty() {
        for (document, version, _) in &former {
            diesel::delete(document_versions::table.find((*document, *version))).execute(conn).await?;
        }
        return Ok(former.into_iter().map(|(_, _, content)| content).collect());
    }
    let some = documents::table.filter(documents::project_id.eq(id)).limit(DOCUMENTS);
    let some: Vec<(Id<ids::Document>, String)> = some.select((documents::id, documents::sha256)).load(conn).await?;
    let (ids, contents): (Vec<_>, Vec<_>) = some.into_iter().unzip();
    diesel::delete(documents::table.filter(documents::id.eq_any(ids))).execute(conn).await?;
    Ok(contents)
}

/// Deletes a project's own row, and by cascade whatever was added while it was emptied.
pub async fn delete(conn: &mut Conn, id: Id<ids::Project>) -> Result<(), DbError> {
    diesel::delete(projects::table.find(id)).execute(conn).await?;
    Ok(())
}
