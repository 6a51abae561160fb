//! Enumerations spelled as in the API and the tables.

use std::fmt;

/// The text is not a word of that enumeration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoSuchWord;

impl fmt::Display for NoSuchWord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no such word")
    }
}
impl std::error::Error for NoSuchWord {}

/// Defines an enum without fields, with one word for each variant: `as_str`, `ALL`, `FromStr` (exact spelling; the HTTP
/// layer has already folded the case), `Display` and serde.
macro_rules! words {
    ($(#[$of:meta])* $name:ident { $($(#[$at:meta])* $variant:ident = $word:literal,)+ }) => {
        $(#[$of])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
        pub enum $name {
            $($(#[$at])* #[serde(rename = $word)] $variant,)+
        }
        impl $name {
            /// All variants, in the order of their declaration.
            pub const ALL: &[Self] = &[$(Self::$variant,)+];

            /// Returns the word used in the API and the tables.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }
        }
        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }
        impl std::str::FromStr for $name {
            type Err = $crate::words::NoSuchWord;
            fn from_str(text: &str) -> Result<Self, Self::Err> {
                match text {
                    $($word => Ok(Self::$variant),)+
                    _ => Err($crate::words::NoSuchWord),
                }
            }
        }
    };
}
pub(crate) use words;
