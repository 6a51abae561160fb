//! Text search: LIKE patterns that match the typed text literally.

diesel::define_sql_function! {
    /// Lower case of all letters: on SQLite by our own function, on PostgreSQL by the database's locale (C.UTF-8 or a
    /// language's; under C it handles ASCII only).
    fn lower(text: diesel::sql_types::Text) -> diesel::sql_types::Text;
}

/// Returns a pattern for `lower(column).like(pattern).escape('\\')` that finds `words` anywhere.
#[must_use]
pub fn like(words: &str) -> String {
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
