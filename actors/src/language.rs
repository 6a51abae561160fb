//! The languages of users, documents and results.

use serde::{Deserialize, Serialize};
use strum::{Display, EnumString, IntoStaticStr, VariantArray};
use utoipa::ToSchema;

/// A language of users, documents or results. AUTO: to be detected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[derive(Display, EnumString, IntoStaticStr, VariantArray)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[strum(serialize_all = "SCREAMING_SNAKE_CASE", ascii_case_insensitive, const_into_str)]
pub enum Language {
    Auto,
    En,
    Ar,
    De,
    Es,
    Fr,
    It,
    Nl,
    Pt,
    Tr,
    Zh,
    Ja,
    Ko,
    Hi,
    Ru,
}
