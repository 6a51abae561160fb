//! Typed ids: an `Id<Meeting>` can't be passed where an `Id<Project>` is expected.
//!
//! Ids are UUIDs of version 7, so they sort by the time at which they were generated. The tags below name the resources
//! that the whole service uses; they have no values.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use utoipa::PartialSchema;
use utoipa::openapi::schema::{KnownFormat, ObjectBuilder, SchemaFormat, Type};
use utoipa::openapi::{RefOr, Schema};
use uuid::Uuid;

#[cfg(feature = "diesel")]
use crate::sql_types::of_diesel::{AsExpression, FromSqlRow};

/// The id of a `T`.
#[cfg_attr(feature = "diesel", derive(AsExpression, FromSqlRow), diesel(sql_type = crate::sql_types::Uuid))]
pub struct Id<T> {
    uuid: Uuid,
    of: PhantomData<fn() -> T>,
}

impl<T> Id<T> {
    /// Generates a new unique id.
    #[must_use]
    pub fn generate() -> Self {
        Self::from_uuid(Uuid::now_v7())
    }

    #[must_use]
    pub const fn from_uuid(uuid: Uuid) -> Self {
        Self { uuid, of: PhantomData }
    }

    #[must_use]
    pub const fn uuid(self) -> Uuid {
        self.uuid
    }
}

impl<T> Clone for Id<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Id<T> {}
impl<T> PartialEq for Id<T> {
    fn eq(&self, other: &Self) -> bool {
        self.uuid == other.uuid
    }
}
impl<T> Eq for Id<T> {}
impl<T> PartialOrd for Id<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl<T> Ord for Id<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.uuid.cmp(&other.uuid)
    }
}
impl<T> Hash for Id<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.uuid.hash(state);
    }
}
impl<T> fmt::Debug for Id<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.uuid, f)
    }
}
impl<T> fmt::Display for Id<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.uuid, f)
    }
}
impl<T> FromStr for Id<T> {
    type Err = uuid::Error;
    /// Accepts only the hyphenated form, in any case: other spellings of a UUID would give one resource several
    /// addresses.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text.len() == uuid::fmt::Hyphenated::LENGTH {
            Uuid::try_parse(text).map(Self::from_uuid)
        } else {
            Uuid::try_parse("not hyphenated").map(Self::from_uuid)
        }
    }
}
impl<T> PartialSchema for Id<T> {
    fn schema() -> RefOr<Schema> {
        let uuid = SchemaFormat::KnownFormat(KnownFormat::Uuid);
        ObjectBuilder::new().schema_type(Type::String).format(Some(uuid)).into()
    }
}
impl<T> Serialize for Id<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.uuid.serialize(serializer)
    }
}
impl<'de, T> Deserialize<'de> for Id<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        text.parse().map_err(|_| serde::de::Error::custom("not a UUID"))
    }
}

/// A user with an account.
#[derive(Debug, Clone, Copy)]
pub enum User {}
/// A login session that lasts until logout, expiry or revocation.
#[derive(Debug, Clone, Copy)]
pub enum Session {}
/// The project that a team's documents, meetings and requirements belong to.
#[derive(Debug, Clone, Copy)]
pub enum Project {}
/// A user's membership of a project.
#[derive(Debug, Clone, Copy)]
pub enum Member {}
/// An uploaded file and its text.
#[derive(Debug, Clone, Copy)]
pub enum Document {}
/// A participant of a meeting, joined or invited.
#[derive(Debug, Clone, Copy)]
pub enum Participant {}
/// A recording of a meeting.
#[derive(Debug, Clone, Copy)]
pub enum Recording {}
/// A version of the transcript of a recording.
#[derive(Debug, Clone, Copy)]
pub enum Transcript {}
/// The file with the bytes of a chunk of a recording.
#[derive(Debug, Clone, Copy)]
pub enum ChunkFile {}
/// An invitation to a meeting.
#[derive(Debug, Clone, Copy)]
pub enum Invitation {}
/// The pipeline's work for one attempt of a run.
#[derive(Debug, Clone, Copy)]
pub enum AiJob {}
