//! Lists in pages: `limit`, `cursor`, and what they become in a query.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::Value;
use utoipa::openapi::path::Parameter;
use utoipa::openapi::schema::{KnownFormat, ObjectBuilder, SchemaFormat, Type};
use uuid::Uuid;

use super::fields::{Faulty, Field, Fields, TEXT_PATTERN, Wrong, text};
use super::input::{Query, query_parameter};

/// Which part of a list: newest first, after the item that the cursor names.
#[derive(Debug, Clone, Copy)]
pub struct Page {
    /// 1–100.
    pub limit: i64,
    pub after: Option<Cursor>,
}

/// The last item of the page before, by its id. Opaque to clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cursor(pub Uuid);

impl std::fmt::Display for Cursor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&URL_SAFE_NO_PAD.encode(self.0.as_bytes()))
    }
}

impl Field for Cursor {
    fn parse(value: &Value) -> Result<Self, Wrong> {
        let read = |text: &str| Uuid::from_slice(&URL_SAFE_NO_PAD.decode(text).ok()?).ok();
        value.as_str().and_then(read).map(Self).ok_or_else(|| Wrong::value("Give a nextCursor as it was given to you."))
    }
}

struct Limit(i64);

impl Field for Limit {
    fn parse(value: &Value) -> Result<Self, Wrong> {
        let limit = value.as_str().and_then(|text| text.parse().ok()).filter(|limit| (1..=100).contains(limit));
        limit.map(Self).ok_or_else(|| Wrong::value("This must be a number from 1 to 100."))
    }
}

impl Page {
    /// Reads `limit` and `cursor`; for the queries of lists that also filter.
    ///
    /// # Errors
    /// A fault was noted.
    pub fn read_from(fields: &mut Fields) -> Result<Self, Faulty> {
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

    /// The id before which the next items lie, newest first.
    #[must_use]
    pub fn before(&self) -> Uuid {
        self.after.map_or(Uuid::max(), |cursor| cursor.0)
    }

    /// Cuts what was read past the limit (stores read one more) and names the next cursor.
    pub fn cut<T>(&self, mut items: Vec<T>, id: impl Fn(&T) -> Uuid) -> (Vec<T>, Option<String>) {
        let limit = usize::try_from(self.limit).unwrap_or(usize::MAX);
        let more = items.len() > limit;
        items.truncate(limit);
        let next = items.last().filter(|_| more).map(|last| Cursor(id(last)).to_string());
        (items, next)
    }
}

impl Query for Page {
    const KEYS: &'static [&'static str] = &["limit", "cursor"];
    fn read(fields: &mut Fields) -> Result<Self, Faulty> {
        Self::read_from(fields)
    }
    fn parameters() -> Vec<Parameter> {
        Self::parameters()
    }
}

/// Words to look for: 1–200 characters.
#[derive(Debug, Clone)]
pub struct Search(pub String);

impl Field for Search {
    fn parse(value: &Value) -> Result<Self, Wrong> {
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

        /// What is taken is written in one way only, so nobody can make two cursors of one.
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
