//! All tables of a database as text.

use std::collections::BTreeMap;

use colloquy::db::{Conn, Db, DbError};
use diesel::QueryableByName;
use diesel::sql_types::Text;
use diesel_async::RunQueryDsl;

use super::server::Server;

#[derive(QueryableByName)]
struct Line {
    #[diesel(sql_type = Text)]
    text: String,
}

async fn lines(conn: &mut Conn, sql: String) -> Result<Vec<String>, DbError> {
    let query = diesel::sql_query(sql);
    let lines: Vec<Line> = match conn {
        Conn::Pg(pg) => query.load(&mut **pg).await?,
        Conn::Sqlite(lite) => lite.run(|conn| diesel::RunQueryDsl::load(query, conn)).await?,
    };
    Ok(lines.into_iter().map(|line| line.text).collect())
}

/// Returns the rows of each table as text, by the name of the table; binary values are in hexadecimal.
pub async fn tables(server: &Server) -> BTreeMap<String, String> {
    let rows = |rows: Vec<String>| rows.join("\n");
    rows_of(&server.db().await).await.into_iter().map(|(table, found)| (table, rows(found))).collect()
}

/// As [`tables`], of an open database, with the rows of each table in the order of their text.
pub async fn rows_of(db: &Db) -> BTreeMap<String, Vec<String>> {
    db.read(|conn| {
        Box::pin(async move {
            let is_sqlite = matches!(conn, Conn::Sqlite(_));
            let tables = if is_sqlite {
                "SELECT name AS text FROM sqlite_master WHERE type = 'table'"
            } else {
                "SELECT table_name::text AS text FROM information_schema.tables WHERE table_schema = current_schema()"
            };
            let mut all = BTreeMap::new();
            for table in lines(conn, tables.to_owned()).await? {
                let row = if is_sqlite {
                    let columns = lines(conn, format!("SELECT name AS text FROM pragma_table_info('{table}')")).await?;
                    let quoted: Vec<String> = columns.iter().map(|column| format!("quote(\"{column}\")")).collect();
                    quoted.join(" || ', ' || ")
                } else {
                    "t::text".to_owned()
                };
                let mut rows = lines(conn, format!("SELECT {row} AS text FROM \"{table}\" t")).await?;
                rows.sort_unstable();
                all.insert(table, rows);
            }
            Ok::<_, DbError>(all)
        })
    })
    .await
    .unwrap()
}

impl Server {
    /// Returns the names of the tables that contain an id, as text or as bytes; `sessions` and `jobs` are left out.
    pub async fn tables_containing(&self, id: &str) -> Vec<String> {
        let as_bytes = id.replace('-', "");
        let named = tables(self).await.into_iter().filter(|(table, rows)| {
            let rows = rows.to_lowercase();
            table != "sessions" && table != "jobs" && (rows.contains(id) || rows.contains(&as_bytes))
        });
        named.map(|(table, _)| table).collect()
    }
}
