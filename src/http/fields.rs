//! Reads the fields of a body or a query and reports all errors at once.
//!
//! The derives of [`Body`](super::input::Body) and [`Query`](super::input::Query) call it for each field of a struct.
//!
//! deserr 0.6 was tried on `CreateMeeting`, `UpdateMeeting` and `InviteGuests`: it reports all errors at once too, with the
//! same paths and codes. This reader stays, with derives of its own, because values would need a second parser beside
//! [`Field`], which queries use as well; a value of the wrong kind would get deserr's sentence in place of its type's; and
//! errors would be in alphabetical order instead of that of the fields.

use std::ops::RangeInclusive;

use actors::ids::Id;
use actors::time::{LocalTime, Time, UtcOffset};
use serde_json::{Map, Value};

use super::error::{ApiError, FieldError, MAX_FAULTS};
use super::patch::Patch;
use super::reason::Reason;

/// A value that can be parsed from JSON. Query parameters are passed as JSON strings.
pub trait Field: Sized {
    /// # Errors
    /// What is wrong, in words for the client.
    fn parse(value: &Value) -> Result<Self, InvalidValue>;
}

/// Why a value is rejected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidValue {
    pub reason: Reason,
    pub message: String,
}

impl InvalidValue {
    #[must_use]
    pub fn value(message: impl Into<String>) -> Self {
        Self::of(Reason::InvalidValue, message)
    }

    #[must_use]
    pub fn of(reason: Reason, message: impl Into<String>) -> Self {
        Self { reason, message: message.into() }
    }

    /// # Errors
    /// The text has fewer than `min` or more than `max` characters.
    pub fn length(text: &str, min: usize, max: usize) -> Result<(), Self> {
        let length = text.chars().count();
        if (min..=max).contains(&length) {
            return Ok(());
        }
        let reason = if length < min { Reason::TooShort } else { Reason::TooLong };
        Err(Self::of(reason, format!("This must have {min} to {max} characters; it has {length}.")))
    }
}

/// An error was recorded in [`Fields`]; there is no value.
#[derive(Debug, Clone, Copy)]
pub struct Rejected;

/// The fields of one object, removed as they are read. The fields that remain at the end are unknown keys.
#[derive(Debug)]
pub struct Fields {
    values: Map<String, Value>,
    /// The first [`MAX_FAULTS`] errors; later ones are dropped, since the response names no more.
    faults: Vec<FieldError>,
}

impl Fields {
    #[must_use]
    pub fn of(values: Map<String, Value>) -> Self {
        Self { values, faults: Vec::new() }
    }

    /// Reads a field that must be present.
    ///
    /// # Errors
    /// The field is absent, null or invalid. The error is recorded.
    pub fn required<T: Field>(&mut self, name: &str) -> Result<T, Rejected> {
        match self.values.remove(name) {
            None | Some(Value::Null) => Err(self.fault(name, Reason::Required, Reason::Required.sentence())),
            Some(value) => self.parsed(name, &value),
        }
    }

