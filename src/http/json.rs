//! A strict JSON parser: it rejects duplicate keys and limits nesting.
//!
//! If two parsers disagree about which of two equal keys counts, a check made with one of them can be bypassed. So
//! duplicate keys are an error.

use std::cell::Cell;
use std::fmt;

use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use super::error::cut;
use super::reason::Reason;

/// The most characters of a key that an error message repeats.
const MAX_SHOWN_KEY_LENGTH: usize = 100;
/// The deepest nesting of objects and lists.
pub const MAX_DEPTH: usize = 32;

/// Why a text is rejected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unacceptable {
    /// Not JSON: 400.
    Malformed(String),
    /// JSON with a duplicate key or too deep nesting: 422.
    Refused(Reason, String),
}

/// Parses JSON.
///
/// # Errors
/// See [`Unacceptable`].
pub fn read(bytes: &[u8]) -> Result<Value, Unacceptable> {
    let refused = Cell::new(None);
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    let value = Strict { depth: 0, refused: &refused }.deserialize(&mut reader).and_then(|value| {
        reader.end()?;
        Ok(value)
    });
    match (value, refused.take()) {
        (_, Some((reason, sentence))) => Err(Unacceptable::Refused(reason, sentence)),
        (Err(error), None) => Err(Unacceptable::Malformed(error.to_string())),
        (Ok(value), None) => Ok(value),
    }
}

#[derive(Clone, Copy)]
struct Strict<'a> {
    depth: usize,
    refused: &'a Cell<Option<(Reason, String)>>,
}

impl Strict<'_> {
    fn deeper<E: de::Error>(self) -> Result<Self, E> {
        if self.depth == MAX_DEPTH {
            return Err(self.refuse(Reason::TooDeep, format!("Nested deeper than {MAX_DEPTH} levels.")));
        }
        Ok(Self { depth: self.depth + 1, ..self })
    }

    fn refuse<E: de::Error>(self, reason: Reason, sentence: String) -> E {
        let error = E::custom(&sentence);
        self.refused.set(Some((reason, sentence)));
        error
    }
}

impl<'de> DeserializeSeed<'de> for Strict<'_> {
    type Value = Value;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }
    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }
    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }
    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }
    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }
    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }
    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(value.into())
    }
    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value, A::Error> {
        let inner = self.deeper()?;
        let mut values = Vec::new();
        while let Some(value) = list.next_element_seed(inner)? {
            values.push(value);
        }
        Ok(values.into())
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let inner = self.deeper()?;
        let mut values = Map::new();
        while let Some(key) = map.next_key::<String>()? {
            let value = map.next_value_seed(inner)?;
            if values.contains_key(&key) {
                let message = format!("The key {:?} occurs twice.", cut(&key, MAX_SHOWN_KEY_LENGTH));
                return Err(self.refuse(Reason::Repeated, message));
            }
            values.insert(key, value);
        }
        Ok(Value::Object(values))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::{MAX_DEPTH, Unacceptable, read};

    #[test]
    fn plain_json_is_read_as_it_is() {
        assert_eq!(read(br#"{"a":[1,-2,3.5,null,true,"x"]}"#), Ok(json!({"a": [1, -2, 3.5, null, true, "x"]})));
    }

    #[test]
    fn a_key_twice_is_refused() {
        assert!(matches!(read(br#"{"a":{"b":1,"b":2}}"#), Err(Unacceptable::Refused(..))));
    }

    #[test]
    fn thirty_two_levels_are_taken_and_one_more_is_not() {
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(read(nested(32).as_bytes()).is_ok());
        assert!(matches!(read(nested(33).as_bytes()), Err(Unacceptable::Refused(..))));
        assert!(read(nested(100_000).as_bytes()).is_err());
    }

    #[test]
    fn what_follows_the_json_makes_it_malformed() {
        assert!(matches!(read(b"{} {}"), Err(Unacceptable::Malformed(_))));
        assert!(matches!(read(b"{"), Err(Unacceptable::Malformed(_))));
        assert!(matches!(read(b""), Err(Unacceptable::Malformed(_))));
    }

    fn anything() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<String>().prop_map(Value::from),
        ];
        leaf.prop_recursive(40, 200, 4, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                proptest::collection::btree_map(any::<String>(), inner, 0..4)
                    .prop_map(|map: BTreeMap<String, Value>| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    fn depth(value: &Value) -> usize {
        match value {
            Value::Array(list) => 1 + list.iter().map(depth).max().unwrap_or(0),
            Value::Object(map) => 1 + map.values().map(depth).max().unwrap_or(0),
            _ => 0,
        }
    }

    proptest! {
        #[test]
        fn what_is_json_is_read_as_it_was_written_unless_it_nests_too_deep(value in anything()) {
            let read = read(value.to_string().as_bytes());
            match depth(&value) <= MAX_DEPTH {
                true => prop_assert_eq!(read, Ok(value)),
                false => prop_assert!(matches!(read, Err(Unacceptable::Refused(..)))),
            }
        }

        /// This parser accepts nothing that serde_json rejects, and reads nothing differently.
        #[test]
        fn any_bytes_are_read_as_the_common_parser_reads_them_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            if let Ok(value) = read(&bytes) {
                prop_assert_eq!(serde_json::from_slice::<Value>(&bytes).ok(), Some(value));
            }
        }

        #[test]
        fn text_that_looks_like_json_is_no_harm(text in r#"[\[\]{}:,"a0-9.eE+\\ -]{0,80}"#) {
            if let Ok(value) = read(text.as_bytes()) {
                prop_assert_eq!(serde_json::from_str::<Value>(&text).ok(), Some(value));
            }
        }
    }
}
