//! Queries of documents and their texts.

use std::collections::HashSet;

use actors::ids::{self, Id, User};
use actors::language::Language;
use actors::run::AiRunStatus;
use actors::time::Time;
use diesel::{
    ExpressionMethods, Insertable, OptionalExtension, QueryDsl, Queryable, Selectable, TextExpressionMethods,
};

use super::bodies::Filter;
use super::model::{Document, DocumentStatus};
use crate::db::schema::{document_texts, document_versions, documents, runs};
use crate::db::{Columns, Conn, DbError, ROWS, RunQueryDsl, contains, is_found, is_wanted, number, page_of};
use crate::http::envelope::List;
use crate::http::list::Listing;

#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = documents)]
struct DocumentRow {
    id: Id<ids::Document>,
    project_id: Id<ids::Project>,
    file_name: String,
    mime_type: String,
    size_bytes: i64,
    sha256: String,
    status: DocumentStatus,
    page_count: Option<i64>,
    character_count: Option<i64>,
    language: Language,
    error_message: Option<String>,
    uploaded_by_id: Id<User>,
    created_at: Time,
    version: i64,
    newest_version: i64,
    version_created_at: Option<Time>,
}

impl From<&Document> for DocumentRow {
    fn from(document: &Document) -> Self {
        Self {
            id: document.id,
            project_id: document.project_id,
            file_name: document.file_name.clone(),
            mime_type: document.mime_type.clone(),
            size_bytes: document.size_bytes,
            sha256: document.sha256.clone(),
            status: document.status,
            page_count: document.page_count,
            character_count: document.character_count,
            language: document.language,
            error_message: document.error_message.clone(),
            uploaded_by_id: document.uploaded_by_id,
            created_at: document.created_at,
            version: document.version,
            newest_version: document.newest_version,
            version_created_at: Some(document.version_created_at),
        }
    }
}

impl From<DocumentRow> for Document {
    fn from(row: DocumentRow) -> Self {
        Self {
            id: row.id,
            project_id: row.project_id,
            status: row.status,
            language: row.language,
            file_name: row.file_name,
            mime_type: row.mime_type,
            size_bytes: row.size_bytes,
            sha256: row.sha256,
            page_count: row.page_count,
            character_count: row.character_count,
            error_message: row.error_message,
            uploaded_by_id: row.uploaded_by_id,
            created_at: row.created_at,
            version: row.version,
            newest_version: row.newest_version,
            version_created_at: row.version_created_at.unwrap_or(row.created_at),
        }
    }
}

/// Inserts a document, unless its id exists already. Returns whether it was inserted.
pub async fn insert(conn: &mut Conn, document: &Document) -> Result<bool, DbError> {
    let row = DocumentRow::from(document);
    Ok(diesel::insert_into(documents::table).values(&row).on_conflict_do_nothing().execute(conn).await? == 1)
}

/// A document of this project.
pub async fn find(
    conn: &mut Conn,
    project_id: Id<ids::Project>,
    id: Id<ids::Document>,
) -> Result<Option<Document>, DbError> {
    Ok(find_anywhere(conn, id).await?.filter(|document| document.project_id == project_id))
}

/// A document of any project.
pub async fn find_anywhere(conn: &mut Conn, id: Id<ids::Document>) -> Result<Option<Document>, DbError> {
    let row: Option<DocumentRow> =
        documents::table.find(id).select(DocumentRow::columns()).first(conn).await.optional()?;
    Ok(row.map(Document::from))
}

/// Updates the columns that parsing changes, if this is still the present version and its stored status equals `before`. Returns
/// whether it did.
pub async fn update(conn: &mut Conn, document: &Document, before: DocumentStatus) -> Result<bool, DbError> {
    let row = DocumentRow::from(document);
    let present = documents::table.find(row.id).filter(documents::version.eq(row.version));
    let updated = diesel::update(present.filter(documents::status.eq(before))).set((
        documents::status.eq(row.status),
        documents::page_count.eq(row.page_count),
        documents::character_count.eq(row.character_count),
        documents::language.eq(row.language),
        documents::error_message.eq(row.error_message),
    ));
    Ok(updated.execute(conn).await? == 1)
}

pub async fn delete(conn: &mut Conn, id: Id<ids::Document>) -> Result<(), DbError> {
    diesel::delete(documents::table.find(id)).execute(conn).await?;
    Ok(())
}

