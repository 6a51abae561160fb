//! Data that was serialized on the thread that has read it.
//!
//! A page of a list is hundreds of small strings. If another thread frees them than the one that allocated them, both wait
//! for the same part of the allocator, again and again, which costs up to as much as all the rest of the request. So the
//! job that reads such a page serializes it, and only its bytes change threads.

use std::borrow::Cow;
use std::marker::PhantomData;

use serde::{Serialize, Serializer};
use serde_json::value::RawValue;
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use super::error::ApiError;

/// The JSON of a `T`.
#[derive(Debug)]
pub struct Serialized<T> {
    json: Box<RawValue>,
    of: PhantomData<fn() -> T>,
}

impl<T: Serialize> Serialized<T> {
    /// # Errors
    /// 500 if the data can't be serialized.
    pub fn of(data: &T) -> Result<Self, ApiError> {
        let json = serde_json::value::to_raw_value(data)
            .map_err(|error| ApiError::internal(format!("an answer can't be serialised: {error}")))?;
        Ok(Self { json, of: PhantomData })
    }
}

impl<T> Serialize for Serialized<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.json.serialize(serializer)
    }
}

impl<T: ToSchema> PartialSchema for Serialized<T> {
    fn schema() -> RefOr<Schema> {
        T::schema()
    }
}

impl<T: ToSchema> ToSchema for Serialized<T> {
    fn name() -> Cow<'static, str> {
        T::name()
    }
    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        T::schemas(schemas);
    }
}
