//! The HTTP endpoint of search.

use serde_json::Value;
use strum::VariantArray;
use utoipa::openapi::Required;
use utoipa::openapi::path::Parameter;
use utoipa::openapi::schema::{ObjectBuilder, Type};

use super::model::{SearchHit, SearchKind};
use super::operations;
use crate::access::policy::Member;
use crate::api::operation::Authorized;
use crate::http::envelope::{List, Reply};
use crate::http::error::ApiError;
use crate::http::fields::{Field, Fields, InvalidValue, Rejected, TEXT_PATTERN};
use crate::http::input::{Query, ValidQuery, query_parameter};
use crate::http::list::Search;
use crate::http::page::Limit;
use crate::projects::model::Project;
use crate::reviews::state::Reviews;

pub struct SearchQuery {
    pub words: String,
    pub kinds: Vec<SearchKind>,
    pub limit: usize,
}

/// Kinds, separated by commas.
struct Kinds(Vec<SearchKind>);

impl Field for Kinds {
    fn parse(value: &Value) -> Result<Self, InvalidValue> {
        let kinds = value.as_str().unwrap_or_default().split(',').map(|kind| SearchKind::parse(&kind.trim().into()));
        kinds.collect::<Result<_, _>>().map(Self)
    }
}

impl Query for SearchQuery {
    fn has(key: &str) -> bool {
        matches!(key, "q" | "kinds" | "limit")
    }
    fn read(fields: &mut Fields) -> Result<Self, Rejected> {
        let words: Result<Search, _> = fields.required("q");
        let kinds: Result<Option<Kinds>, _> = fields.optional("kinds");
        let limit: Result<Option<Limit>, _> = fields.optional("limit");
        let limit = limit?.map_or(Limit::DEFAULT, |limit| limit.0);
        Ok(Self {
            words: words?.0,
            kinds: kinds?.map_or_else(|| SearchKind::VARIANTS.to_vec(), |kinds| kinds.0),
            limit: usize::try_from(limit).unwrap_or_default(),
        })
    }
    fn parameters() -> Vec<Parameter> {
        let words = ObjectBuilder::new().schema_type(Type::String).min_length(Some(1)).max_length(Some(200));
        let about = "Words, all of which occur in each hit. Of the last one the beginning is enough, unless something \
                     follows it; a word that the project does not have stands for those that differ in a letter, or in \
                     two from eight letters on (four words of a query at most). Case, accents and vowel signs count for \
                     nothing.";
        let mut q = query_parameter("q", about, words.pattern(Some(TEXT_PATTERN)));
        q.required = Required::True;
        let one = SearchKind::VARIANTS.iter().map(|kind| kind.into_str()).collect::<Vec<_>>().join("|");
        let kinds = ObjectBuilder::new().schema_type(Type::String).pattern(Some(format!("^({one})(,({one})){{0,9}}$")));
        vec![
            q,
            query_parameter("kinds", "What is searched, separated by commas; everything if absent.", kinds),
            Limit::parameter("Maximum number of hits."),
        ]
    }
}

pub async fn search(
    request: Authorized<Member<Project>, ValidQuery<SearchQuery>>,
    state: Reviews,
) -> Result<Reply<List<SearchHit>>, ApiError> {
    let ValidQuery(query) = request.input;
    let access = request.access;
    operations::search(&state, access.caller, access.relation, access.resource.id, query).await.map(Reply::ok)
}
