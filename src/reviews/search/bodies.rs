//! The query of a search.

use serde_json::Value;
use strum::VariantArray;
use utoipa::PartialSchema;
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::{RefOr, Schema};

use super::model::SearchKind;
use crate::http::fields::{Field, InvalidValue};
use crate::http::input::Query;
use crate::http::list::Search;
use crate::http::page::Limit;

/// What is searched for, and where.
#[derive(Query)]
pub struct SearchQuery {
    /// Words, all of which occur in each hit. Of the last one the beginning is enough, unless something follows it; a word
    /// that the project does not have stands for those that differ in a letter, or in two from eight letters on (four words
    /// of a query at most). Case, accents and vowel signs count for nothing.
    #[query(rename = "q", as = Search)]
    pub words: String,
    /// What is searched, separated by commas; everything if absent.
    #[query(as = Kinds, default = SearchKind::VARIANTS.to_vec())]
    pub kinds: Vec<SearchKind>,
    /// Maximum number of hits.
    #[query(as = Limit, default = Limit::DEFAULT)]
    pub limit: i64,
}

/// Kinds, separated by commas.
struct Kinds(Vec<SearchKind>);

impl Field for Kinds {
    fn parse(value: &Value) -> Result<Self, InvalidValue> {
        let kinds = value.as_str().unwrap_or_default().split(',').map(|kind| SearchKind::parse(&kind.trim().into()));
        kinds.collect::<Result<_, _>>().map(Self)
    }
}

impl PartialSchema for Kinds {
    fn schema() -> RefOr<Schema> {
        let one = SearchKind::VARIANTS.iter().map(|kind| kind.into_str()).collect::<Vec<_>>().join("|");
        ObjectBuilder::new().schema_type(Type::String).pattern(Some(format!("^({one})(,({one})){{0,9}}$"))).into()
    }
}
