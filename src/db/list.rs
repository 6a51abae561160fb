//! Queries of lists: filters that may be absent, and a page of rows with the number of rows on all pages. A page ends by bytes as
//! well as by number where people decide how large a row is.

use diesel::dsl::{AsExprOf, Eq, Or};
use diesel::sql_types::{Bool, Text};
use diesel::{BoolExpressionMethods, Expression, ExpressionMethods, IntoSql};

diesel::define_sql_function! {
    /// The size of a text in bytes. Neither database reads the text for it.
    fn octet_length(text: diesel::sql_types::Text) -> diesel::sql_types::Integer;
}

diesel::define_sql_function! {
    /// The other text where a column has none.
    fn coalesce(text: diesel::sql_types::Nullable<diesel::sql_types::Text>, other: diesel::sql_types::Text) -> diesel::sql_types::Text;
}

/// How large the rows of a page may be together, in bytes. A page has one row at least.
pub const PAGE_BYTES: usize = 2 * 1024 * 1024;

/// Returns how many rows of these sizes a page has, of at most `limit`.
#[must_use]
pub fn rows_of_page(sizes: impl IntoIterator<Item = usize>, limit: i64) -> usize {
    let mut bytes = 0_usize;
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let fitting = sizes.into_iter().take(limit).take_while(|size| {
        let is_first = bytes == 0;
        bytes = bytes.saturating_add(*size).max(1);
        is_first || bytes <= PAGE_BYTES
    });
    fitting.count()
}

/// The size of a text as [`octet_length`] gives it.
#[must_use]
pub fn bytes_of(length: i32) -> usize {
    usize::try_from(length).unwrap_or_default()
}

/// A condition that may be absent; then it holds for every row.
pub type Optional<C> = Or<AsExprOf<bool, Bool>, C>;

/// Holds for the rows whose column is the `wanted` value; for every row if there is none.
pub fn is_wanted<C>(column: C, wanted: Option<impl Into<&'static str>>) -> Optional<Eq<C, &'static str>>
where
    C: Expression<SqlType = Text>,
{
    wanted.is_none().into_sql::<Bool>().or(column.eq(wanted.map_or("", Into::into)))
}

/// Returns how many rows all pages have, if a page shows it by itself: it begins with the newest row, and no more than its
/// limit were found.
pub fn total_of(found: usize, before: uuid::Uuid, limit: i64) -> Option<i64> {
    let found = i64::try_from(found).ok()?;
    (before.is_max() && found <= limit).then_some(found)
}

/// Runs the query of a list: for the rows of a page, newest first and one more than the page has, and for the number of rows
/// on all pages, unless the first page has them all. Evaluates to both, the rows first.
///
/// `page_of!(conn, page, users::table.filter(…), users::id, Row::columns())`. The rows are ordered by the id.
macro_rules! page_of {
    ($conn:expr, $page:expr, $listed:expr, $id:expr, $columns:expr) => {{
        let listed = $listed;
        let before = actors::ids::Id::<()>::from_uuid($page.before());
        let rows = listed.clone().filter($id.lt(before)).order($id.desc()).limit($page.limit + 1).select($columns);
        let rows: Vec<_> = rows.load($conn).await?;
        let total: i64 = match $crate::db::total_of(rows.len(), $page.before(), $page.limit) {
            Some(total) => total,
            None => listed.count().get_result($conn).await?,
        };
        (rows, total)
    }};
}
pub(crate) use page_of;

/// As [`page_of`], where people decide how large a row is: `$bytes` is the size of a row's texts, an INTEGER. Asks for the sizes,
/// reserves as much in `$share`, and then reads the rows that fit on a page. Evaluates to the rows, whether there are more, and
/// their number on all pages.
///
/// `page_by_bytes!(conn, share, page, table.filter(…), id, octet_length(body), (id, body))`.
macro_rules! page_by_bytes {
    ($conn:expr, $share:expr, $page:expr, $listed:expr, $id:expr, $bytes:expr, $columns:expr) => {{
        let listed = $listed;
        let before = actors::ids::Id::<()>::from_uuid($page.before());
        let share = $share;
        // As of one moment: a row that came in between would push another one off the page.
        $conn
            .transaction(async |conn| {
                let sizes = listed
                    .clone()
                    .filter($id.lt(before))
                    .order($id.desc())
                    .limit($page.limit + 1)
                    .select(($id, $bytes));
                let sizes: Vec<(actors::ids::Id<()>, i32)> = sizes.load(conn).await?;
                let bytes_of = |(_, bytes): &(actors::ids::Id<()>, i32)| $crate::db::bytes_of(*bytes);
                let count = $crate::db::rows_of_page(sizes.iter().map(bytes_of), $page.limit);
                share.reserve(sizes.iter().take(count).map(bytes_of).sum::<usize>())?;
                let last = count.checked_sub(1).and_then(|at| sizes.get(at)).map(|(id, _)| *id);
                let rows: Vec<_> = match last {
                    Some(last) => {
                        let fitting = listed.clone().filter($id.lt(before)).filter($id.ge(last)).order($id.desc());
                        fitting.select($columns).load(conn).await?
                    }
                    None => Vec::new(),
                };
                let total: i64 = match $crate::db::total_of(sizes.len(), $page.before(), $page.limit) {
                    Some(total) => total,
                    None => listed.count().get_result(conn).await?,
                };
                Ok::<_, $crate::db::DbError>((rows, sizes.len() > count, total))
            })
            .await?
    }};
}
pub(crate) use page_by_bytes;

#[cfg(test)]
mod tests {
    use super::{PAGE_BYTES, rows_of_page};

    #[test]
    fn a_page_ends_by_number_or_by_bytes_and_is_never_empty_while_there_is_a_row() {
        assert_eq!(rows_of_page([10; 200], 100), 100);
        assert_eq!(rows_of_page([10; 3], 100), 3);
        assert_eq!(rows_of_page([PAGE_BYTES / 2, PAGE_BYTES / 2, 1], 100), 2);
        assert_eq!(rows_of_page([PAGE_BYTES + 1, 1], 100), 1, "a row that is larger than a page has one of its own");
        assert_eq!(rows_of_page([0, PAGE_BYTES + 1, 1], 100), 1);
        assert_eq!(rows_of_page([], 100), 0);
    }
}
