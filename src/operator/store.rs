//! Queries over the whole installation: sizes and counts.

use diesel::QueryableByName;
use diesel::sql_types::BigInt;

use super::model::{DatabaseFigures, DatabaseKind, StorageFigures, StorageKind};
use crate::db::{Conn, DbError, RunQueryDsl};

#[derive(QueryableByName)]
struct SizeRow {
    #[diesel(sql_type = BigInt)]
    bytes: i64,
}

/// Returns which database it is, and its size.
pub async fn database(conn: &mut Conn) -> Result<DatabaseFigures, DbError> {
    let (kind, sql) = match conn {
        Conn::Pg(_) => (DatabaseKind::Postgresql, "SELECT pg_database_size(current_database()) AS bytes"),
        Conn::Sqlite(_) => {
            let pages = "SELECT page_count * page_size AS bytes FROM pragma_page_count(), pragma_page_size()";
            (DatabaseKind::Sqlite, pages)
        }
    };
    let SizeRow { bytes } = diesel::sql_query(sql).get_result(conn).await?;
    Ok(DatabaseFigures { kind, bytes })
}

#[derive(QueryableByName)]
pub struct CountsRow {
    #[diesel(sql_type = BigInt)]
    pub accounts: i64,
    #[diesel(sql_type = BigInt)]
    pub projects: i64,
    #[diesel(sql_type = BigInt)]
    pub live_meetings: i64,
}

const COUNTS: &str = "SELECT \
    (SELECT COUNT(*) FROM users WHERE deleted_at IS NULL) AS accounts, \
    (SELECT COUNT(*) FROM projects) AS projects, \
    (SELECT COUNT(*) FROM meetings WHERE status = 'LIVE') AS live_meetings";

pub async fn counts(conn: &mut Conn) -> Result<CountsRow, DbError> {
    Ok(diesel::sql_query(COUNTS).get_result(conn).await?)
}

#[derive(QueryableByName)]
struct UseRow {
    #[diesel(sql_type = BigInt)]
    count: i64,
    #[diesel(sql_type = BigInt)]
    bytes: i64,
}

/// Documents and exports are stored under the hash of their content, once for each content.
const DOCUMENTS: &str = "SELECT COUNT(*) AS count, CAST(COALESCE(SUM(size_bytes), 0) AS BIGINT) AS bytes \
    FROM (SELECT sha256, MAX(size_bytes) AS size_bytes FROM (SELECT sha256, size_bytes FROM documents \
        UNION ALL SELECT sha256, size_bytes FROM document_versions) AS files GROUP BY sha256) AS stored";
/// While a recording is uploaded, its chunks are what is stored of it.
const RECORDINGS: &str = "SELECT COUNT(*) AS count, CAST(COALESCE(SUM(bytes), 0) AS BIGINT) AS bytes \
    FROM (SELECT COALESCE(content_bytes, received_bytes) AS bytes FROM recordings) AS stored WHERE bytes > 0";
const EXPORTS: &str = "SELECT COUNT(*) AS count, CAST(COALESCE(SUM(size_bytes), 0) AS BIGINT) AS bytes \
    FROM (SELECT sha256, MAX(size_bytes) AS size_bytes FROM dashboard_exports WHERE sha256 IS NOT NULL GROUP BY sha256) AS stored";

/// Returns what is stored of each kind whose files have rows with their sizes.
pub async fn storage(conn: &mut Conn) -> Result<Vec<StorageFigures>, DbError> {
    let kinds =
        [(StorageKind::Documents, DOCUMENTS), (StorageKind::Recordings, RECORDINGS), (StorageKind::Exports, EXPORTS)];
    let mut storage = Vec::new();
    for (kind, sql) in kinds {
        let UseRow { count, bytes } = diesel::sql_query(sql).get_result(conn).await?;
        storage.push(StorageFigures { kind, count, bytes });
    }
    Ok(storage)
}
