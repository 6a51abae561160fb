//! Queries of lists: filters that may be absent, and a page of rows with the number of rows on all pages.

use diesel::dsl::{AsExprOf, Eq, Or};
use diesel::sql_types::{Bool, Text};
use diesel::{BoolExpressionMethods, Expression, ExpressionMethods, IntoSql};

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
        let before = $crate::db::Key(actors::ids::Id::<()>::from_uuid($page.before()));
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
