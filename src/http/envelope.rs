//! The envelope of every JSON answer: `{isSuccess, data, message, statusCode, errors}`.

use std::borrow::Cow;
use std::sync::Arc;

use actix_web::http::{StatusCode, header};
use serde::Serialize;
use utoipa::openapi::schema::{ArrayBuilder, ObjectBuilder, SchemaType, Type};
use utoipa::openapi::{Ref, RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use super::failure::Failure;
use super::ready::{Ready, success_bytes};

/// The bytes of a success.
///
/// # Errors
/// 500: it can't be serialised.
pub fn success<T: Serialize>(status: u16, message: &str, data: &T) -> Result<Vec<u8>, Failure> {
    success_bytes(status, message, data)
        .map_err(|error| Failure::internal(format!("an answer can't be serialised: {error}")))
}

/// What a handler answers with: data in the envelope, and perhaps an ETag. What it says of it is the operation's.
#[derive(Debug)]
pub struct Reply<T> {
    status: StatusCode,
    data: T,
    etag: Option<String>,
}

impl<T> Reply<T> {
    pub fn ok(data: T) -> Self {
        Self { status: StatusCode::OK, data, etag: None }
    }

    pub fn created(data: T) -> Self {
        Self { status: StatusCode::CREATED, ..Self::ok(data) }
    }

    pub fn accepted(data: T) -> Self {
        Self { status: StatusCode::ACCEPTED, ..Self::ok(data) }
    }

    /// The version of the resource, for `If-Match`.
    #[must_use]
    pub fn version(self, version: impl std::fmt::Display) -> Self {
        Self { etag: Some(format!("\"{version}\"")), ..self }
    }
}

impl<T: Serialize> Reply<T> {
    /// # Errors
    /// 500: it can't be serialised.
    pub(super) fn written(self, says: &str) -> Result<Ready, Failure> {
        let body = success(self.status.as_u16(), says, &self.data)?;
        let ready = Ready::json(self.status, body);
        Ok(match self.etag {
            Some(etag) => ready.with(header::ETAG, etag),
            None => ready,
        })
    }
}

/// An answer that was serialised once, for whoever polls.
#[derive(Debug)]
pub struct Rendered<T> {
    pub etag: String,
    pub body: Arc<[u8]>,
    pub of: std::marker::PhantomData<T>,
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
