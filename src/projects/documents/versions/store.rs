//! Queries of the versions of documents. The present version is a row of `documents`, the others are in `document_versions`; a version
//! that is read becomes the present one and puts its predecessor there.

use actors::ids::{self, Id, User};
use actors::language::Language;
use actors::time::Time;
use diesel::{ExpressionMethods, Insertable, JoinOnDsl, OptionalExtension, QueryDsl, Queryable, Selectable};

use crate::db::schema::{document_texts, document_versions, documents};
use crate::db::{Columns, Conn, DbError, RunQueryDsl, Uuid as SqlUuid, each, kept, number};
use crate::projects::documents::model::{Document, DocumentStatus};
use crate::projects::documents::store;

/// How many versions are deleted at once.
const DELETED_AT_ONCE: i64 = 5;

#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = document_versions)]
struct DocumentVersionRow {
    document_id: Id<ids::Document>,
    version: i64,
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
}

impl DocumentVersionRow {
    /// The document in this version.
    fn of(self, present: &Document) -> Document {
        Document {
            id: self.document_id,
            project_id: self.project_id,
            version: self.version,
            newest_version: present.newest_version,
            file_name: self.file_name,
            mime_type: self.mime_type,
            size_bytes: self.size_bytes,
            sha256: self.sha256,
            status: self.status,
            page_count: self.page_count,
            character_count: self.character_count,
            language: self.language,
            error_message: self.error_message,
            uploaded_by_id: self.uploaded_by_id,
            created_at: present.created_at,
            version_created_at: self.created_at,
        }
    }
}

/// Locks a document until the transaction ends: versions of it change one after the other. Returns its present version.
pub async fn find_to_change(conn: &mut Conn, id: Id<ids::Document>) -> Result<Option<Document>, DbError> {
    let row = documents::table.find(id);
    let locked = diesel::update(row).set(documents::newest_version.eq(documents::newest_version)).execute(conn).await?;
    if locked == 0 { Ok(None) } else { store::find_anywhere(conn, id).await }
}

/// A document of any project in one of its versions.
pub async fn find(conn: &mut Conn, id: Id<ids::Document>, version: i64) -> Result<Option<Document>, DbError> {
    let row = document_versions::table.find((id, version)).select(DocumentVersionRow::columns());
    let row: Option<DocumentVersionRow> = row.first(conn).await.optional()?;
    let Some(present) = store::find_anywhere(conn, id).await? else { return Ok(None) };
    if present.version == version {
        return Ok(Some(present));
    }
    let row = match row {
        // It was the present one until now.
        None if present.version > version => {
            let row = document_versions::table.find((id, version)).select(DocumentVersionRow::columns());
            row.first(conn).await.optional()?
        }
        row => row,
    };
    Ok(row.map(|row| row.of(&present)))
}

/// All versions of a document, the newest first; none if it was deleted.
pub async fn list(conn: &mut Conn, id: Id<ids::Document>) -> Result<Vec<Document>, DbError> {
    let Some(mut present) = store::find_anywhere(conn, id).await? else { return Ok(Vec::new()) };
    loop {
        let others: Vec<DocumentVersionRow> = document_versions::table
            .filter(document_versions::document_id.eq(id))
            .select(DocumentVersionRow::columns())
            .load(conn)
            .await?;
        let Some(now) = store::find_anywhere(conn, id).await? else { return Ok(Vec::new()) };
        // Another version became the present one between the statements, which only newer ones do.
        if now.version != present.version {
            present = now;
            continue;
        }
        let mut all: Vec<Document> = others.into_iter().map(|row| row.of(&now)).collect();
        all.push(now);
        all.sort_by_key(|one| std::cmp::Reverse(one.version));
        return Ok(all);
    }
}

/// Adds a version that is to be read. The document must be locked.
pub async fn insert(conn: &mut Conn, version: &Document) -> Result<(), DbError> {
    let row = DocumentVersionRow {
        document_id: version.id,
        version: version.version,
        project_id: version.project_id,
        file_name: version.file_name.clone(),
        mime_type: version.mime_type.clone(),
        size_bytes: version.size_bytes,
        sha256: version.sha256.clone(),
        status: version.status,
        page_count: version.page_count,
        character_count: version.character_count,
        language: version.language,
        error_message: version.error_message.clone(),
        uploaded_by_id: version.uploaded_by_id,
        created_at: version.version_created_at,
    };
    diesel::insert_into(document_versions::table).values(&row).execute(conn).await?;
    let document = documents::table.find(version.id);
    diesel::update(document).set(documents::newest_version.eq(version.newest_version)).execute(conn).await?;
    Ok(())
}

