//! How much is stored, as sums over the rows that say it.

use actors::ids::{Id, Project, User};
use diesel::backend::Backend;
use diesel::expression::{AppearsOnTable, Expression, SelectableExpression, ValidGrouping};
use diesel::query_builder::{AstPass, QueryFragment, QueryId};
use diesel::sql_types::{BigInt, Nullable, Text};
use diesel::{ExpressionMethods, OptionalExtension, QueryDsl, QueryResult, QueryableByName};
use uuid::Uuid;

use super::model::{CountedKind, QuotaKey};
use crate::db::schema::{projects, users};
use crate::db::{Conn, DbError, RunQueryDsl, Uuid as SqlUuid, each, kept};

/// What the project of a row has stored. Of a recording, the content counts, or its chunks until there is one; those of a
/// recording that failed for good or has expired are deleted. A transcript that was attached to a recording counts as its file
/// did. An import has its file until it is read.
const PROJECT_BYTES: &str = "(\
    (SELECT CAST(COALESCE(SUM(size_bytes + text_bytes), 0) AS BIGINT) FROM documents \
        WHERE documents.project_id = projects.id) \
    + (SELECT CAST(COALESCE(SUM(size_bytes + text_bytes), 0) AS BIGINT) FROM document_versions \
        WHERE document_versions.project_id = projects.id) \
    + (SELECT CAST(COALESCE(SUM(COALESCE(content_bytes, received_bytes)), 0) AS BIGINT) \
        FROM meetings JOIN recordings ON recordings.meeting_id = meetings.id \
        WHERE meetings.project_id = projects.id \
        AND (recordings.status IN ('ACTIVE', 'STOPPED', 'FINALIZING', 'READY') \
            OR (recordings.status = 'FAILED' AND recordings.repairable))) \
    + (SELECT CAST(COALESCE(SUM(transcripts.attached_bytes), 0) AS BIGINT) \
        FROM meetings JOIN recordings ON recordings.meeting_id = meetings.id \
        JOIN transcripts ON transcripts.recording_id = recordings.id \
        WHERE meetings.project_id = projects.id) \
    + (SELECT CAST(COALESCE(SUM(size_bytes), 0) AS BIGINT) FROM dashboard_exports \
        WHERE dashboard_exports.project_id = projects.id) \
    + (SELECT CAST(COALESCE(SUM(size_bytes), 0) AS BIGINT) FROM item_imports \
        WHERE item_imports.project_id = projects.id AND item_imports.sha256 IS NOT NULL))";

/// What the project of a row has stored, as an expression of the row's own statement. Unlike SQL text, it lets the statement
/// stay prepared.
#[derive(Debug, Clone, Copy, QueryId, ValidGrouping)]
pub struct StoredBytes;

impl Expression for StoredBytes {
    type SqlType = BigInt;
}

impl<S> AppearsOnTable<S> for StoredBytes where projects::id: AppearsOnTable<S> {}

impl<S> SelectableExpression<S> for StoredBytes where projects::id: SelectableExpression<S> {}

impl<DB: Backend> QueryFragment<DB> for StoredBytes {
    fn walk_ast<'b>(&'b self, mut pass: AstPass<'_, 'b, DB>) -> QueryResult<()> {
        pass.push_sql(PROJECT_BYTES);
        Ok(())
    }
}

#[derive(QueryableByName)]
struct UsedRow {
    #[diesel(sql_type = BigInt)]
    used: i64,
    /// What an operator has set for it.
    #[diesel(sql_type = Nullable<BigInt>)]
    quota: Option<i64>,
}

