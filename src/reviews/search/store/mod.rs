//! The passages that are searched, and what is still to be indexed. Written by one task alone.

pub mod finding;
pub mod pending;
pub mod sources;

use std::collections::BTreeMap;

use actors::ids::{self, Id};
use diesel::sql_types::{Array, BigInt, Text};
use diesel::upsert::excluded;
use diesel::{ExpressionMethods, Insertable, QueryDsl, Queryable, Selectable};

use super::difference::{AddedPassage, IndexChange};
use super::model::SearchKind;
use super::passages::SearchPassage;
use crate::db::schema::{search_passages, search_words};
use crate::db::{Columns, Conn, DbError, RunQueryDsl, many, number};

#[derive(Debug, Clone, Queryable, Selectable, Insertable)]
#[diesel(table_name = search_passages)]
struct Row {
    id: i64,
    project_id: Id<ids::Project>,
    kind: SearchKind,
    source_id: Id<()>,
    position: i64,
    code: Option<String>,
    title: String,
    text: String,
    starts_at: Option<i64>,
    times: Option<String>,
}

/// A passage that is indexed.
#[derive(Debug, Clone)]
pub struct IndexedPassage {
    pub id: i64,
    pub project_id: Id<ids::Project>,
    pub kind: SearchKind,
    pub source_id: Id<()>,
    pub position: usize,
    pub passage: SearchPassage,
}

impl From<Row> for IndexedPassage {
    fn from(row: Row) -> Self {
        let Row { id, project_id, kind, source_id, position, code, title, text, starts_at, times } = row;
        Self {
            id,
            project_id,
            kind,
            source_id,
            position: usize::try_from(position).unwrap_or_default(),
            passage: SearchPassage { code, title, text, starts_at, times },
        }
    }
}

/// The first passages of sources, in no order: items have no others.
pub async fn first_passages(conn: &mut Conn, sources: Vec<Id<()>>) -> Result<Vec<IndexedPassage>, DbError> {
    let found = search_passages::table.filter(search_passages::source_id.eq_any(sources));
    let first = found.filter(search_passages::position.eq(0));
    let rows: Vec<Row> = first.select(Row::columns()).load(conn).await?;
    Ok(rows.into_iter().map(IndexedPassage::from).collect())
}

/// The passages of a source from a position on, up to another one, and so many at most; in order.
pub async fn passages_of(
    conn: &mut Conn,
    source: Id<()>,
    from: usize,
    before: usize,
    most: usize,
) -> Result<Vec<IndexedPassage>, DbError> {
    let [from, before, most] = [from, before, most].map(|count| i64::try_from(count).unwrap_or(i64::MAX));
    let found = search_passages::table
        .filter(search_passages::source_id.eq(source))
        .filter(search_passages::position.ge(from))
        .filter(search_passages::position.lt(before))
        .order(search_passages::position.asc())
        .limit(most);
    let rows: Vec<Row> = found.select(Row::columns()).load(conn).await?;
    Ok(rows.into_iter().map(IndexedPassage::from).collect())
}

/// Passages by their ids, in no order.
pub async fn passages(conn: &mut Conn, ids: Vec<i64>) -> Result<Vec<IndexedPassage>, DbError> {
    let found = search_passages::table.filter(search_passages::id.eq_any(ids));
    let rows: Vec<Row> = found.select(Row::columns()).load(conn).await?;
    Ok(rows.into_iter().map(IndexedPassage::from).collect())
}

/// Removes passages and adds others, with their words.
///
/// # Errors
/// `Violated(ForeignKey)` when a project is deleted at the same time.
pub async fn replace(conn: &mut Conn, change: IndexChange) -> Result<(), DbError> {
    let IndexChange { removed, added, words } = change;
    diesel::delete(search_passages::table.filter(search_passages::id.eq_any(removed))).execute(conn).await?;
    let last: Option<i64> =
        search_passages::table.select(diesel::dsl::max(search_passages::id)).get_result(conn).await?;
    let mut rows = Vec::with_capacity(added.len());
    let mut indexed = Vec::with_capacity(added.len());
    for (id, AddedPassage { wanted, title_words, text_words }) in (last.unwrap_or_default() + 1..).zip(added) {
        indexed.push((id, title_words, text_words, scope(wanted.project_id)));
        let SearchPassage { code, title, text, starts_at, times } = wanted.passage;
        rows.push(Row {
            id,
            project_id: wanted.project_id,
            kind: wanted.kind,
            source_id: wanted.source_id,
            position: number(u64::try_from(wanted.position).unwrap_or(u64::MAX)),
            code,
            title,
            text,
            starts_at,
            times,
        });
    }
    many!(conn, &rows, |some| diesel::insert_into(search_passages::table).values(some));
    index(conn, indexed).await?;
    list_words(conn, words).await
}

