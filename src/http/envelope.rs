//! The envelope of every JSON response: `{isSuccess, data, message, statusCode, errors}`.

use std::borrow::Cow;
use std::io;
use std::sync::Arc;

use actix_web::http::{StatusCode, header};
use serde::Serialize;
use utoipa::openapi::schema::{ArrayBuilder, ObjectBuilder, SchemaType, Type};
use utoipa::openapi::{Ref, RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use super::error::ApiError;
use super::ready::{PreparedAnswer, success_bytes, write_success};

/// Serializes a success into the envelope.
///
/// # Errors
/// 500 if the data can't be serialized.
pub fn success<T: Serialize>(status: u16, message: &str, data: &T) -> Result<Vec<u8>, ApiError> {
    success_bytes(status, message, data)
        .map_err(|error| ApiError::internal(format!("an answer can't be serialised: {error}")))
}

/// Writes a success in the envelope.
///
/// # Errors
/// 500 if the data can't be serialized, 503 if it can't be written.
pub fn write<T: Serialize + ?Sized>(
    into: &mut impl io::Write,
    status: u16,
    message: &str,
    data: &T,
) -> Result<(), ApiError> {
    write_success(into, status, message, &data).map_err(|error| match error.io_error_kind() {
        Some(_) => ApiError::unavailable(error),
        None => ApiError::internal(format!("an answer can't be serialised: {error}")),
    })
}

/// The response of a handler: data for the envelope, and an optional ETag. The operation supplies the message.
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

    /// Sets the ETag of a response that is polled with `If-None-Match`.
    #[must_use]
    pub fn tagged(self, version: impl std::fmt::Display) -> Self {
        Self { etag: Some(format!("\"{version}\"")), ..self }
    }

    pub(super) fn etag(&self) -> Option<&str> {
        self.etag.as_deref()
    }
}

impl<T: Serialize> Reply<T> {
    /// Writes the response's body.
    ///
    /// # Errors
    /// 500 if the data can't be serialized, 503 if it can't be written.
    pub(super) fn write(self, into: &mut impl io::Write, message: &str) -> Result<(), ApiError> {
        write(into, self.status.as_u16(), message, &self.data)
    }

    /// # Errors
    /// 500 if the data can't be serialized.
    pub(super) fn written(self, message: &str) -> Result<PreparedAnswer, ApiError> {
        let body = success(self.status.as_u16(), message, &self.data)?;
        let ready = PreparedAnswer::json(self.status, body);
        Ok(match self.etag {
            Some(etag) => ready.with(header::ETAG, etag),
            None => ready,
        })
    }
}

/// A response that is serialized once and shared by all clients that poll it.
#[derive(Debug)]
pub struct Prerendered<T> {
    pub etag: String,
    pub body: Arc<[u8]>,
    pub of: std::marker::PhantomData<T>,
}

/// `{}`: the data of a response that has none.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct Nothing {}

/// One page of a list.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct List<T> {
    pub items: Vec<T>,
    /// The `cursor` of the next page; null on the last page.
    pub next_cursor: Option<String>,
    /// The number of items on all pages.
    pub total_count: i64,
}

impl<T> List<T> {
    #[must_use]
    pub fn map<U>(self, item: impl FnMut(T) -> U) -> List<U> {
        let items = self.items.into_iter().map(item).collect();
        List { items, next_cursor: self.next_cursor, total_count: self.total_count }
    }

    /// # Errors
    /// The first error of `item`.
    pub fn try_map<U, E>(self, item: impl FnMut(T) -> Result<U, E>) -> Result<List<U>, E> {
        let items = self.items.into_iter().map(item).collect::<Result<_, _>>()?;
        Ok(List { items, next_cursor: self.next_cursor, total_count: self.total_count })
    }
}

/// Written by hand so that lists of different types become different components.
impl<T: ToSchema> PartialSchema for List<T> {
    fn schema() -> RefOr<Schema> {
        let cursor = ObjectBuilder::new()
            .schema_type(SchemaType::from_iter([Type::String, Type::Null]))
            .description(Some("Pass it as `cursor` to get the next page; null on the last page."));
        let total = ObjectBuilder::new()
            .schema_type(Type::Integer)
            .minimum(Some(0))
            .description(Some("Number of items on all pages."));
        let items = ArrayBuilder::new()
            .items(Ref::from_schema_name(T::name()))
            .description(Some("The items of this page, newest first unless the operation says otherwise."));
        ObjectBuilder::new()
            .description(Some(format!("A page of a list of `{}`.", T::name())))
            .property("items", items)
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
