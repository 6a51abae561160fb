//! The whole content of a database as text: what an attacker with a copy of it can read.

use colloquy::db::{DbError, RunQueryDsl};
use diesel::QueryableByName;
use diesel::sql_types::Text;

use super::server::{Kind, Server};

#[derive(QueryableByName)]
struct Line {
    #[diesel(sql_type = Text)]
    line: String,
}

/// Returns the database as text. On SQLite these are the bytes of its files, including deleted data that is still in
/// them; on PostgreSQL all rows of all tables of the schema.
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
