//! Why a value is not acceptable: the `reason` of an item of `errors` whose code is `ValidationError`. Clients rely on these names.

macro_rules! reasons {
    ($($(#[$meta:meta])* $name:ident, $sentence:literal;)*) => {
        /// Which rule a value breaks.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, utoipa::ToSchema)]
        #[schema(as = ErrorReason)]
        pub enum Reason {
            $($(#[$meta])* $name),*
        }

        impl Reason {
            /// What the client is told when the place of the error has nothing better to say.
            #[must_use]
            pub const fn sentence(self) -> &'static str {
                match self { $(Self::$name => $sentence),* }
            }
        }
    };
}

reasons! {
    /// It is absent or null.
    Required, "This value is required.";
    /// Nothing of this name is known here, or can be written.
    UnknownKey, "This key is not known here, or can't be written.";
    /// It is of the wrong type, out of its range, or none of what there is.
    InvalidValue, "This value is not acceptable.";
    /// It has fewer characters or items than it must.
    TooShort, "This value is too short.";
    /// It has more characters or items than it may.
    TooLong, "This value is too long.";
    Repeated, "This is there twice.";
    /// It nests deeper than is read.
    TooDeep, "This nests too deep.";
    /// A password that is easily guessed.
    PasswordRefused, "Choose another password.";
}
