//! Reading the fields of a body or a query: everything at fault is reported at once.

use actors::ids::Id;
use actors::time::Time;
use serde_json::{Map, Value};

use super::code::Code;
use super::failure::{Failure, Fault};
use super::patch::Patch;

/// A value that can be read from JSON. Queries come in as strings.
pub trait Field: Sized {
    /// # Errors
    /// What is wrong, for the client.
    fn parse(value: &Value) -> Result<Self, Wrong>;
}

/// Why a value is not acceptable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wrong {
    pub code: Code,
    pub message: String,
}

impl Wrong {
    #[must_use]
    pub fn value(message: impl Into<String>) -> Self {
        Self { code: Code::INVALID_VALUE, message: message.into() }
    }
}

/// A fault was noted; there is nothing to build.
#[derive(Debug, Clone, Copy)]
pub struct Faulty;

/// The fields of one object, taken one by one; what is left at the end is unknown.
#[derive(Debug)]
pub struct Fields {
    values: Map<String, Value>,
    faults: Vec<Fault>,
}

impl Fields {
    #[must_use]
    pub fn of(values: Map<String, Value>) -> Self {
        Self { values, faults: Vec::new() }
    }

    /// The value must be there.
    ///
    /// # Errors
    /// It is absent, null or wrong; noted.
    pub fn required<T: Field>(&mut self, name: &str) -> Result<T, Faulty> {
        match self.values.remove(name) {
            None | Some(Value::Null) => Err(self.fault(name, Code::REQUIRED, Code::REQUIRED.sentence)),
            Some(value) => self.parsed(name, &value),
        }
    }

    /// Absent and null are the same: no value.
    ///
    /// # Errors
    /// It is there and wrong; noted.
    pub fn optional<T: Field>(&mut self, name: &str) -> Result<Option<T>, Faulty> {
        match self.values.remove(name) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => self.parsed(name, &value).map(Some),
        }
    }

    /// For a PATCH: absent keeps, null clears.
    ///
    /// # Errors
    /// It is there and wrong; noted.
    pub fn patch<T: Field>(&mut self, name: &str) -> Result<Patch<T>, Faulty> {
        match self.values.remove(name) {
            None => Ok(Patch::Keep),
            Some(Value::Null) => Ok(Patch::Clear),
            Some(value) => self.parsed(name, &value).map(Patch::Set),
        }
    }

    /// For a PATCH of what can't be empty: absent keeps, null is wrong.
    ///
    /// # Errors
    /// It is null or wrong; noted.
    pub fn replaced<T: Field>(&mut self, name: &str) -> Result<Option<T>, Faulty> {
        match self.patch(name)? {
            Patch::Keep => Ok(None),
            Patch::Set(value) => Ok(Some(value)),
            Patch::Clear => Err(self.fault(name, Code::INVALID_VALUE, "This value can't be null.")),
        }
    }

    /// How many keys have not been taken yet.
    #[must_use]
    pub fn left(&self) -> usize {
        self.values.len()
    }

    /// Notes a fault that concerns the whole.
    pub fn wrong(&mut self, message: &str) -> Faulty {
        self.faults.push(Fault { code: Code::VALIDATION_ERROR.name, message: message.to_owned(), field: None });
        Faulty
    }

    fn parsed<T: Field>(&mut self, name: &str, value: &Value) -> Result<T, Faulty> {
        T::parse(value).map_err(|Wrong { code, message }| self.fault(name, code, &message))
    }

    fn fault(&mut self, name: &str, code: Code, message: &str) -> Faulty {
        self.faults.push(Fault { code: code.name, message: message.to_owned(), field: Some(name.to_owned()) });
        Faulty
    }

    /// What was read, unless anything is at fault.
    ///
    /// # Errors
    /// 422 with every fault, unknown keys among them.
    pub fn done<T>(mut self, read: Result<T, Faulty>) -> Result<T, Failure> {
        let unknown: Vec<String> = std::mem::take(&mut self.values).into_iter().map(|(name, _)| name).collect();
        for name in unknown {
            self.fault(&name, Code::UNKNOWN_KEY, "This key is not known here, or can't be written.");
        }
        match read {
            Ok(read) if self.faults.is_empty() => Ok(read),
            _ => Err(Failure::invalid(self.faults)),
        }
    }
}

/// A trimmed text of `min` to `max` characters without control characters (line breaks and tabs aside).
///
/// # Errors
/// Not a string, or not of that length.
pub fn text(value: &Value, min: usize, max: usize) -> Result<String, Wrong> {
    let Value::String(text) = value else { return Err(Wrong::value("This must be a string.")) };
    let text = text.trim();
    let length = text.chars().count();
    if length < min || length > max {
        return Err(Wrong::value(format!("This must have {min} to {max} characters; it has {length}.")));
    }
    if text.chars().any(|c| c.is_control() && !matches!(c, '\n' | '\r' | '\t')) {
        return Err(Wrong::value("Control characters are not taken."));
    }
    Ok(text.to_owned())
}

impl Field for Time {
    fn parse(value: &Value) -> Result<Self, Wrong> {
        let wrong = || Wrong::value("This must be a time such as 2026-01-31T09:30:00Z.");
        let text = value.as_str().ok_or_else(wrong)?;
        let time = chrono::DateTime::parse_from_rfc3339(text).map_err(|_| wrong())?.to_utc();
        // What both databases and every client can hold.
        if !(1..=9999).contains(&chrono::Datelike::year(&time)) {
            return Err(wrong());
        }
        Ok(Self::at(time))
    }
}

impl<T> Field for Id<T> {
    fn parse(value: &Value) -> Result<Self, Wrong> {
        value.as_str().and_then(|text| text.parse().ok()).ok_or_else(|| Wrong::value("This must be a UUID."))
    }
}

impl Field for bool {
    fn parse(value: &Value) -> Result<Self, Wrong> {
        value.as_bool().ok_or_else(|| Wrong::value("This must be true or false."))
    }
}

/// A list of at most 100 different ids.
impl<T> Field for Vec<Id<T>> {
    fn parse(value: &Value) -> Result<Self, Wrong> {
        let Value::Array(values) = value else { return Err(Wrong::value("This must be a list of UUIDs.")) };
        if values.len() > 100 {
            return Err(Wrong::value("At most 100 are taken at once."));
        }
        let mut ids = values.iter().map(Id::parse).collect::<Result<Self, _>>()?;
        ids.sort_unstable();
        ids.dedup();
        Ok(ids)
    }
}
