//! The envelope of every JSON answer: `{isSuccess, data, message, statusCode, errors}`.

use std::borrow::Cow;
use std::sync::Arc;

use actix_web::body::BoxBody;
use actix_web::http::{StatusCode, header};
use actix_web::{HttpRequest, HttpResponse, Responder};
use bytes::Bytes;
use serde::Serialize;
use utoipa::openapi::schema::{ArrayBuilder, ObjectBuilder, SchemaType, Type};
use utoipa::openapi::{Ref, RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use super::failure::{Failure, Fault};

pub const JSON: &str = "application/json";

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Envelope<'a, T: Serialize> {
    is_success: bool,
    data: Option<&'a T>,
    message: &'a str,
    status_code: u16,
    errors: &'a [Fault],
}

/// The bytes of a success. Serialising our own answers does not fail; if it did, the client would get `None`'s 500.
#[must_use]
pub fn success<T: Serialize>(status: u16, message: &str, data: &T) -> Option<Vec<u8>> {
    let envelope = Envelope { is_success: true, data: Some(data), message, status_code: status, errors: &[] };
    serde_json::to_vec(&envelope).ok()
}

/// The bytes of a failure.
#[must_use]
pub fn failure(status: u16, message: &str, errors: &[Fault]) -> Vec<u8> {
    let envelope = Envelope::<()> { is_success: false, data: None, message, status_code: status, errors };
    serde_json::to_vec(&envelope).unwrap_or_default()
}

/// What a handler answers with: data in the envelope, and perhaps an ETag.
#[derive(Debug)]
pub struct Reply<T> {
    status: u16,
    message: Cow<'static, str>,
    data: T,
    etag: Option<String>,
    /// The request's `If-None-Match` is looked at: a poll.
    polled: bool,
}

impl<T> Reply<T> {
    pub fn ok(data: T) -> Self {
        Self { status: 200, message: Cow::Borrowed("OK"), data, etag: None, polled: false }
    }

    pub fn created(data: T) -> Self {
        Self { status: 201, message: Cow::Borrowed("Created"), ..Self::ok(data) }
    }

    pub fn accepted(data: T) -> Self {
        Self { status: 202, message: Cow::Borrowed("Accepted"), ..Self::ok(data) }
    }

    #[must_use]
    pub fn saying(self, message: &'static str) -> Self {
        Self { message: Cow::Borrowed(message), ..self }
    }

    /// The version of the resource, for `If-Match`.
    #[must_use]
    pub fn version(self, version: impl std::fmt::Display) -> Self {
        Self { etag: Some(format!("\"{version}\"")), ..self }
    }

    /// What tells this answer from a former one: `If-None-Match` then gives 304.
    #[must_use]
    pub fn polled(self, etag: impl std::fmt::Display) -> Self {
        Self { etag: Some(format!("\"{etag}\"")), polled: true, ..self }
    }
}

/// Whether a client that sent `If-None-Match` has this very answer already.
#[must_use]
pub fn is_known(request: &HttpRequest, etag: &str) -> bool {
    request.headers().get_all(header::IF_NONE_MATCH).any(|value| {
        value.to_str().is_ok_and(|value| {
            value.split(',').any(|one| one.trim() == "*" || one.trim().trim_start_matches("W/") == etag)
        })
    })
}

impl<T: Serialize> Responder for Reply<T> {
    type Body = BoxBody;
    fn respond_to(self, request: &HttpRequest) -> HttpResponse {
        if let Some(etag) = self.etag.as_deref().filter(|etag| self.polled && is_known(request, etag)) {
            return HttpResponse::NotModified().insert_header((header::ETAG, etag)).finish();
        }
        let Some(body) = success(self.status, &self.message, &self.data) else {
            return HttpResponse::from_error(Failure::internal("an answer could not be serialised"));
        };
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::OK);
        let mut response = HttpResponse::build(status);
        if let Some(etag) = self.etag {
            response.insert_header((header::ETAG, etag));
        }
        response.content_type(JSON).body(body)
    }
}

/// An answer that was serialised once, for whoever polls.
#[derive(Debug)]
pub struct Rendered<T> {
    pub etag: String,
    pub body: Arc<[u8]>,
    pub of: std::marker::PhantomData<T>,
}

impl<T> Responder for Rendered<T> {
    type Body = BoxBody;
    fn respond_to(self, request: &HttpRequest) -> HttpResponse {
        if is_known(request, &self.etag) {
            return HttpResponse::NotModified().insert_header((header::ETAG, self.etag)).finish();
        }
        HttpResponse::Ok()
            .insert_header((header::ETAG, self.etag))
            .content_type(JSON)
            .body(Bytes::from_owner(self.body))
    }
}

/// `{}`: the answer of what has nothing to say.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct Nothing {}

/// A page of a list.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct List<T> {
    pub items: Vec<T>,
    /// Give it as `cursor` to read on; null on the last page.
    pub next_cursor: Option<String>,
    /// How many there are on all pages.
    pub total_count: i64,
}

/// By hand, so that lists of different things are different components.
impl<T: ToSchema> PartialSchema for List<T> {
    fn schema() -> RefOr<Schema> {
        let cursor = ObjectBuilder::new()
            .schema_type(SchemaType::from_iter([Type::String, Type::Null]))
            .description(Some("Give it as `cursor` to read on; null on the last page."));
        let total = ObjectBuilder::new()
            .schema_type(Type::Integer)
            .minimum(Some(0))
            .description(Some("How many there are on all pages."));
        ObjectBuilder::new()
            .property("items", ArrayBuilder::new().items(Ref::from_schema_name(T::name())))
            .property("nextCursor", cursor)
            .property("totalCount", total)
            .required("items")
            .required("nextCursor")
            .required("totalCount")
            .into()
    }
}

impl<T: ToSchema> ToSchema for List<T> {
    fn name() -> Cow<'static, str> {
        Cow::Owned(format!("ListOf{}", T::name()))
    }
    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        schemas.push((T::name().into_owned(), T::schema()));
        T::schemas(schemas);
    }
}
