//! The enumerations of the interface: serialized in UPPER_SNAKE_CASE, parsed in any case.

use std::str::FromStr;

use serde_json::Value;
use strum::VariantArray;

use super::fields::{Field, InvalidValue};

/// An enumeration that a body or a query may contain. Its spelling is defined once, where the enum is declared, by
/// `#[strum(serialize_all = …)]`; an error lists all values.
pub trait Enumeration: Copy + FromStr + VariantArray + Into<&'static str> {}

impl<T: Enumeration> Field for T {
    fn parse(value: &Value) -> Result<Self, InvalidValue> {
        value.as_str().and_then(|text| text.parse().ok()).ok_or_else(|| {
            let known: Vec<&str> = Self::VARIANTS.iter().map(|&variant| variant.into()).collect();
            InvalidValue::value(format!("This must be one of {}.", known.join(", ")))
        })
    }
}
