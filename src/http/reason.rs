//! Why a value is rejected: the `reason` of an item of `errors` whose code is `ValidationError`. Clients depend on
//! these names.

macro_rules! reasons {
    ($($(#[$meta:meta])* $name:ident, $sentence:literal;)*) => {
        /// The rule that a value breaks.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, utoipa::ToSchema)]
        #[schema(as = ErrorReason)]
        pub enum Reason {
            $($(#[$meta])* $name),*
        }

        impl Reason {
            /// The message for the client if the place that reports the error has none of its own.
            #[must_use]
            pub const fn sentence(self) -> &'static str {
                match self { $(Self::$name => $sentence),* }
            }
        }
    };
}

reasons! {
    /// The value is absent or null.
    Required, "This value is required.";
    /// The key is unknown, or not writable.
    UnknownKey, "This key is unknown or read-only.";
    /// The value has the wrong type, is out of range, or is not one of the allowed ones.
    InvalidValue, "The value is invalid.";
    /// The value has too few characters or items.
    TooShort, "This value is too short.";
    /// The value has too many characters or items.
    TooLong, "This value is too long.";
    Repeated, "This occurs twice.";
    /// The value is nested deeper than the parser allows.
    TooDeep, "This is nested too deeply.";
    /// The password is easy to guess.
    PasswordRefused, "Choose another password.";
}
