//! A macro for the enumerations of the interface: serialized in UPPER_SNAKE_CASE, parsed in any case.

/// Defines such an enumeration: `enumeration! { /// docs  pub enum Language { Auto = "AUTO", … } }`
#[macro_export]
macro_rules! enumeration {
    ($(#[$meta:meta])* $visibility:vis enum $name:ident { $($(#[$arm:meta])* $variant:ident = $text:literal),* $(,)? }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
        $visibility enum $name {
            $($(#[$arm])* #[serde(rename = $text)] $variant),*
        }

        impl $name {
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text),* }
            }

            /// Parses a name in any case. `None` if it is not one of the variants.
            #[must_use]
            pub fn named(text: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|one| one.as_str().eq_ignore_ascii_case(text))
            }
        }

        impl utoipa::PartialSchema for $name {
            fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::Schema> {
                // The serialized names. utoipa's derive would not see the names that this macro sets.
                let names: Vec<&str> = Self::ALL.iter().map(|one| one.as_str()).collect();
                let kind = utoipa::openapi::schema::Type::String;
                utoipa::openapi::ObjectBuilder::new().schema_type(kind).enum_values(Some(names)).into()
            }
        }

        impl utoipa::ToSchema for $name {
            fn name() -> std::borrow::Cow<'static, str> {
                std::borrow::Cow::Borrowed(stringify!($name))
            }
        }

        impl $crate::http::fields::Field for $name {
            fn parse(value: &serde_json::Value) -> Result<Self, $crate::http::fields::InvalidValue> {
                value.as_str().and_then(Self::named).ok_or_else(|| {
                    let known: Vec<_> = Self::ALL.iter().map(|one| one.as_str()).collect();
                    $crate::http::fields::InvalidValue::value(format!("This must be one of {}.", known.join(", ")))
                })
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}
