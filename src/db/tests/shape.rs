//! The tables in `schema/` equal those that the migrations create, on both databases: columns, types, nullability,
//! keys. The index of search is the databases' own: each has another, and only SQL text names it.

use std::collections::BTreeMap;

use diesel::QueryableByName;
use diesel::sql_types::{BigInt, Bool, Text};
use diesel_async::RunQueryDsl;

use super::super::{Conn, DbError};
use super::on_both;

/// The columns by name, and the names of the primary key columns in order.
#[derive(Debug, Default, PartialEq)]
struct Shape {
    columns: BTreeMap<String, Column>,
    key: Vec<String>,
}

/// A column's type as `schema/` names it.
#[derive(Debug, PartialEq)]
struct Column {
    sql_type: String,
    nullable: bool,
}

type Shapes = BTreeMap<String, Shape>;

fn written_by_hand() -> Shapes {
    let mut shapes = Shapes::new();
    let mut table: Option<String> = None;
    for line in concat!(
        include_str!("../schema/mod.rs"),
        include_str!("../schema/analysis.rs"),
        include_str!("../schema/media.rs"),
        include_str!("../schema/reviews.rs"),
        include_str!("../schema/trackers.rs")
    )
    .lines()
    .map(str::trim)
    {
        if let Some((name, sql_type)) = line.trim_end_matches(',').split_once(" -> ") {
            let inner = sql_type.strip_prefix("Nullable<").and_then(|rest| rest.strip_suffix('>'));
            let column = Column { sql_type: inner.unwrap_or(sql_type).to_owned(), nullable: inner.is_some() };
            let shape = shapes.get_mut(table.as_ref().unwrap()).unwrap();
            shape.columns.insert(name.trim_start_matches("r#").to_owned(), column);
        } else if let Some((name, key)) = line.strip_suffix(") {").and_then(|head| head.split_once(" (")) {
            let key = key.split(", ").map(str::to_owned).collect();
            shapes.insert(name.to_owned(), Shape { key, ..Shape::default() });
            table = Some(name.to_owned());
        }
    }
    shapes
}

#[derive(QueryableByName)]
struct Row {
    #[diesel(sql_type = Text)]
    table: String,
    #[diesel(sql_type = Text)]
    column: String,
    #[diesel(sql_type = Text)]
    kind: String,
    #[diesel(sql_type = Bool)]
    nullable: bool,
    /// The position in the primary key, from 1; 0 when not in it.
    #[diesel(sql_type = BigInt)]
    key: i64,
}

const IN_SQLITE: &str = r#"SELECT m.name AS "table", c.name AS "column", c.type AS kind, c."notnull" = 0 AS nullable, c.pk AS key
 FROM sqlite_master m, pragma_table_info(m.name) c WHERE m.type = 'table' AND m.name <> 'things' AND m.name NOT LIKE '\_\_%' ESCAPE '\' AND m.name NOT LIKE 'search\_index%' ESCAPE '\'
 ORDER BY m.name, c.pk"#;

const IN_POSTGRES: &str = r#"SELECT c.table_name::text AS "table", c.column_name::text AS "column", c.data_type::text AS kind,
 c.is_nullable = 'YES' AS nullable, coalesce(k.ordinal_position, 0)::bigint AS key
 FROM information_schema.columns c
 LEFT JOIN information_schema.table_constraints t
   ON t.table_schema = c.table_schema AND t.table_name = c.table_name AND t.constraint_type = 'PRIMARY KEY'
 LEFT JOIN information_schema.key_column_usage k
   ON k.constraint_schema = t.constraint_schema AND k.constraint_name = t.constraint_name AND k.table_name = c.table_name
   AND k.column_name = c.column_name
 WHERE c.table_schema = current_schema() AND c.table_name <> 'things' AND c.table_name NOT LIKE '\_\_%'
   AND c.table_name <> 'search_index'
 ORDER BY c.table_name, key"#;

/// The names in `schema/` that a database's type can stand for.
fn words(kind: &str) -> &'static [&'static str] {
    match kind {
        "BLOB" => &["Uuid", "Binary"],
        "TEXT" => &["Text", "Json"],
        "INTEGER" => &["BigInt", "Integer", "Bool", "UtcTime"],
        "REAL" => &["Double"],
        "uuid" => &["Uuid"],
        "bytea" => &["Binary"],
        "text" => &["Text"],
        "json" => &["Json"],
        "bigint" => &["BigInt"],
        "integer" => &["Integer"],
        "boolean" => &["Bool"],
        "timestamp with time zone" => &["UtcTime"],
        "double precision" => &["Double"],
        _ => &[],
    }
}

#[tokio::test]
async fn the_tables_are_as_written_in_schema_rs() {
    on_both(async |db| {
        let rows: Vec<Row> = db
            .read(|conn| {
                Box::pin(async move {
                    let rows = match conn {
                        Conn::Pg(pg) => diesel::sql_query(IN_POSTGRES).load(&mut **pg).await,
                        Conn::Sqlite(lite) => {
                            lite.run(|conn| diesel::RunQueryDsl::load(diesel::sql_query(IN_SQLITE), conn)).await
                        }
                    };
                    Ok::<_, DbError>(rows?)
                })
            })
            .await
            .unwrap();
        let by_hand = written_by_hand();
        assert!(!by_hand.is_empty());
        let mut made = Shapes::new();
        for row in rows {
            let written = by_hand.get(&row.table).and_then(|shape| shape.columns.get(&row.column));
            let fits = written.filter(|column| words(&row.kind).contains(&column.sql_type.as_str()));
            let sql_type = fits.map_or_else(|| row.kind.clone(), |column| column.sql_type.clone());
            let shape = made.entry(row.table).or_default();
            if row.key > 0 {
                shape.key.push(row.column.clone());
            }
            shape.columns.insert(row.column, Column { sql_type, nullable: row.nullable });
        }
        for (table, shape) in &by_hand {
            assert_eq!(made.get(table), Some(shape), "the table {table}");
        }
        assert_eq!(made.keys().collect::<Vec<_>>(), by_hand.keys().collect::<Vec<_>>());
    })
    .await;
}
