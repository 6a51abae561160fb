//! Everything that a database holds, as text: what somebody has who got hold of it.

use colloquy::db::{DbError, RunQueryDsl};
use diesel::QueryableByName;
use diesel::sql_types::Text;

use super::server::{Kind, Server};

#[derive(QueryableByName)]
struct Line {
    #[diesel(sql_type = Text)]
    line: String,
}

/// On SQLite the bytes of its files, with what was deleted and is still there; on PostgreSQL all rows of all tables.
pub async fn dump(server: &Server) -> String {
    if server.kind == Kind::Sqlite {
        let file = |name: &str| std::fs::read(server.data.join(name)).unwrap_or_default();
        let bytes = [file("colloquy.sqlite"), file("colloquy.sqlite-wal")].concat();
        return String::from_utf8_lossy(&bytes).into_owned();
    }
    let tables =
        lines(server, "SELECT tablename::text AS line FROM pg_tables WHERE schemaname = current_schema()").await;
    assert!(tables.len() > 10, "{tables:?}");
    let mut dumped = String::new();
    for table in tables {
        for line in lines(server, &format!("SELECT t::text AS line FROM {table} t")).await {
            dumped.push_str(&line);
            dumped.push('\n');
        }
    }
    dumped
}

async fn lines(server: &Server, sql: &str) -> Vec<String> {
    let sql = sql.to_owned();
    let db = server.db().await;
    let found = db
        .read(move |conn| Box::pin(async move { Ok::<Vec<Line>, DbError>(diesel::sql_query(sql).load(conn).await?) }));
    found.await.unwrap().into_iter().map(|found| found.line).collect()
}
