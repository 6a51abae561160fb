//! The query of a list: the filter of the feature, and the page.

use serde_json::Value;
use utoipa::PartialSchema;
use utoipa::openapi::path::Parameter;
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::{RefOr, Schema};

use super::fields::{Field, Fields, InvalidValue, Rejected, TEXT_PATTERN, text};
use super::input::Query;
use super::page::PageQuery;

/// Which items are listed, and which page of them. The parameters of the page come first in the OpenAPI document, those
/// of the filter first in an error.
#[derive(Debug, Clone)]
pub struct Listing<F> {
    pub filter: F,
    pub page: PageQuery,
}

impl<F: Query> Query for Listing<F> {
    fn has(key: &str) -> bool {
        PageQuery::has(key) || F::has(key)
    }
    fn read(fields: &mut Fields) -> Result<Self, Rejected> {
        let filter = F::read(fields);
        let page = PageQuery::read(fields);
        Ok(Self { filter: filter?, page: page? })
    }
    fn parameters() -> Vec<Parameter> {
        let mut parameters = PageQuery::parameters();
        parameters.extend(F::parameters());
        parameters
    }
    fn enumerations() -> Vec<(String, RefOr<Schema>)> {
        F::enumerations()
    }
}

/// Search words: 1–200 characters.
#[derive(Debug, Clone)]
pub struct Search(pub String);

impl Field for Search {
    fn parse(value: &Value) -> Result<Self, InvalidValue> {
        text(value, 1, 200).map(Self)
    }
}

impl AsRef<str> for Search {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl PartialSchema for Search {
    fn schema() -> RefOr<Schema> {
        let words = ObjectBuilder::new().schema_type(Type::String).min_length(Some(1)).max_length(Some(200));
        words.pattern(Some(TEXT_PATTERN)).into()
    }
}