    /// Reads a field that may be absent or null; both are `None`.
    ///
    /// # Errors
    /// The field is present and invalid. The error is recorded.
    pub fn optional<T: Field>(&mut self, name: &str) -> Result<Option<T>, Rejected> {
        match self.values.remove(name) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => self.parsed(name, &value).map(Some),
        }
    }

    /// Reads a field of a PATCH: absent keeps the value, null clears it.
    ///
    /// # Errors
    /// The field is present and invalid. The error is recorded.
    pub fn patch<T: Field>(&mut self, name: &str) -> Result<Patch<T>, Rejected> {
        match self.values.remove(name) {
            None => Ok(Patch::Keep),
            Some(Value::Null) => Ok(Patch::Clear),
            Some(value) => self.parsed(name, &value).map(Patch::Set),
        }
    }

    /// Reads a field of a PATCH that can't be cleared: absent keeps the value, null is invalid.
    ///
    /// # Errors
    /// The field is null or invalid. The error is recorded.
    pub fn replaced<T: Field>(&mut self, name: &str) -> Result<Option<T>, Rejected> {
        match self.patch(name)? {
            Patch::Keep => Ok(None),
            Patch::Set(value) => Ok(Some(value)),
            Patch::Clear => Err(self.fault(name, Reason::InvalidValue, "This value can't be null.")),
        }
    }

    /// Reads a list of objects, each with `read`, whose number is in `counts`. Errors in an item, unknown keys included,
    /// are recorded as `name[2].key`.
    ///
    /// # Errors
    /// The field is absent, is no such list, or contains an error. The errors are recorded.
    pub fn objects<T>(
        &mut self,
        name: &str,
        counts: RangeInclusive<usize>,
        read: impl FnMut(&mut Self) -> Result<T, Rejected>,
    ) -> Result<Vec<T>, Rejected> {
        let objects = self.optional_objects(name, counts, read)?;
        objects.ok_or_else(|| self.fault(name, Reason::Required, Reason::Required.sentence()))
    }

    /// As [`Self::objects`], but the field may be absent or null.
    ///
    /// # Errors
    /// The field is no such list, or contains an error. The errors are recorded.
    pub fn optional_objects<T>(
        &mut self,
        name: &str,
        counts: RangeInclusive<usize>,
        mut read: impl FnMut(&mut Self) -> Result<T, Rejected>,
    ) -> Result<Option<Vec<T>>, Rejected> {
        let Some(values) = self.list(name, counts)? else { return Ok(None) };
        let mut are_valid = true;
        let mut all = Vec::with_capacity(values.len());
        for (index, value) in values.into_iter().enumerate() {
            let path = format!("{name}[{index}]");
            let Value::Object(values) = value else {
                self.fault(&path, Reason::InvalidValue, "This must be an object.");
                are_valid = false;
                continue;
            };
            let mut item = Self::of(values);
            all.extend(read(&mut item).ok());
            item.note_unknown();
            are_valid = are_valid && item.faults.is_empty();
            for fault in item.faults {
                self.note(fault.within(&path));
            }
        }
        if are_valid { Ok(Some(all)) } else { Err(Rejected) }
    }

    /// Reads a list of objects of a PATCH: absent keeps the former ones, null is invalid.
    ///
    /// # Errors
    /// The field is null or no such list, or contains an error. The errors are recorded.
    pub fn replaced_objects<T>(
        &mut self,
        name: &str,
        counts: RangeInclusive<usize>,
        read: impl FnMut(&mut Self) -> Result<T, Rejected>,
    ) -> Result<Option<Vec<T>>, Rejected> {
        if self.values.get(name).is_some_and(Value::is_null) {
            self.values.remove(name);
            return Err(self.fault(name, Reason::InvalidValue, "This value can't be null."));
        }
        self.optional_objects(name, counts, read)
    }

    /// Reads a list of at most `most` values, which `accept` may reject for a reason beside their form. It may be absent or
    /// null; both are an empty list. Errors in an item are recorded as `name[2]`.
    ///
    /// # Errors
    /// The field is no such list, or contains an error. The errors are recorded.
    pub fn values<T: Field>(
        &mut self,
        name: &str,
        most: usize,
        mut accept: impl FnMut(&T) -> Result<(), InvalidValue>,
    ) -> Result<Vec<T>, Rejected> {
        let mut are_valid = true;
        let mut all = Vec::new();
        for (index, value) in self.list(name, 0..=most)?.unwrap_or_default().iter().enumerate() {
            match T::parse(value).and_then(|value| accept(&value).map(|()| value)) {
                Ok(value) => all.push(value),
                Err(InvalidValue { reason, message }) => {
                    self.fault(&format!("{name}[{index}]"), reason, &message);
                    are_valid = false;
                }
            }
        }
        if are_valid { Ok(all) } else { Err(Rejected) }
    }

    /// Returns the items of a list; `None` if the field is absent or null.
    fn list(&mut self, name: &str, counts: RangeInclusive<usize>) -> Result<Option<Vec<Value>>, Rejected> {
        match self.values.remove(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::Array(values)) if counts.contains(&values.len()) => Ok(Some(values)),
            Some(Value::Array(values)) => {
                let (least, most) = (counts.start(), counts.end());
                let sentence = format!("This must have {least} to {most} items; it has {}.", values.len());
                let reason = if values.len() < *least { Reason::TooShort } else { Reason::TooLong };
                Err(self.fault(name, reason, &sentence))
            }
            Some(_) => Err(self.fault(name, Reason::InvalidValue, "This must be a list.")),
        }
    }

    /// Reads an object that may be absent.
    ///
    /// # Errors
    /// An error was recorded.
    pub fn object<T>(
        &mut self,
        name: &str,
        read: impl Fn(&mut Self) -> Result<T, Rejected>,
    ) -> Result<Option<T>, Rejected> {
        let values = match self.values.remove(name) {
            None | Some(Value::Null) => return Ok(None),
            Some(Value::Object(values)) => values,
            Some(_) => return Err(self.fault(name, Reason::InvalidValue, "This must be an object.")),
        };
        let mut object = Self::of(values);
        let value = read(&mut object);
        object.note_unknown();
        let is_valid = object.faults.is_empty();
        for fault in object.faults {
            self.note(fault.within(name));
        }
        if is_valid { value.map(Some) } else { Err(Rejected) }
    }

    /// Reads an object that must be there.
    ///
    /// # Errors
    /// The field is absent, null or no object, or contains an error. The errors are recorded.
    pub fn required_object<T>(
        &mut self,
        name: &str,
        read: impl Fn(&mut Self) -> Result<T, Rejected>,
    ) -> Result<T, Rejected> {
        let object = self.object(name, read)?;
        object.ok_or_else(|| self.fault(name, Reason::Required, Reason::Required.sentence()))
    }

    /// Whether the field is there and not null.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.values.get(name).is_some_and(|value| !value.is_null())
    }

    /// Returns the number of keys that have not been read yet.
    #[must_use]
    pub fn left(&self) -> usize {
        self.values.len()
    }

    /// Records that a value is missing without naming a field.
    pub fn reject(&mut self, message: &str) -> Rejected {
        self.note(FieldError::value(Reason::Required, None, message))
    }

    fn parsed<T: Field>(&mut self, name: &str, value: &Value) -> Result<T, Rejected> {
        T::parse(value).map_err(|InvalidValue { reason, message }| self.fault(name, reason, &message))
    }

    /// Records an error of a field whose value was read, but breaks a rule that its type does not know.
    pub fn fault(&mut self, name: &str, reason: Reason, message: &str) -> Rejected {
        self.note(FieldError::value(reason, Some(name.to_owned()), message))
    }

    fn note(&mut self, fault: FieldError) -> Rejected {
        if self.faults.len() < MAX_FAULTS {
            self.faults.push(fault);
        }
        Rejected
    }

    /// Returns the value, unless an error was recorded.
    ///
    /// # Errors
    /// 422 with all errors, unknown keys included.
    pub fn done<T>(mut self, read: Result<T, Rejected>) -> Result<T, ApiError> {
        self.note_unknown();
        match read {
            Ok(read) if self.faults.is_empty() => Ok(read),
            _ => Err(ApiError::invalid(self.faults)),
        }
    }

    fn note_unknown(&mut self) {
        for (name, _) in std::mem::take(&mut self.values).into_iter().take(MAX_FAULTS) {
            self.fault(&name, Reason::UnknownKey, Reason::UnknownKey.sentence());
        }
    }
}

