//! Documents: uploads and queries in, answers and files out.

use actix_web::HttpResponse;
use actix_web::body::SizedStream;
use actix_web::http::header::{Charset, ContentDisposition, DispositionParam, DispositionType, ETAG, ExtendedValue};
use tokio_util::io::ReaderStream;
use utoipa::PartialSchema;
use utoipa::openapi::path::Parameter;

use super::model::{Document, DocumentStatus, DocumentText};
use super::operations;
use super::store::Filter;
use super::upload::Upload;
use crate::access::guard::{Analyst, Member};
use crate::api::operation::Allowed;
use crate::http::answer::{Binary, Counted};
use crate::http::budget::Share;
use crate::http::envelope::{List, Nothing, Reply};
use crate::http::failure::Failure;
use crate::http::fields::{Faulty, Fields};
use crate::http::input::{Asked, Empty, Query, query_parameter};
use crate::http::page::{Page, Search};
use crate::projects::model::Project;
use crate::projects::state::Projects;

/// How much of a file is read at once.
const PIECE_BYTES: usize = 64 * 1024;

pub async fn upload(may: Allowed<Analyst<Project>, Upload>, state: Projects) -> Result<Reply<Document>, Failure> {
    let id = may.drawn();
    operations::upload(&state, may.by.caller, &may.by.thing, id, may.input, may.request).await.map(Reply::created)
}

pub struct ListDocuments {
    filter: Filter,
    page: Page,
}

impl Query for ListDocuments {
    const KEYS: &'static [&'static str] = &["limit", "cursor", "status", "search"];
    fn read(fields: &mut Fields) -> Result<Self, Faulty> {
        let status = fields.optional("status");
        let search = fields.optional::<Search>("search");
        let page = Page::read_from(fields);
        let filter = Filter { status: status?, search: search?.map(|search| search.0) };
        Ok(Self { filter, page: page? })
    }
    fn parameters() -> Vec<Parameter> {
        let mut parameters = Page::parameters();
        parameters.push(query_parameter("status", "Only documents of this status.", DocumentStatus::schema()));
        parameters.push(Search::parameter("Only documents whose file name has this."));
        parameters
    }
}

pub async fn list(
    may: Allowed<Member<Project>, Asked<ListDocuments>>,
    state: Projects,
) -> Result<Reply<List<Document>>, Failure> {
    let Asked(asked) = may.input;
    operations::list(&state, may.by.thing.id, asked.filter, asked.page).await.map(Reply::ok)
}

pub async fn details(may: Allowed<Member<Document>, Empty>, _: Projects) -> Result<Reply<Document>, Failure> {
    Ok(Reply::ok(may.by.thing))
}

pub async fn text(may: Allowed<Member<Document>, Share>, state: Projects) -> Result<Counted<DocumentText>, Failure> {
    let (document, mut share) = (may.by.thing, may.input);
    // Whom there is no room for costs no work. A character has at least a byte.
    share.grow_to(document.character_count.and_then(|count| count.try_into().ok()).unwrap_or_default())?;
    let text = operations::text(&state, &document).await?;
    Ok(Counted { reply: Reply::ok(text), share })
}

/// Always as an attachment: what others uploaded never runs in a browser under our name.
pub async fn download(may: Allowed<Analyst<Document>, Empty>, state: Projects) -> Result<Binary, Failure> {
    let document = may.by.thing;
    let file = state.files.open(&document.sha256).await.map_err(Failure::internal)?;
    let size = file.metadata().await.map_err(Failure::internal)?.len();
    let body = SizedStream::new(size, ReaderStream::with_capacity(file, PIECE_BYTES));
    Ok(Binary(
        HttpResponse::Ok()
            .content_type(document.mime_type)
            .insert_header(attachment(&document.file_name))
            .insert_header((ETAG, format!("\"{}\"", document.sha256)))
            .body(body),
    ))
}

/// The name in ASCII for old clients, and as it is for all others.
fn attachment(file_name: &str) -> ContentDisposition {
    let plain = |c: char| if c.is_ascii_graphic() && !matches!(c, '"' | '\\' | '%') || c == ' ' { c } else { '_' };
    let exact = ExtendedValue {
        charset: Charset::Ext("UTF-8".to_owned()),
        language_tag: None,
        value: file_name.as_bytes().to_vec(),
    };
    ContentDisposition {
        disposition: DispositionType::Attachment,
        parameters: vec![
            DispositionParam::Filename(file_name.chars().map(plain).collect()),
            DispositionParam::FilenameExt(exact),
        ],
    }
}

pub async fn delete(may: Allowed<Analyst<Document>, Empty>, state: Projects) -> Result<Reply<Nothing>, Failure> {
    operations::delete(&state, may.by.thing, may.request).await?;
    Ok(Reply::ok(Nothing {}))
}

#[cfg(test)]
mod tests {
    use super::attachment;

    #[test]
    fn a_name_stays_within_its_header() {
        let header = attachment("Żeby\"; filename=x.exe %00.pdf").to_string();
        assert_eq!(
            header,
            "attachment; filename=\"_eby_; filename=x.exe _00.pdf\"; \
             filename*=UTF-8''%C5%BBeby%22%3B%20filename=x.exe%20%2500.pdf"
        );
    }
}