/// Stores the parser's output as JSON, with its size. An existing text is not replaced.
pub async fn insert_text(
    conn: &mut Conn,
    id: Id<ids::Document>,
    source_text: String,
    reader_version: String,
) -> Result<(), DbError> {
    let bytes = number(source_text.len() as u64);
    let row = (
        document_texts::document_id.eq(id),
        document_texts::source_text.eq(source_text),
        document_texts::reader_version.eq(reader_version),
    );
    if diesel::insert_into(document_texts::table).values(row).on_conflict_do_nothing().execute(conn).await? == 1 {
        let sized = diesel::update(documents::table.find(id)).set(documents::text_bytes.eq(bytes));
        sized.execute(conn).await?;
    }
    Ok(())
}

/// Counts the documents of a user that have still to be parsed, and the versions of them, each up to `most`.
pub async fn open_of(conn: &mut Conn, user_id: Id<User>, most: usize) -> Result<usize, DbError> {
    let most = i64::try_from(most).unwrap_or(i64::MAX);
    let is_open = [DocumentStatus::Pending, DocumentStatus::Processing];
    let open = documents::table
        .filter(documents::uploaded_by_id.eq(user_id))
        .filter(documents::status.eq_any(is_open))
        .select(documents::id)
        .limit(most);
    let open: Vec<Id<ids::Document>> = open.load(conn).await?;
    let versions = document_versions::table
        .filter(document_versions::uploaded_by_id.eq(user_id))
        .filter(document_versions::status.eq_any(is_open))
        .select(document_versions::document_id)
        .limit(most);
    let versions: Vec<Id<ids::Document>> = versions.load(conn).await?;
    Ok(open.len() + versions.len())
}

/// Whether an unfinished run uses a document.
pub async fn is_in_use(conn: &mut Conn, document: &Document) -> Result<bool, DbError> {
    let unfinished = runs::table
        .filter(runs::project_id.eq(document.project_id))
        .filter(runs::status.eq_any([AiRunStatus::Queued, AiRunStatus::Processing]))
        .filter(runs::document_ids.like(format!("%{}%", document.id)));
    let unfinished: i64 = unfinished.count().get_result(conn).await?;
    Ok(unfinished > 0)
}

/// Those of the contents that a version of a document refers to.
pub async fn named(conn: &mut Conn, contents: Vec<String>) -> Result<Vec<String>, DbError> {
    let named = documents::table.filter(documents::sha256.eq_any(contents.clone()));
    let mut named: Vec<String> = named.select(documents::sha256).distinct().load(conn).await?;
    let others = document_versions::table.filter(document_versions::sha256.eq_any(contents));
    let others: Vec<String> = others.select(document_versions::sha256).distinct().load(conn).await?;
    named.extend(others);
    Ok(named)
}

/// Those of the contents that no document refers to.
pub async fn orphans(conn: &mut Conn, contents: Vec<String>) -> Result<Vec<String>, DbError> {
    let mut taken = HashSet::new();
    for some in contents.chunks(ROWS) {
        taken.extend(named(conn, some.to_vec()).await?);
    }
    Ok(contents.into_iter().filter(|content| !taken.contains(content)).collect())
}

/// All documents of a project, oldest first.
pub async fn of_project(conn: &mut Conn, project_id: Id<ids::Project>) -> Result<Vec<Document>, DbError> {
    let rows: Vec<DocumentRow> = documents::table
        .filter(documents::project_id.eq(project_id))
        .order(documents::id.asc())
        .select(DocumentRow::columns())
        .load(conn)
        .await?;
    Ok(rows.into_iter().map(Document::from).collect())
}

/// Lists a project's documents, newest first.
pub async fn list(
    conn: &mut Conn,
    project_id: Id<ids::Project>,
    Listing { filter, page }: Listing<Filter>,
) -> Result<List<Document>, DbError> {
    let listed = documents::table
        .filter(documents::project_id.eq(project_id))
        .filter(is_wanted(documents::status, filter.status))
        .filter(is_found(filter.search.as_ref(), |pattern| contains(documents::file_name, pattern)));
    let (rows, total): (Vec<DocumentRow>, _) = page_of!(conn, page, listed, documents::id, DocumentRow::columns());
    Ok(page.list(rows, total, |row| row.id.uuid()).map(Document::from))
}
