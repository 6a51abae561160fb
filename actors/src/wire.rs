//! Enumerations that clients see and tables store: their spelling is written once, by the names of their variants.

/// Declares an enumeration that is spelled in UPPER_SNAKE_CASE in JSON, in the OpenAPI document and in the database, and is
/// read in any case. With the feature `diesel` it is also the value of a text column, see [`sql_text!`](crate::sql_text).
///
/// The crate that declares one depends on `serde`, `strum` and `utoipa`.
///
/// ```
/// actors::wire_enum! {
///     /// How urgent something is.
///     pub enum Urgency {
///         /// Within a day.
///         VeryHigh,
///         Low,
///     }
/// }
/// assert_eq!(Urgency::VeryHigh.into_str(), "VERY_HIGH");
/// assert_eq!("low".parse(), Ok(Urgency::Low));
/// ```
#[macro_export]
macro_rules! wire_enum {
    ($(#[$attribute:meta])* $visibility:vis enum $name:ident { $($variants:tt)* }) => {
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[derive(::serde::Serialize, ::serde::Deserialize, ::utoipa::ToSchema)]
        #[derive(::strum::Display, ::strum::EnumString, ::strum::IntoStaticStr, ::strum::VariantArray)]
        $(#[$attribute])*
        #[serde(rename_all = "SCREAMING_SNAKE_CASE")]
        #[strum(serialize_all = "SCREAMING_SNAKE_CASE", ascii_case_insensitive, const_into_str)]
        $visibility enum $name {
            $($variants)*
        }
        $crate::sql_text! { $name }
    };
}

/// With the feature `diesel`, makes an enumeration the value of a text column: it is stored as it is spelled by strum's
/// `into_str`, and read by `from_str`. Reading a text that is none of its values is an error of the statement.
///
/// Written out, since Diesel's derives would make every crate that declares an enumeration depend on Diesel.
#[cfg(feature = "diesel")]
#[macro_export]
macro_rules! sql_text {
    ($name:ident) => {
        const _: () = {
            use $crate::sql_types::of_diesel::*;

            $crate::sql_text! { @written $name, Text }
            $crate::sql_text! { @written $name, Nullable<Text> }

            impl FromSql<Text, Pg> for $name {
                fn from_sql(value: <Pg as Backend>::RawValue<'_>) -> deserialize::Result<Self> {
                    $crate::sql_types::variant(std::str::from_utf8(value.as_bytes())?, stringify!($name))
                }
            }
            impl FromSql<Text, Sqlite> for $name {
                fn from_sql(mut value: <Sqlite as Backend>::RawValue<'_>) -> deserialize::Result<Self> {
                    $crate::sql_types::variant(value.read_text(), stringify!($name))
                }
            }
            impl<Sql: SingleValue, DB: Backend> Queryable<Sql, DB> for $name
            where
                Self: FromSql<Sql, DB>,
            {
                type Row = Self;
                fn build(row: Self) -> deserialize::Result<Self> {
                    Ok(row)
                }
            }
        };
    };
    (@written $name:ident, $sql:ty) => {
        $crate::sql_text! { @expression $name, $sql }
        $crate::sql_text! { @expression &$name, $sql }
        $crate::sql_text! { @expression &&$name, $sql }

        impl<DB: Backend> ToSql<$sql, DB> for $name
        where
            str: ToSql<$sql, DB>,
        {
            fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, DB>) -> serialize::Result {
                <str as ToSql<$sql, DB>>::to_sql(self.into_str(), out)
            }
        }
    };
    (@expression $value:ty, $sql:ty) => {
        impl AsExpression<$sql> for $value {
            type Expression = <&'static str as AsExpression<$sql>>::Expression;
            fn as_expression(self) -> <Self as AsExpression<$sql>>::Expression {
                AsExpression::<$sql>::as_expression(self.into_str())
            }
        }
    };
}

#[cfg(not(feature = "diesel"))]
#[macro_export]
#[doc(hidden)]
macro_rules! sql_text {
    ($name:ident) => {};
}