/// The texts that [`text`] accepts. The OpenAPI document adds this pattern to every string of a body whose schema has
/// no other constraint on its form.
pub const TEXT_PATTERN: &str = r"^[^\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F-\u009F]*$";
/// The texts that [`line`] accepts, for the schemas of the fields that it reads.
pub const LINE_PATTERN: &str = r"^[^\u0000-\u0008\u000A-\u001F\u007F-\u009F]*$";

/// Like [`text`], for one line.
///
/// # Errors
/// Like [`text`], and if the text contains a line break.
pub fn line(value: &Value, min: usize, max: usize) -> Result<String, InvalidValue> {
    if value.as_str().is_some_and(|text| text.contains(['\n', '\r'])) {
        return Err(InvalidValue::value("This must be a single line."));
    }
    text(value, min, max)
}

/// Returns the trimmed text of `min` to `max` characters. Control characters other than line breaks and tabs are
/// rejected.
///
/// # Errors
/// The value is not a string, has another length, or contains control characters.
pub fn text(value: &Value, min: usize, max: usize) -> Result<String, InvalidValue> {
    let Value::String(text) = value else { return Err(InvalidValue::value("This must be a string.")) };
    if text.chars().any(|c| c.is_control() && !matches!(c, '\n' | '\r' | '\t')) {
        return Err(InvalidValue::value("Control characters are not allowed."));
    }
    let text = text.trim();
    InvalidValue::length(text, min, max)?;
    Ok(text.to_owned())
}

