//! Exports as rows.

use std::collections::HashMap;
use std::time::Duration;

use actors::ids::{self, Id};
use actors::run::Run;
use actors::time::Time;
use diesel::sql_types::Bool;
use diesel::{
    BoolExpressionMethods, ExpressionMethods, Insertable, IntoSql, JoinOnDsl, NullableExpressionMethods,
    OptionalExtension, QueryDsl, Queryable, Selectable,
};
use uuid::Uuid;

use super::model::{DashboardExport, DashboardExportStatus, DashboardFormat, ExportFilter};
use crate::db::schema::dashboard_exports as table;
use crate::db::schema::{documents, meetings, recordings};
use crate::db::sweep::Retention;
use crate::db::{Columns, Conn, DbError, RunQueryDsl};

/// How long a file is kept.
pub const KEPT: Duration = Duration::from_secs(24 * 60 * 60);
/// How many exports of a project are kept at once.
pub const MAX_EXPORTS: i64 = 200;

/// A day after its file expired, an export is forgotten: until then its address answers that it has expired.
pub const RETENTION: Retention = Retention { table: "dashboard_exports", key: "id", at: "expires_at", period: KEPT };

#[derive(Debug, Clone, Queryable, Selectable, Insertable)]
#[diesel(table_name = table)]
struct Row {
    id: Id<DashboardExport>,
    project_id: Id<ids::Project>,
    run_id: Option<Id<Run>>,
    status: DashboardExportStatus,
    format: DashboardFormat,
    filters: String,
    file_name: String,
    sha256: Option<String>,
    size_bytes: Option<i64>,
    error: Option<String>,
    created_at: Time,
    expires_at: Time,
}

/// An export with what only the server needs to know of it.
#[derive(Debug, Clone)]
pub struct StoredExport {
    pub id: Id<DashboardExport>,
    pub project_id: Id<ids::Project>,
    /// The run whose findings it shows; `None` for the specification.
    pub run_id: Option<Id<Run>>,
    pub status: DashboardExportStatus,
    pub format: DashboardFormat,
    pub filters: ExportFilter,
    pub file_name: String,
    /// Of a file that is READY, hexadecimal.
    pub sha256: Option<String>,
    pub size_bytes: Option<i64>,
    pub error: Option<String>,
    pub created_at: Time,
    pub expires_at: Time,
}

impl StoredExport {
    fn row(&self) -> Result<Row, DbError> {
        let filters = serde_json::to_string(&self.filters).map_err(|error| DbError::Broken(error.to_string()))?;
        Ok(Row {
            id: self.id,
            project_id: self.project_id,
            run_id: self.run_id,
            status: self.status,
            format: self.format,
            filters,
            file_name: self.file_name.clone(),
            sha256: self.sha256.clone(),
            size_bytes: self.size_bytes,
            error: self.error.clone(),
            created_at: self.created_at,
            expires_at: self.expires_at,
        })
    }

    fn of(row: Row) -> Result<Self, DbError> {
        let broken = |what: &str| DbError::Broken(format!("an export has the {what}"));
        Ok(Self {
            id: row.id,
            project_id: row.project_id,
            run_id: row.run_id,
            status: row.status,
            format: row.format,
            filters: serde_json::from_str(&row.filters).map_err(|_| broken("filters that can't be read"))?,
            file_name: row.file_name,
            sha256: row.sha256,
            size_bytes: row.size_bytes,
            error: row.error,
            created_at: row.created_at,
            expires_at: row.expires_at,
        })
    }
}

impl From<StoredExport> for DashboardExport {
    fn from(stored: StoredExport) -> Self {
        let url = format!("/api/projects/{}/ai/results-dashboard/exports/{}/content", stored.project_id, stored.id);
        Self {
            id: stored.id,
            status: stored.status,
            format: stored.format,
            filters: stored.filters,
            file_name: stored.file_name,
            size_bytes: stored.size_bytes,
            url,
            error_message: stored.error,
            expires_at: stored.expires_at,
            created_at: stored.created_at,
        }
    }
}

pub async fn insert(conn: &mut Conn, export: &StoredExport) -> Result<(), DbError> {
    diesel::insert_into(table::table).values(export.row()?).execute(conn).await?;
    Ok(())
}

pub async fn find(conn: &mut Conn, id: Id<DashboardExport>) -> Result<Option<StoredExport>, DbError> {
    let row: Option<Row> = table::table.find(id).select(Row::columns()).first(conn).await.optional()?;
    row.map(StoredExport::of).transpose()
}

/// Saves how an export ended; returns whether it was PREPARING until now.
pub async fn end(conn: &mut Conn, export: &StoredExport) -> Result<bool, DbError> {
    let preparing =
        table::table.filter(table::id.eq(export.id)).filter(table::status.eq(DashboardExportStatus::Preparing));
    let changed = diesel::update(preparing)
        .set((
            table::status.eq(export.status),
            table::sha256.eq(export.sha256.clone()),
            table::size_bytes.eq(export.size_bytes),
            table::error.eq(export.error.clone()),
            table::expires_at.eq(export.expires_at),
        ))
        .execute(conn)
        .await?;
    Ok(changed == 1)
}

/// Returns how many exports of a project are kept.
pub async fn count(conn: &mut Conn, project_id: Id<ids::Project>, now: Time) -> Result<i64, DbError> {
    let kept = table::table.filter(table::project_id.eq(project_id)).filter(table::expires_at.gt(now));
    Ok(kept.count().get_result(conn).await?)
}

/// The exports of a run, or of the specification, that are kept, newest first.
pub async fn of_run(
    conn: &mut Conn,
    project_id: Id<ids::Project>,
    run_id: Option<Id<Run>>,
    now: Time,
) -> Result<Vec<DashboardExport>, DbError> {
    let of_specification = run_id.is_none().into_sql::<Bool>().and(table::run_id.is_null());
    let of_this = table::run_id.assume_not_null().eq(run_id.unwrap_or_else(|| Id::from_uuid(Uuid::nil())));
    let rows: Vec<Row> = table::table
        .filter(table::project_id.eq(project_id))
        .filter(of_specification.or(of_this))
        .filter(table::expires_at.gt(now))
        .order((table::created_at.desc(), table::id.desc()))
        .limit(MAX_EXPORTS)
        .select(Row::columns())
        .load(conn)
        .await?;
    rows.into_iter().map(|row| StoredExport::of(row).map(DashboardExport::from)).collect()
}

/// Returns those of the contents that an export still keeps.
pub async fn kept(conn: &mut Conn, contents: Vec<String>, now: Time) -> Result<Vec<String>, DbError> {
    let kept = table::table.filter(table::sha256.eq_any(contents)).filter(table::expires_at.gt(now));
    let kept: Vec<Option<String>> = kept.select(table::sha256).distinct().load(conn).await?;
    Ok(kept.into_iter().flatten().collect())
}

/// The names of the project's documents, and the titles of its meetings by their recordings.
pub async fn source_names(conn: &mut Conn, project_id: Id<ids::Project>) -> Result<HashMap<Uuid, String>, DbError> {
    let documents: Vec<(Id<()>, String)> = documents::table
        .filter(documents::project_id.eq(project_id))
        .select((documents::id, documents::file_name))
        .load(conn)
        .await?;
    let recordings: Vec<(Id<()>, String)> = recordings::table
        .inner_join(meetings::table.on(meetings::id.eq(recordings::meeting_id)))
        .filter(meetings::project_id.eq(project_id))
        .select((recordings::id, meetings::title))
        .load(conn)
        .await?;
    Ok(documents.into_iter().chain(recordings).map(|(id, name)| (id.uuid(), name)).collect())
}