/// Returns how much of something is used, and the limit that an operator has set for it.
pub async fn used(conn: &mut Conn, key: QuotaKey) -> Result<(u64, Option<u64>), DbError> {
    let (sql, id) = match key {
        QuotaKey::ProjectBytes(id) => {
            (format!("SELECT {PROJECT_BYTES} AS used, quota_bytes AS quota FROM projects WHERE id = $1"), id.uuid())
        }
        QuotaKey::AccountBytes(id) => {
            let bytes =
                format!("SELECT CAST(COALESCE(SUM({PROJECT_BYTES}), 0) AS BIGINT) FROM projects WHERE owner_id = $1");
            (format!("SELECT ({bytes}) AS used, (SELECT quota_bytes FROM users WHERE id = $1) AS quota"), id.uuid())
        }
        QuotaKey::InstallationBytes => {
            let all = format!("SELECT CAST(COALESCE(SUM({PROJECT_BYTES}), 0) AS BIGINT) AS used");
            (format!("{all}, CAST(NULL AS BIGINT) AS quota FROM projects WHERE id <> $1"), Uuid::nil())
        }
        QuotaKey::Count(kind, id) => {
            (format!("SELECT COUNT(*) AS used, CAST(NULL AS BIGINT) AS quota FROM {}", counted(kind)), id)
        }
    };
    let select = diesel::sql_query(sql).bind::<SqlUuid, _>(Id::<()>::from_uuid(id));
    let found: Option<UsedRow> = each!(conn, get_result, kept(select)).optional()?;
    // A project that is gone has nothing.
    let UsedRow { used, quota } = found.unwrap_or(UsedRow { used: 0, quota: None });
    Ok((unsigned(used), quota.map(unsigned)))
}

const fn counted(kind: CountedKind) -> &'static str {
    match kind {
        CountedKind::ProjectsOfAccount => "projects WHERE owner_id = $1 AND status <> 'BURIED'",
        CountedKind::DocumentsOfProject => {
            "(SELECT project_id FROM documents UNION ALL SELECT project_id FROM document_versions) AS files WHERE project_id = $1"
        }
        CountedKind::MeetingsOfProject => "meetings WHERE project_id = $1",
        CountedKind::MembersOfProject => "members WHERE project_id = $1",
        CountedKind::InvitationsToProject => "project_invitations WHERE project_id = $1",
        CountedKind::InvitationsToReview => "review_invitations WHERE project_id = $1",
        CountedKind::RunsOfProject => "runs WHERE project_id = $1",
        CountedKind::FeedbackOfProject => "feedback WHERE project_id = $1",
        CountedKind::InvitationsToMeeting => "meeting_invitations WHERE meeting_id = $1",
    }
}

fn unsigned(value: i64) -> u64 {
    u64::try_from(value).unwrap_or_default()
}

/// Sets the quota of a project, or takes it away. Returns whether there is such a project.
pub async fn set_project(conn: &mut Conn, id: Id<Project>, bytes: Option<i64>) -> Result<bool, DbError> {
    let set = diesel::update(projects::table.find(id)).set(projects::quota_bytes.eq(bytes));
    Ok(set.execute(conn).await? == 1)
}

/// Sets the quota of an account, or takes it away. Returns whether there is such an account.
pub async fn set_account(conn: &mut Conn, id: Id<User>, bytes: Option<i64>) -> Result<bool, DbError> {
    let set = diesel::update(users::table.find(id)).set(users::quota_bytes.eq(bytes));
    Ok(set.execute(conn).await? == 1)
}

#[derive(QueryableByName)]
pub struct LargestRow {
    #[diesel(sql_type = SqlUuid)]
    pub id: Id<()>,
    #[diesel(sql_type = Text)]
    pub name: String,
    #[diesel(sql_type = BigInt)]
    pub used: i64,
    #[diesel(sql_type = Nullable<BigInt>)]
    pub quota: Option<i64>,
}

/// Returns the projects that have stored most.
pub async fn largest_projects(conn: &mut Conn, most: i64) -> Result<Vec<LargestRow>, DbError> {
    let sql = format!(
        "SELECT id, name, {PROJECT_BYTES} AS used, quota_bytes AS quota FROM projects ORDER BY used DESC, id LIMIT $1"
    );
    let select = diesel::sql_query(sql).bind::<BigInt, _>(most);
    Ok(each!(conn, load, select)?)
}

/// Returns the accounts whose projects have stored most.
pub async fn largest_accounts(conn: &mut Conn, most: i64) -> Result<Vec<LargestRow>, DbError> {
    let sql = format!(
        "SELECT users.id AS id, users.email AS name, owned.used AS used, users.quota_bytes AS quota FROM users \
         JOIN (SELECT owner_id, CAST(SUM({PROJECT_BYTES}) AS BIGINT) AS used FROM projects GROUP BY owner_id) AS owned \
         ON owned.owner_id = users.id ORDER BY used DESC, users.id LIMIT $1"
    );
    let select = diesel::sql_query(sql).bind::<BigInt, _>(most);
    Ok(each!(conn, load, select)?)
}
