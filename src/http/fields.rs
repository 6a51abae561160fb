//! Reading the fields of a body or a query: everything at fault is reported at once.

use actors::ids::Id;
use actors::time::Time;
use serde_json::{Map, Value};

use super::code::Code;
use super::failure::{Failure, Fault, MOST_FAULTS};
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
    /// Those that will be told: no more are kept.
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

    /// A list of 1 to `most` objects, each read by `read`. What is wrong in one is noted as `name[2].key`, what it has
    /// besides too.
    ///
    /// # Errors
    /// It is absent, no such list, or something in it is wrong; noted.
    pub fn objects<T>(
        &mut self,
        name: &str,
        most: usize,
        read: impl Fn(&mut Self) -> Result<T, Faulty>,
    ) -> Result<Vec<T>, Faulty> {
        let values = match self.values.remove(name) {
            None | Some(Value::Null) => return Err(self.fault(name, Code::REQUIRED, Code::REQUIRED.sentence)),
            Some(Value::Array(values)) if (1..=most).contains(&values.len()) => values,
            Some(Value::Array(values)) => {
                let sentence = format!("This must have 1 to {most} items; it has {}.", values.len());
                return Err(self.fault(name, Code::INVALID_VALUE, &sentence));
            }
            Some(_) => return Err(self.fault(name, Code::INVALID_VALUE, "This must be a list.")),
        };
        let mut are_good = true;
        let mut all = Vec::with_capacity(values.len());
        for (index, value) in values.into_iter().enumerate() {
            let place = format!("{name}[{index}]");
            let Value::Object(values) = value else {
                self.fault(&place, Code::INVALID_VALUE, "This must be an object.");
                are_good = false;
                continue;
            };
            let mut item = Self::of(values);
            all.extend(read(&mut item).ok());
            item.note_unknown();
            are_good = are_good && item.faults.is_empty();
            for fault in item.faults {
                let field = fault.field.map_or_else(|| place.clone(), |field| format!("{place}.{field}"));
                self.note(Fault { field: Some(field), ..fault });
            }
        }
        if are_good { Ok(all) } else { Err(Faulty) }
    }

    /// How many keys have not been taken yet.
    #[must_use]
    pub fn left(&self) -> usize {
        self.values.len()
    }

    /// Notes a fault that concerns the whole.
    pub fn wrong(&mut self, message: &str) -> Faulty {
        self.note(Fault { code: Code::VALIDATION_ERROR.name, message: message.to_owned(), field: None })
    }

    fn parsed<T: Field>(&mut self, name: &str, value: &Value) -> Result<T, Faulty> {
        T::parse(value).map_err(|Wrong { code, message }| self.fault(name, code, &message))
    }

    fn fault(&mut self, name: &str, code: Code, message: &str) -> Faulty {
        self.note(Fault { code: code.name, message: message.to_owned(), field: Some(name.to_owned()) })
    }

    fn note(&mut self, fault: Fault) -> Faulty {
        if self.faults.len() < MOST_FAULTS {
            self.faults.push(fault);
        }
        Faulty
    }

    /// What was read, unless anything is at fault.
    ///
    /// # Errors
    /// 422 with every fault, unknown keys among them.
    pub fn done<T>(mut self, read: Result<T, Faulty>) -> Result<T, Failure> {
        self.note_unknown();
        match read {
            Ok(read) if self.faults.is_empty() => Ok(read),
            _ => Err(Failure::invalid(self.faults)),
        }
    }

    fn note_unknown(&mut self) {
        for (name, _) in std::mem::take(&mut self.values).into_iter().take(MOST_FAULTS) {
            self.fault(&name, Code::UNKNOWN_KEY, "This key is not known here, or can't be written.");
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
