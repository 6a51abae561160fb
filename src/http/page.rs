//! Pagination of lists: `limit`, `cursor`, and what they mean in a database query.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::Value;
use utoipa::PartialSchema;
use utoipa::openapi::schema::{KnownFormat, ObjectBuilder, SchemaFormat, Type};
use utoipa::openapi::{RefOr, Schema};
use uuid::Uuid;

use super::envelope::List;
use super::fields::{Field, InvalidValue};
use super::input::Query;

/// Selects a page of a list that is ordered newest first.
#[derive(Debug, Clone, Copy, Query)]
pub struct PageQuery {
    /// Maximum number of items on the page. A page of large items ends earlier.
    #[query(as = Limit, default = Limit::DEFAULT)]
    pub limit: i64,
    /// The `nextCursor` of the previous page; absent for the first page.
    #[query(rename = "cursor")]
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
            .ok_or_else(|| InvalidValue::value("This must be the nextCursor of an earlier response, unchanged."))
    }
}

impl PartialSchema for Cursor {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new().schema_type(Type::String).pattern(Some("^[A-Za-z0-9_-]{21}[AQgw]$")).into()
    }
}

/// How many items are asked for: 1–100.
pub struct Limit(pub i64);

impl Field for Limit {
    fn parse(value: &Value) -> Result<Self, InvalidValue> {
        let limit = value.as_str().and_then(|text| text.parse().ok()).filter(|limit| (1..=100).contains(limit));
        limit.map(Self).ok_or_else(|| InvalidValue::value("This must be a number from 1 to 100."))
    }
}

impl Limit {
    pub const DEFAULT: i64 = 25;
}

impl PartialSchema for Limit {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new()
            .schema_type(Type::Integer)
            .format(Some(SchemaFormat::KnownFormat(KnownFormat::Int64)))
            .minimum(Some(1))
            .maximum(Some(100))
            .default(Some(Self::DEFAULT.into()))
            .into()
    }
}

impl PageQuery {
    /// Returns the exclusive upper bound for the ids of the page.
    #[must_use]
    pub fn before(&self) -> Uuid {
        self.after.map_or(Uuid::max(), |cursor| cursor.0)
    }

    /// Returns the page, of items that are ordered newest first: the first ones past the cursor, and one more than the
    /// limit if there are that many, which shows whether there is a next page.
    pub fn list<T>(&self, mut items: Vec<T>, total_count: i64, id: impl Fn(&T) -> Uuid) -> List<T> {
        let limit = usize::try_from(self.limit).unwrap_or(usize::MAX);
        let more = items.len() > limit;
        items.truncate(limit);
        Self::ended(items, more, total_count, id)
    }

    /// Returns a page of exactly these items, which ended by their number or by their bytes; `more` says whether another page
    /// follows.
    pub fn ended<T>(items: Vec<T>, more: bool, total_count: i64, id: impl Fn(&T) -> Uuid) -> List<T> {
        let next_cursor = items.last().filter(|_| more).map(|last| Cursor(id(last)).to_string());
        List { items, next_cursor, total_count }
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
