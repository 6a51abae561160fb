//! The queries of search. Words reach the databases' query languages in quotes, and consist of letters and digits alone.

use std::collections::HashSet;

use actors::ids::{self, Id, User};
use diesel::sql_types::{BigInt, Bool, Double, Text};
use diesel::{ExpressionMethods, QueryDsl, QueryableByName};

use super::scope;
use crate::db::schema::search_words;
use crate::db::{Conn, DbError, RunQueryDsl, Uuid as SqlUuid, each};
use crate::reviews::search::model::{SearchKind, SearchTerm};
use crate::reviews::search::spelling::{ABOVE_ALL, WordRange};

/// How many hits of one document, transcript or item are listed.
const OF_ONE_SOURCE: i64 = 3;

/// What is asked for, and by whom.
#[derive(Debug, Clone)]
pub struct PassageQuery {
    pub project_id: Id<ids::Project>,
    pub caller: Id<User>,
    /// Whether the caller may read the transcripts of meetings that they did not take part in.
    pub hears_all: bool,
    pub terms: Vec<SearchTerm>,
    /// The code that the query may be, such as `REQ-001`: that item comes first.
    pub code: String,
    pub kinds: Vec<SearchKind>,
    pub limit: i64,
}

/// Those of some words that a project has.
pub async fn known(
    conn: &mut Conn,
    project_id: Id<ids::Project>,
    words: Vec<String>,
) -> Result<HashSet<String>, DbError> {
    if words.is_empty() {
        return Ok(HashSet::new());
    }
    let known = search_words::table
        .filter(search_words::project_id.eq(project_id))
        .filter(search_words::word.eq_any(words))
        .select(search_words::word);
    Ok(known.load::<String>(conn).await?.into_iter().collect())
}

/// Whether a project has a word that begins so.
pub async fn is_begun(conn: &mut Conn, project_id: Id<ids::Project>, beginning: &str) -> Result<bool, DbError> {
    let range = WordRange { from: beginning.to_owned(), to: format!("{beginning}{ABOVE_ALL}") };
    Ok(!words_in(conn, project_id, &range, 1).await?.is_empty())
}

/// The first words of a project in a part of them, in order.
pub async fn words_in(
    conn: &mut Conn,
    project_id: Id<ids::Project>,
    range: &WordRange,
    most: i64,
) -> Result<Vec<String>, DbError> {
    let listed = search_words::table
        .filter(search_words::project_id.eq(project_id))
        .filter(search_words::word.ge(range.from.clone()))
        .filter(search_words::word.lt(range.to.clone()))
        .order(search_words::word.asc())
        .select(search_words::word)
        .limit(most);
    Ok(listed.load(conn).await?)
}

/// A passage that was found, best first.
#[derive(Debug, Clone, QueryableByName)]
pub struct FoundPassage {
    #[diesel(sql_type = BigInt)]
    pub id: i64,
    #[diesel(sql_type = Double)]
    pub score: f64,
}

/// Finds the passages in which all terms occur, best first: of existing sources that the caller may read.
pub async fn find(conn: &mut Conn, query: &PassageQuery) -> Result<Vec<FoundPassage>, DbError> {
    let kinds: Vec<String> = query.kinds.iter().map(|kind| format!("'{}'", kind.into_str())).collect();
    let (found, words) = match conn {
        Conn::Pg(_) => (IN_POSTGRES, for_postgres(query)),
        Conn::Sqlite(_) => (IN_SQLITE, for_sqlite(query)),
    };
    let sql = format!(
        "WITH found AS MATERIALIZED ({found}), \
         readable AS ( \
           SELECT p.id, p.source_id, p.position, found.score, p.code \
           FROM found JOIN search_passages p ON p.id = found.id \
           WHERE p.project_id = $2 AND p.kind IN ({kinds}) AND CASE p.kind \
             WHEN 'DOCUMENT' THEN EXISTS (SELECT 1 FROM documents d WHERE d.id = p.source_id) \
             WHEN 'TRANSCRIPT' THEN EXISTS ( \
               SELECT 1 FROM transcripts t JOIN recordings r ON r.id = t.recording_id \
               WHERE r.id = p.source_id AND t.status = 'READY' AND ($3 OR EXISTS ( \
                 SELECT 1 FROM participants own WHERE own.meeting_id = r.meeting_id AND own.user_id = $4 \
                 AND own.status <> 'REMOVED' AND (own.first_joined_at IS NOT NULL OR own.role IN ('HOST', 'CO_HOST'))))) \
             ELSE EXISTS (SELECT 1 FROM items i WHERE i.id = p.source_id AND i.workflow_status <> 'REJECTED') END), \
         placed AS ( \
           SELECT id, score, code, row_number() OVER (PARTITION BY source_id ORDER BY score DESC, position) AS place \
           FROM readable) \
         SELECT id, score FROM placed WHERE place <= {OF_ONE_SOURCE} \
         ORDER BY (code IS NOT NULL AND code = $5) DESC, score DESC, id LIMIT $6",
        kinds = kinds.join(", ")
    );
    // SQLite numbers them as they occur in the text.
    let select = diesel::sql_query(sql)
        .bind::<Text, _>(words)
        .bind::<SqlUuid, _>(query.project_id)
        .bind::<Bool, _>(query.hears_all)
        .bind::<SqlUuid, _>(query.caller)
        .bind::<Text, _>(query.code.clone())
        .bind::<BigInt, _>(query.limit);
    Ok(each!(conn, load, select)?)
}

const IN_SQLITE: &str = "SELECT rowid AS id, -bm25(search_index, 4.0, 1.0, 0.0) AS score FROM search_index \
                         WHERE search_index MATCH $1";
/// The weights are those of the scope (D), of nothing (C), of the text (B) and of the title (A).
const IN_POSTGRES: &str = "SELECT passage_id AS id, \
                           ts_rank('{0, 0, 0.25, 1}', words, $1::tsquery)::double precision AS score \
                           FROM search_index WHERE words @@ $1::tsquery";

/// The terms in the query language of FTS5.
fn for_sqlite(query: &PassageQuery) -> String {
    let term = |term: &SearchTerm| {
        let words = term.words.iter().map(|word| format!("\"{word}\""));
        let beginnings = term.beginnings.iter().map(|beginning| format!("\"{beginning}\"*"));
        let any: Vec<String> = words.chain(beginnings).collect();
        format!(" AND {{title words}} : ({})", any.join(" OR "))
    };
    let terms: String = query.terms.iter().map(term).collect();
    format!("scope : \"{}\"{terms}", scope(query.project_id))
}

/// The terms as PostgreSQL's tsquery.
fn for_postgres(query: &PassageQuery) -> String {
    let term = |term: &SearchTerm| {
        let words = term.words.iter().map(|word| format!("'{word}':AB"));
        let beginnings = term.beginnings.iter().map(|beginning| format!("'{beginning}':*AB"));
        let any: Vec<String> = words.chain(beginnings).collect();
        format!(" & ({})", any.join(" | "))
    };
    let terms: String = query.terms.iter().map(term).collect();
    format!("'{}'{terms}", scope(query.project_id))
}