impl Field for Time {
    fn parse(value: &Value) -> Result<Self, InvalidValue> {
        LocalTime::parse(value).map(|time| time.at)
    }
}

impl Field for LocalTime {
    fn parse(value: &Value) -> Result<Self, InvalidValue> {
        let wrong = || InvalidValue::value("This must be a time such as 2026-01-31T09:30:00Z.");
        let text = value.as_str().ok_or_else(wrong)?;
        let local = chrono::DateTime::parse_from_rfc3339(text).map_err(|_| wrong())?;
        let (time, seconds) = (local.to_utc(), local.offset().local_minus_utc());
        let at = Time::from_millis(time.timestamp_millis()).ok_or_else(wrong)?;
        let offset = UtcOffset::from_minutes((seconds / 60).into()).ok_or_else(wrong)?;
        Ok(Self { at, offset })
    }
}

impl<T> Field for Id<T> {
    fn parse(value: &Value) -> Result<Self, InvalidValue> {
        value.as_str().and_then(|text| text.parse().ok()).ok_or_else(|| InvalidValue::value("This must be a UUID."))
    }
}

impl Field for bool {
    fn parse(value: &Value) -> Result<Self, InvalidValue> {
        value.as_bool().ok_or_else(|| InvalidValue::value("This must be true or false."))
    }
}

/// A list of at most 100 ids, sorted, without duplicates.
impl<T> Field for Vec<Id<T>> {
    fn parse(value: &Value) -> Result<Self, InvalidValue> {
        let Value::Array(values) = value else { return Err(InvalidValue::value("This must be a list of UUIDs.")) };
        if values.len() > 100 {
            return Err(InvalidValue::of(Reason::TooLong, "At most 100 items are allowed."));
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

    fn any_text() -> impl Strategy<Value = String> {
        let sign = prop_oneof![
            8 => any::<char>(),
            4 => (0_u8..0xa0).prop_map(char::from),
            1 => Just('\u{2028}'),
            1 => Just('\u{feff}'),
        ];
        proptest::collection::vec(sign, 0..6).prop_map(|signs| signs.into_iter().collect())
    }

    proptest! {
        /// The pattern in the OpenAPI document and the parser accept the same texts.
        #[test]
        fn a_text_is_taken_where_its_pattern_takes_it(given in any_text()) {
            let pattern = Regex::new(TEXT_PATTERN).unwrap();
            prop_assert_eq!(text(&Value::from(given.clone()), 0, 10).is_ok(), pattern.is_match(&given), "{:?}", given);
        }

        #[test]
        fn a_line_is_taken_where_its_pattern_takes_it(given in any_text()) {
            let pattern = Regex::new(LINE_PATTERN).unwrap();
            prop_assert_eq!(line(&Value::from(given.clone()), 0, 10).is_ok(), pattern.is_match(&given), "{:?}", given);
        }
    }
}
