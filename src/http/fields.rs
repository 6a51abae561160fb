//! Reading the fields of a body or a query: everything at fault is reported at once.

use actors::ids::Id;
use actors::time::Time;
use serde_json::{Map, Value};

use super::failure::{Failure, Fault};
use super::patch::Patch;
use super::reason::Reason;

/// A value that can be read from JSON. Queries come in as strings.
pub trait Field: Sized {
    /// # Errors
    /// What is wrong, for the client.
    fn parse(value: &Value) -> Result<Self, Wrong>;
}

/// Why a value is not acceptable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wrong {
    pub reason: Reason,
    pub message: String,
}

impl Wrong {
    #[must_use]
    pub fn value(message: impl Into<String>) -> Self {
        Self::of(Reason::InvalidValue, message)
    }

    #[must_use]
    pub fn of(reason: Reason, message: impl Into<String>) -> Self {
        Self { reason, message: message.into() }
    }

    /// # Errors
    /// There are not `min` to `max` characters.
    pub fn length(text: &str, min: usize, max: usize) -> Result<(), Self> {
        let length = text.chars().count();
        if (min..=max).contains(&length) {
            return Ok(());
        }
        let reason = if length < min { Reason::TooShort } else { Reason::TooLong };
        Err(Self::of(reason, format!("This must have {min} to {max} characters; it has {length}.")))
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
            None | Some(Value::Null) => Err(self.fault(name, Reason::Required, Reason::Required.sentence())),
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
            Patch::Clear => Err(self.fault(name, Reason::InvalidValue, "This value can't be null.")),
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
            None | Some(Value::Null) => return Err(self.fault(name, Reason::Required, Reason::Required.sentence())),
            Some(Value::Array(values)) if (1..=most).contains(&values.len()) => values,
            Some(Value::Array(values)) => {
                let sentence = format!("This must have 1 to {most} items; it has {}.", values.len());
                let reason = if values.is_empty() { Reason::TooShort } else { Reason::TooLong };
                return Err(self.fault(name, reason, &sentence));
            }
            Some(_) => return Err(self.fault(name, Reason::InvalidValue, "This must be a list.")),
        };
        let before = self.faults.len();
        let mut all = Vec::with_capacity(values.len());
        for (index, value) in values.into_iter().enumerate() {
            let place = format!("{name}[{index}]");
            let Value::Object(values) = value else {
                self.fault(&place, Reason::InvalidValue, "This must be an object.");
                continue;
            };
            let mut item = Self::of(values);
            all.extend(read(&mut item).ok());
            item.note_unknown();
            self.faults.extend(item.faults.into_iter().map(|fault| fault.within(&place)));
        }
        if self.faults.len() == before { Ok(all) } else { Err(Faulty) }
    }

    /// How many keys have not been taken yet.
    #[must_use]
    pub fn left(&self) -> usize {
        self.values.len()
    }

    /// Notes that something is missing, though no field is by itself.
    pub fn wrong(&mut self, message: &str) -> Faulty {
        self.faults.push(Fault::value(Reason::Required, None, message));
        Faulty
    }

    fn parsed<T: Field>(&mut self, name: &str, value: &Value) -> Result<T, Faulty> {
        T::parse(value).map_err(|Wrong { reason, message }| self.fault(name, reason, &message))
    }

    fn fault(&mut self, name: &str, reason: Reason, message: &str) -> Faulty {
        self.faults.push(Fault::value(reason, Some(name.to_owned()), message));
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
        for (name, _) in std::mem::take(&mut self.values) {
            self.fault(&name, Reason::UnknownKey, Reason::UnknownKey.sentence());
        }
    }
}

/// What [`text`] takes, as the OpenAPI document says it of every string in a body that says nothing else of its form.
pub const TEXT_PATTERN: &str = r"^[^\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F-\u009F]*$";
/// What [`line`] takes; it stands in the schemas of what is read by it.
pub const LINE_PATTERN: &str = r"^[^\u0000-\u0008\u000A-\u001F\u007F-\u009F]*$";

/// As [`text`], on one line.
///
/// # Errors
/// As [`text`], and for a line break.
pub fn line(value: &Value, min: usize, max: usize) -> Result<String, Wrong> {
    if value.as_str().is_some_and(|text| text.contains(['\n', '\r'])) {
        return Err(Wrong::value("This has one line."));
    }
    text(value, min, max)
}

/// A trimmed text of `min` to `max` characters without control characters (line breaks and tabs aside).
///
/// # Errors
/// Not a string, not of that length, or with such characters.
pub fn text(value: &Value, min: usize, max: usize) -> Result<String, Wrong> {
    let Value::String(text) = value else { return Err(Wrong::value("This must be a string.")) };
    if text.chars().any(|c| c.is_control() && !matches!(c, '\n' | '\r' | '\t')) {
        return Err(Wrong::value("Control characters are not taken."));
    }
    let text = text.trim();
    Wrong::length(text, min, max)?;
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
            return Err(Wrong::of(Reason::TooLong, "At most 100 are taken at once."));
        }
        let mut ids = values.iter().map(Id::parse).collect::<Result<Self, _>>()?;
        ids.sort_unstable();
        ids.dedup();
        Ok(ids)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use regex::Regex;
    use serde_json::Value;

    use super::{LINE_PATTERN, TEXT_PATTERN, line, text};

    fn some() -> impl Strategy<Value = String> {
        let sign = prop_oneof![
            8 => any::<char>(),
            4 => (0_u8..0xa0).prop_map(char::from),
            1 => Just('\u{2028}'),
            1 => Just('\u{feff}'),
        ];
        proptest::collection::vec(sign, 0..6).prop_map(|signs| signs.into_iter().collect())
    }

    proptest! {
        /// What the document says of a text is what is taken.
        #[test]
        fn a_text_is_taken_where_its_pattern_takes_it(given in some()) {
            let pattern = Regex::new(TEXT_PATTERN).unwrap();
            prop_assert_eq!(text(&Value::from(given.clone()), 0, 10).is_ok(), pattern.is_match(&given), "{:?}", given);
        }

        #[test]
        fn a_line_is_taken_where_its_pattern_takes_it(given in some()) {
            let pattern = Regex::new(LINE_PATTERN).unwrap();
            prop_assert_eq!(line(&Value::from(given.clone()), 0, 10).is_ok(), pattern.is_match(&given), "{:?}", given);
        }
    }
}
