//! Imports as rows, and the items that files are compared with.

use std::time::Duration;

use actors::ids::{self, Id};
use actors::run::Run;
use actors::time::Time;
use diesel::{ExpressionMethods, Insertable, OptionalExtension, QueryDsl, Queryable, Selectable};

use super::model::{ImportFormat, ImportStatus, ItemImport};
use crate::db::schema::item_imports as table;
use crate::db::sweep::Retention;
use crate::db::{Columns, Conn, DbError, RunQueryDsl, page_of};
use crate::http::envelope::List;
use crate::http::page::PageQuery;

/// How long an import is listed.
pub const KEPT: Duration = Duration::from_secs(90 * 24 * 60 * 60);
/// How many imports of a project are kept at once.
pub const MAX_IMPORTS: i64 = 200;

/// What an import proposed and nobody decided stays open when the import is forgotten.
pub const RETENTION: Retention = Retention { table: "item_imports", key: "id", at: "created_at", period: KEPT };

#[derive(Debug, Clone, Queryable, Selectable, Insertable)]
#[diesel(table_name = table)]
struct Row {
    id: Id<ItemImport>,
    project_id: Id<ids::Project>,
    run_id: Id<Run>,
    status: ImportStatus,
    format: ImportFormat,
    file_name: String,
    sha256: Option<String>,
    report: Option<String>,
    error: Option<String>,
    created_at: Time,
    size_bytes: i64,
}

/// An import with what only the server needs to know of it.
#[derive(Debug, Clone)]
pub struct StoredImport {
    pub import: ItemImport,
    /// Of the file, while it is READING; hexadecimal.
    pub sha256: Option<String>,
    /// Of the file.
    pub size_bytes: i64,
}

fn report(import: &ItemImport) -> Result<Option<String>, DbError> {
    let text = import.report.as_ref().map(serde_json::to_string).transpose();
    text.map_err(|error| DbError::Broken(error.to_string()))
}

impl StoredImport {
    fn of(row: Row) -> Result<Self, DbError> {
        let broken = |what: &str| DbError::Broken(format!("an import has the {what}"));
        let report = row.report.as_deref().map(serde_json::from_str).transpose();
        Ok(Self {
            sha256: row.sha256,
            size_bytes: row.size_bytes,
            import: ItemImport {
                id: row.id,
                project_id: row.project_id,
                run_id: row.run_id,
                status: row.status,
                format: row.format,
                file_name: row.file_name,
                report: report.map_err(|_| broken("report that can't be read"))?,
                error_message: row.error,
                created_at: row.created_at,
            },
        })
    }
}

pub async fn insert(
    conn: &mut Conn,
    StoredImport { import, sha256, size_bytes }: &StoredImport,
) -> Result<(), DbError> {
    let row = Row {
        id: import.id,
        project_id: import.project_id,
        run_id: import.run_id,
        status: import.status,
        format: import.format,
        file_name: import.file_name.clone(),
        sha256: sha256.clone(),
        report: report(import)?,
        error: import.error_message.clone(),
        created_at: import.created_at,
        size_bytes: *size_bytes,
    };
    diesel::insert_into(table::table).values(row).execute(conn).await?;
    Ok(())
}

pub async fn find(conn: &mut Conn, id: Id<ItemImport>) -> Result<Option<StoredImport>, DbError> {
    let row: Option<Row> = table::table.find(id).select(Row::columns()).first(conn).await.optional()?;
    row.map(StoredImport::of).transpose()
}

/// Lists a project's imports, newest first.
pub async fn list(
    conn: &mut Conn,
    project_id: Id<ids::Project>,
    page: PageQuery,
) -> Result<List<StoredImport>, DbError> {
    let listed = table::table.filter(table::project_id.eq(project_id));
    let (rows, total): (Vec<Row>, _) = page_of!(conn, page, listed, table::id, Row::columns());
    page.list(rows, total, |row| row.id.uuid()).try_map(StoredImport::of)
}

/// Returns how many imports of a project are kept.
pub async fn count(conn: &mut Conn, project_id: Id<ids::Project>) -> Result<i64, DbError> {
    Ok(table::table.filter(table::project_id.eq(project_id)).count().get_result(conn).await?)
}

/// Saves how an import ended, and lets go of its file; returns whether it was READING until now.
pub async fn end(conn: &mut Conn, import: &ItemImport) -> Result<bool, DbError> {
    let reading = table::table.filter(table::id.eq(import.id)).filter(table::status.eq(ImportStatus::Reading));
    let ended = (
        table::status.eq(import.status),
        table::sha256.eq(None::<String>),
        table::report.eq(report(import)?),
        table::error.eq(import.error_message.clone()),
    );
    Ok(diesel::update(reading).set(ended).execute(conn).await? == 1)
}

/// Returns those of the contents that an import still has to read.
pub async fn kept(conn: &mut Conn, contents: Vec<String>) -> Result<Vec<String>, DbError> {
    let kept = table::table.filter(table::sha256.eq_any(contents)).select(table::sha256).distinct();
    let kept: Vec<Option<String>> = kept.load(conn).await?;
    Ok(kept.into_iter().flatten().collect())
}
