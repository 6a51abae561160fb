//! Text search: LIKE patterns that match the typed text literally.

use diesel::dsl::{Escape, Like};
use diesel::sql_types::{Bool, Text};
use diesel::{BoolExpressionMethods, EscapeExpressionMethods, Expression, IntoSql, TextExpressionMethods};

use super::list::Optional;

diesel::define_sql_function! {
    /// Lower case of all letters: on SQLite by our own function, on PostgreSQL by the database's locale (C.UTF-8 or a
    /// language's; under C it handles ASCII only).
    fn lower(text: diesel::sql_types::Text) -> diesel::sql_types::Text;
}

/// Holds for the rows that fulfil `condition`, which is given the pattern for [`contains`]; for every row if there are no
/// words to search for.
pub fn is_found<C>(words: Option<&impl AsRef<str>>, condition: impl FnOnce(&str) -> C) -> Optional<C>
where
    C: Expression<SqlType = Bool>,
{
    let pattern = words.map(|words| like(words.as_ref())).unwrap_or_default();
    words.is_none().into_sql::<Bool>().or(condition(&pattern))
}

/// Whether a text contains the words of a pattern, in any case.
pub fn contains<C>(text: C, pattern: &str) -> Escape<Like<lower<C>, String>>
where
    C: Expression<SqlType = Text>,
{
    lower(text).like(pattern.to_owned()).escape('\\')
}

/// Returns a pattern for `lower(column).like(pattern).escape('\\')` that finds `words` anywhere.
fn like(words: &str) -> String {
    let mut pattern = String::with_capacity(words.len() + 2);
    pattern.push('%');
    for c in words.to_lowercase().chars() {
        if matches!(c, '%' | '_' | '\\') {
            pattern.push('\\');
        }
        pattern.push(c);
    }
    pattern.push('%');
    pattern
}

#[cfg(test)]
mod tests {
    #[test]
    fn what_was_typed_is_taken_literally() {
        assert_eq!(super::like("50%_Off\\"), "%50\\%\\_off\\\\%");
    }
}