/// The word under which all passages of a project are indexed.
#[must_use]
pub fn scope(project_id: Id<ids::Project>) -> String {
    format!("p{}", project_id.uuid().simple())
}

async fn index(conn: &mut Conn, indexed: Vec<(i64, Vec<String>, Vec<String>, String)>) -> Result<(), DbError> {
    match conn {
        Conn::Pg(pg) => {
            let vector = |(id, title, text, scope): (_, _, _, String)| (id, lexemes(title, text, &scope));
            let (ids, vectors): (Vec<i64>, Vec<String>) = indexed.into_iter().map(vector).unzip();
            let insert = "INSERT INTO search_index (passage_id, words) \
                          SELECT id, vector::tsvector FROM unnest($1, $2) AS indexed (id, vector)";
            let insert = diesel::sql_query(insert).bind::<Array<BigInt>, _>(ids).bind::<Array<Text>, _>(vectors);
            diesel_async::RunQueryDsl::execute(insert, &mut **pg).await?;
        }
        Conn::Sqlite(lite) => {
            for (id, title, text, scope) in indexed {
                let insert = "INSERT INTO search_index (rowid, title, words, scope) VALUES ($1, $2, $3, $4)";
                let insert = diesel::sql_query(insert)
                    .bind::<BigInt, _>(id)
                    .bind::<Text, _>(title.join(" "))
                    .bind::<Text, _>(text.join(" "))
                    .bind::<Text, _>(scope);
                lite.run(|conn| diesel::RunQueryDsl::execute(insert, conn)).await?;
            }
        }
    }
    Ok(())
}

/// A passage as PostgreSQL's tsvector. Words are letters and digits alone, so that none needs an escape.
fn lexemes(title: Vec<String>, text: Vec<String>, scope: &str) -> String {
    let weighted = title.into_iter().map(|word| (word, 'A')).chain(text.into_iter().map(|word| (word, 'B')));
    let mut vector = format!("'{scope}'");
    for (position, (word, weight)) in (1..).zip(weighted) {
        vector.push_str(&format!(" '{word}':{position}{weight}"));
    }
    vector
}

/// Adds to the counts of words, and deletes those that are in no passage any more.
async fn list_words(conn: &mut Conn, counts: BTreeMap<(Id<ids::Project>, String), i64>) -> Result<(), DbError> {
    let mut gone: BTreeMap<Id<ids::Project>, Vec<String>> = BTreeMap::new();
    let changed: Vec<_> = counts.into_iter().filter(|(_, by)| *by != 0).collect();
    for ((project_id, word), by) in &changed {
        if *by < 0 {
            gone.entry(*project_id).or_default().push(word.clone());
        }
    }
    let rows: Vec<_> = changed
        .into_iter()
        .map(|((project_id, word), by)| {
            (search_words::project_id.eq(project_id), search_words::word.eq(word), search_words::passages.eq(by))
        })
        .collect();
    many!(conn, &rows, |some| {
        diesel::insert_into(search_words::table)
            .values(some)
            .on_conflict((search_words::project_id, search_words::word))
            .do_update()
            .set(search_words::passages.eq(search_words::passages + excluded(search_words::passages)))
    });
    for (project_id, words) in gone {
        let unused = search_words::table
            .filter(search_words::project_id.eq(project_id))
            .filter(search_words::word.eq_any(words))
            .filter(search_words::passages.le(0));
        diesel::delete(unused).execute(conn).await?;
    }
    Ok(())
}
