//! HTTP handlers of the versions of documents.

use actix_web::HttpRequest;

use super::model::DocumentComparison;
use super::operations;
use crate::access::policy::{Analyst, Member, PathIds};
use crate::api::operation::Authorized;
use crate::http::answer::CountedAnswer;
use crate::http::budget::Share;
use crate::http::envelope::{List, Reply};
use crate::http::error::ApiError;
use crate::http::input::{Described, Empty, Input, Raw, ValidQuery, WithShare};
use crate::projects::documents::bodies::ComparisonQuery;
use crate::projects::documents::model::Document;
use crate::projects::documents::upload::DocumentUpload;
use crate::projects::state::Projects;

pub async fn upload(
    request: Authorized<Analyst<Document>, DocumentUpload>,
    state: Projects,
) -> Result<Reply<Document>, ApiError> {
    let (caller, document) = (request.access.caller, request.access.resource);
    operations::upload(&state, caller, document, request.input, request.request_id).await.map(Reply::created)
}

pub async fn list(
    request: Authorized<Member<Document>, Empty>,
    state: Projects,
) -> Result<Reply<List<Document>>, ApiError> {
    operations::list(&state, request.access.resource.id).await.map(Reply::ok)
}

/// The version in the path, and the one that it is compared with.
pub struct WantedComparison {
    version: u32,
    with: Option<u32>,
    share: Share,
}

impl Input for WantedComparison {
    async fn take(request: &HttpRequest, body: Raw) -> Result<Self, ApiError> {
        let version = PathIds::of(request).number("version")?;
        let WithShare { input: ValidQuery(query), share } =
            WithShare::<ValidQuery<ComparisonQuery>>::take(request, body).await?;
        Ok(Self { version, with: query.with, share })
    }

    fn describe() -> Described {
        ValidQuery::<ComparisonQuery>::describe()
    }
}

pub async fn compare(
    request: Authorized<Member<Document>, WantedComparison>,
    state: Projects,
) -> Result<CountedAnswer<DocumentComparison>, ApiError> {
    let WantedComparison { version, with, mut share } = request.input;
    let compared = operations::compare(&state, request.access.resource.id, version.into(), with, &mut share).await?;
    Ok(CountedAnswer { reply: Reply::ok(compared), share })
}
