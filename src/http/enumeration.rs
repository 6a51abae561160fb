//! The enumerations of the interface: serialized in UPPER_SNAKE_CASE, parsed in any case.

use std::str::FromStr;

use serde_json::Value;
use strum::VariantArray;

use super::fields::{Field, InvalidValue};

/// An enumeration that a body or a query may contain; an error lists all values.
pub trait Enumeration: Copy + FromStr + VariantArray + Into<&'static str> {}

/// Declares an enumeration that is spelled as [`actors::wire_enum!`] spells it, and that a body or a query may contain.
macro_rules! wire_enum {
    ($(#[$attribute:meta])* $visibility:vis enum $name:ident { $($variants:tt)* }) => {
        actors::wire_enum! {
            $(#[$attribute])*
            $visibility enum $name { $($variants)* }
        }
        impl $crate::http::enumeration::Enumeration for $name {}
    };
}
pub(crate) use wire_enum;

impl<T: Enumeration> Field for T {
    fn parse(value: &Value) -> Result<Self, InvalidValue> {
        value.as_str().and_then(|text| text.parse().ok()).ok_or_else(|| {
            let known: Vec<&str> = Self::VARIANTS.iter().map(|&variant| variant.into()).collect();
            InvalidValue::value(format!("This must be one of {}.", known.join(", ")))
        })
    }
}
