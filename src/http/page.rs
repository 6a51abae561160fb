//! Pagination of lists: `limit`, `cursor`, and what they mean in a database query.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::Value;
use utoipa::openapi::path::Parameter;
use utoipa::openapi::schema::{KnownFormat, ObjectBuilder, SchemaFormat, Type};
use uuid::Uuid;

use super::fields::{Field, Fields, InvalidValue, Rejected, TEXT_PATTERN, text};
use super::input::{Query, query_parameter};

/// Selects a page of a list that is ordered newest first.
#[derive(Debug, Clone, Copy)]
pub struct PageQuery {
    /// 1–100; 25 if the parameter is absent.
    pub limit: i64,
    pub after: Option<Cursor>,
}

/// The id of the last item of the previous page. Opaque to clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cursor(pub Uuid);

impl std::fmt::Display for Cursor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&URL_SAFE_NO_PAD.encode(self.0.as_bytes()))
    }
}

impl Field for Cursor {
    fn parse(value: &Value) -> Result<Self, InvalidValue> {
        let read = |text: &str| Uuid::from_slice(&URL_SAFE_NO_PAD.decode(text).ok()?).ok();
        value
            .as_str()
            .and_then(read)
            .map(Self)
            .ok_or_else(|| InvalidValue::value("Give a nextCursor as it was given to you."))
    }
}

struct Limit(i64);

impl Field for Limit {
    fn parse(value: &Value) -> Result<Self, InvalidValue> {
        let limit = value.as_str().and_then(|text| text.parse().ok()).filter(|limit| (1..=100).contains(limit));
        limit.map(Self).ok_or_else(|| InvalidValue::value("This must be a number from 1 to 100."))
    }
}

impl PageQuery {
    /// Reads `limit` and `cursor`, also for queries that have filters of their own.
    ///
    /// # Errors
    /// An error was recorded in `fields`.
    pub fn read_from(fields: &mut Fields) -> Result<Self, Rejected> {
        let limit = fields.optional::<Limit>("limit");
        let after = fields.optional::<Cursor>("cursor");
        Ok(Self { limit: limit?.map_or(25, |limit| limit.0), after: after? })
    }

    #[must_use]
    pub fn parameters() -> Vec<Parameter> {
        let number = ObjectBuilder::new()
            .schema_type(Type::Integer)
            .format(Some(SchemaFormat::KnownFormat(KnownFormat::Int64)))
            .minimum(Some(1))
            .maximum(Some(100))
            .default(Some(25.into()));
        let cursor = ObjectBuilder::new().schema_type(Type::String).pattern(Some("^[A-Za-z0-9_-]{21}[AQgw]$"));
        vec![
            query_parameter("limit", "How many items a page has.", number),
            query_parameter("cursor", "The nextCursor of the page before.", cursor),
        ]
    }

    /// Returns the exclusive upper bound for the ids of the page.
    #[must_use]
    pub fn before(&self) -> Uuid {
        self.after.map_or(Uuid::max(), |cursor| cursor.0)
    }

    /// Truncates the rows to the limit and returns the next cursor. Stores load one row more than the limit, which
    /// shows whether there is a next page.
    pub fn cut<T>(&self, mut items: Vec<T>, id: impl Fn(&T) -> Uuid) -> (Vec<T>, Option<String>) {
        let limit = usize::try_from(self.limit).unwrap_or(usize::MAX);
        let more = items.len() > limit;
        items.truncate(limit);
        let next = items.last().filter(|_| more).map(|last| Cursor(id(last)).to_string());
        (items, next)
    }
}

impl Query for PageQuery {
    const KEYS: &'static [&'static str] = &["limit", "cursor"];
    fn read(fields: &mut Fields) -> Result<Self, Rejected> {
        Self::read_from(fields)
    }
    fn parameters() -> Vec<Parameter> {
        Self::parameters()
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

impl Search {
    /// The query parameter `search`.
    #[must_use]
    pub fn parameter(description: &str) -> Parameter {
        let words = ObjectBuilder::new().schema_type(Type::String).min_length(Some(1)).max_length(Some(200));
        let words = words.pattern(Some(TEXT_PATTERN));
        query_parameter("search", description, words)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_cursor_comes_back_as_it_was_given(id in any::<u128>()) {
            let cursor = Cursor(Uuid::from_u128(id));
            prop_assert_eq!(Cursor::parse(&Value::from(cursor.to_string())).ok(), Some(cursor));
        }

        /// Each cursor has exactly one accepted spelling.
        #[test]
        fn any_other_text_is_no_cursor(text in "\\PC{0,40}") {
            if let Ok(cursor) = Cursor::parse(&Value::from(text.clone())) {
                prop_assert_eq!(cursor.to_string(), text);
            }
        }

        #[test]
        fn a_limit_is_a_number_from_1_to_100(text in "[-+0-9. e]{0,24}") {
            if let Ok(Limit(limit)) = Limit::parse(&Value::from(text)) {
                prop_assert!((1..=100).contains(&limit));
            }
        }
    }
}
