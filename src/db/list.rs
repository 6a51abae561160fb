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

/// Runs the query of a list: once for the number of rows on all pages, and once for the rows of the page, newest first
/// and one more than the page has. Evaluates to both, the rows first.
///
/// `page_of!(conn, page, users::table.filter(…), users::id, Row::columns())`. The rows are ordered by the id.
macro_rules! page_of {
    ($conn:expr, $page:expr, $listed:expr, $id:expr, $columns:expr) => {{
        let listed = $listed;
        let total: i64 = listed.clone().count().get_result($conn).await?;
        let before = $crate::db::Key(actors::ids::Id::<()>::from_uuid($page.before()));
        let rows = listed.filter($id.lt(before)).order($id.desc()).limit($page.limit + 1).select($columns);
        (rows.load($conn).await?, total)
    }};
}
pub(crate) use page_of;