/// Updates what reading a version changes, whether it is the present one or another one, if its stored status equals `before`. Returns
/// whether it did.
pub async fn update(conn: &mut Conn, version: &Document, before: DocumentStatus) -> Result<bool, DbError> {
    if store::update(conn, version, before).await? {
        return Ok(true);
    }
    let row = document_versions::table.find((version.id, version.version));
    let updated = diesel::update(row.filter(document_versions::status.eq(before))).set((
        document_versions::status.eq(version.status),
        document_versions::page_count.eq(version.page_count),
        document_versions::character_count.eq(version.character_count),
        document_versions::language.eq(version.language),
        document_versions::error_message.eq(version.error_message.clone()),
    ));
    Ok(updated.execute(conn).await? == 1)
}

/// The present version of a document, with its text, as one of the others.
const PUT_ASIDE: &str = "INSERT INTO document_versions (document_id, version, project_id, file_name, mime_type, size_bytes, sha256, \
    status, page_count, character_count, language, error_message, uploaded_by_id, created_at, text_bytes, reader_version, source_text) \
    SELECT d.id, d.version, d.project_id, d.file_name, d.mime_type, d.size_bytes, d.sha256, d.status, d.page_count, d.character_count, \
    d.language, d.error_message, d.uploaded_by_id, COALESCE(d.version_created_at, d.created_at), d.text_bytes, t.reader_version, \
    t.source_text FROM documents d LEFT JOIN document_texts t ON t.document_id = d.id WHERE d.id = $1";

/// Stores the text of a version that is READY. It becomes the present version, unless a newer one is. The document must be locked.
pub async fn insert_text(
    conn: &mut Conn,
    present: &Document,
    version: &Document,
    source_text: String,
    reader_version: String,
) -> Result<(), DbError> {
    if version.version == present.version {
        return store::insert_text(conn, version.id, source_text, reader_version).await;
    }
    let row = document_versions::table.find((version.id, version.version));
    if version.version < present.version {
        let text = (
            document_versions::text_bytes.eq(number(source_text.len() as u64)),
            document_versions::source_text.eq(source_text),
            document_versions::reader_version.eq(reader_version),
        );
        diesel::update(row).set(text).execute(conn).await?;
        return Ok(());
    }
    let put_aside = diesel::sql_query(PUT_ASIDE).bind::<SqlUuid, _>(version.id);
    each!(conn, execute, kept(put_aside))?;
    diesel::delete(document_texts::table.find(version.id)).execute(conn).await?;
    diesel::delete(row).execute(conn).await?;
    let document = diesel::update(documents::table.find(version.id)).set((
        documents::version.eq(version.version),
        documents::version_created_at.eq(version.version_created_at),
        documents::file_name.eq(version.file_name.clone()),
        documents::mime_type.eq(version.mime_type.clone()),
        documents::size_bytes.eq(version.size_bytes),
        documents::sha256.eq(version.sha256.clone()),
        documents::status.eq(version.status),
        documents::page_count.eq(version.page_count),
        documents::character_count.eq(version.character_count),
        documents::language.eq(version.language),
        documents::error_message.eq(version.error_message.clone()),
        documents::uploaded_by_id.eq(version.uploaded_by_id),
    ));
    document.execute(conn).await?;
    store::insert_text(conn, version.id, source_text, reader_version).await
}

/// The parser's output for a version of a document, as JSON.
pub async fn text(conn: &mut Conn, id: Id<ids::Document>, version: i64) -> Result<Option<String>, DbError> {
    let present = document_texts::table
        .inner_join(documents::table.on(documents::id.eq(document_texts::document_id)))
        .filter(documents::id.eq(id))
        .filter(documents::version.eq(version))
        .select(document_texts::source_text);
    if let Some(text) = present.first(conn).await.optional()? {
        return Ok(Some(text));
    }
    // A version is put aside, and never comes back: what is not the present one now is here, if anywhere.
    let other = document_versions::table.find((id, version)).select(document_versions::source_text);
    let other: Option<Option<String>> = other.first(conn).await.optional()?;
    Ok(other.flatten())
}

/// Some of the versions of a document but the present one, with the hashes of their contents; none if there are none left.
pub async fn some_contents(conn: &mut Conn, id: Id<ids::Document>) -> Result<Vec<(i64, String)>, DbError> {
    let some = document_versions::table.filter(document_versions::document_id.eq(id)).limit(DELETED_AT_ONCE);
    Ok(some.select((document_versions::version, document_versions::sha256)).load(conn).await?)
}

/// Deletes some of the versions of a document but the present one.
pub async fn delete(conn: &mut Conn, id: Id<ids::Document>, versions: Vec<i64>) -> Result<(), DbError> {
    let rows = document_versions::table.filter(document_versions::document_id.eq(id));
    diesel::delete(rows.filter(document_versions::version.eq_any(versions))).execute(conn).await?;
    Ok(())
}
