//! Feedback as rows.

use actors::ids::{self, Id, User};
use actors::time::Time;
use diesel::sql_types::Bool;
use diesel::{
    BoolExpressionMethods, ExpressionMethods, Insertable, IntoSql, NullableExpressionMethods, OptionalExtension,
    QueryDsl, Queryable, Selectable,
};

use super::bodies::Filter;
use super::model::{Authorship, Feedback, FeedbackAuthor, FeedbackTarget, FeedbackVerdict};
use crate::db::schema::feedback;
use crate::db::{Columns, Conn, DbError, ROWS, RunQueryDsl, contains, is_found, is_wanted, page_of};
use crate::http::envelope::List;
use crate::http::list::Listing;
use crate::reviews::feedback::model::StakeholderFeedbackStatus;
use crate::reviews::invitations::model::ReviewInvitation;
use crate::reviews::stakeholder_dashboard::model::FeedbackTargetType;

#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = feedback)]
struct Row {
    id: Id<Feedback>,
    project_id: Id<ids::Project>,
    invitation_id: Option<Id<ReviewInvitation>>,
    author_id: Option<Id<User>>,
    author_name: String,
    author_email: Option<String>,
    target_type: FeedbackTargetType,
    target_id: Option<Id<()>>,
    target_code: Option<String>,
    comment: String,
    verdict: Option<FeedbackVerdict>,
    status: StakeholderFeedbackStatus,
    is_read: bool,
    resolution_note: Option<String>,
    created_at: Time,
    resolved_at: Option<Time>,
}

impl From<&Feedback> for Row {
    fn from(one: &Feedback) -> Self {
        let (invitation_id, author_id) = match one.by {
            Authorship::Reviewer(id) => (Some(id), None),
            Authorship::Member(id) => (None, Some(id)),
        };
        let (target_id, target_code) = one.target.item.clone().unzip();
        Self {
            id: one.id,
            project_id: one.project_id,
            invitation_id,
            author_id,
            author_name: one.author.name.clone(),
            author_email: one.author.email.clone(),
            target_type: one.target.target_type,
            target_id: target_id.map(Id::from_uuid),
            target_code,
            comment: one.comment.clone(),
            verdict: one.verdict,
            status: one.status,
            is_read: one.is_read,
            resolution_note: one.resolution_note.clone(),
            created_at: one.created_at,
            resolved_at: one.resolved_at,
        }
    }
}

impl TryFrom<Row> for Feedback {
    type Error = DbError;
    fn try_from(row: Row) -> Result<Self, DbError> {
        let broken = |what: &str| DbError::Broken(format!("the feedback {:?} has {what}", row.id));
        let by = match (row.invitation_id, row.author_id) {
            (Some(id), None) => Authorship::Reviewer(id),
            (None, Some(id)) => Authorship::Member(id),
            _ => return Err(broken("no author, or two")),
        };
        Ok(Self {
            by,
            verdict: row.verdict,
            target: FeedbackTarget {
                target_type: row.target_type,
                item: row.target_id.map(|id| id.uuid()).zip(row.target_code),
            },
            status: row.status,
            id: row.id,
            project_id: row.project_id,
            author: FeedbackAuthor { name: row.author_name, email: row.author_email },
            comment: row.comment,
            is_read: row.is_read,
            resolution_note: row.resolution_note,
            created_at: row.created_at,
            resolved_at: row.resolved_at,
        })
    }
}

pub async fn find(conn: &mut Conn, id: Id<Feedback>) -> Result<Option<Feedback>, DbError> {
    let found = feedback::table.find(id).select(Row::columns()).first(conn).await.optional()?;
    found.map(|row: Row| row.try_into()).transpose()
}

/// Returns those of the ids that are feedback of a project.
pub async fn find_many(
    conn: &mut Conn,
    project_id: Id<ids::Project>,
    ids: &[Id<Feedback>],
) -> Result<Vec<Feedback>, DbError> {
    let own = feedback::table.filter(feedback::id.eq_any(ids)).filter(feedback::project_id.eq(project_id));
    let rows: Vec<Row> = own.order((feedback::created_at, feedback::id)).select(Row::columns()).load(conn).await?;
    rows.into_iter().map(Feedback::try_from).collect()
}

pub async fn insert(conn: &mut Conn, one: &Feedback) -> Result<(), DbError> {
    diesel::insert_into(feedback::table).values(&Row::from(one)).execute(conn).await?;
    Ok(())
}

/// Counts the feedback of an author in a project.
pub async fn count(conn: &mut Conn, project_id: Id<ids::Project>, by: &Authorship) -> Result<i64, DbError> {
    let of_project = feedback::table.filter(feedback::project_id.eq(project_id));
    Ok(match by {
        Authorship::Reviewer(id) => {
            of_project.filter(feedback::invitation_id.eq(Some(*id))).count().get_result(conn).await?
        }
        Authorship::Member(id) => of_project.filter(feedback::author_id.eq(Some(*id))).count().get_result(conn).await?,
    })
}

/// Stores what analysts change.
pub async fn update(conn: &mut Conn, one: &Feedback) -> Result<(), DbError> {
    let changes = (
        feedback::status.eq(one.status),
        feedback::is_read.eq(one.is_read),
        feedback::resolution_note.eq(one.resolution_note.clone()),
        feedback::resolved_at.eq(one.resolved_at),
    );
    diesel::update(feedback::table.find(one.id)).set(changes).execute(conn).await?;
    Ok(())
}

/// Lists a project's feedback, newest first; with `by`, only that of one reviewer.
pub async fn list(
    conn: &mut Conn,
    project_id: Id<ids::Project>,
    by: Option<Id<ReviewInvitation>>,
    Listing { filter, page }: Listing<Filter>,
) -> Result<List<Feedback>, DbError> {
    use feedback as f;
    let any = |is_absent: bool| is_absent.into_sql::<Bool>();
    let target_id = filter.target_id.map(Id::<()>::from_uuid);
    let listed = f::table
        .filter(f::project_id.eq(project_id))
        .filter(any(by.is_none()).or(f::invitation_id.eq(by)))
        .filter(is_wanted(f::status, filter.status))
        .filter(is_wanted(f::target_type, filter.target_type))
        .filter(any(target_id.is_none()).or(f::target_id.eq(target_id)))
        .filter(any(filter.is_read.is_none()).or(f::is_read.eq(filter.is_read.unwrap_or_default())))
        .filter(any(filter.verdict.is_none()).or(f::verdict.eq(filter.verdict)))
        .filter(is_found(filter.search.as_ref(), |pattern| {
            let by_code = f::target_code.is_not_null().and(contains(f::target_code.assume_not_null(), pattern));
            contains(f::comment, pattern).or(contains(f::author_name, pattern)).or(by_code)
        }));
    let (rows, total): (Vec<Row>, _) = page_of!(conn, page, listed, f::id, Row::columns());
    page.list(rows, total, |row| row.id.uuid()).try_map(Feedback::try_from)
}

/// Whether more than `few` feedback was written under an address.
pub async fn has_more_than(conn: &mut Conn, email: &str, few: i64) -> Result<bool, DbError> {
    let of_address = feedback::table.filter(feedback::author_email.eq(Some(email.to_owned())));
    let beyond = of_address.order(feedback::id.asc()).offset(few).select(feedback::id);
    let beyond: Option<Id<Feedback>> = beyond.first(conn).await.optional()?;
    Ok(beyond.is_some())
}

/// Replaces the author of at most `most` feedback that was written under an address. Returns how much it was.
pub async fn forget_address(conn: &mut Conn, email: &str, name: &str, most: i64) -> Result<usize, DbError> {
    let some: Vec<Id<Feedback>> = feedback::table
        .filter(feedback::author_email.eq(Some(email.to_owned())))
        .order(feedback::id.asc())
        .limit(most)
        .select(feedback::id)
        .load(conn)
        .await?;
    forget(conn, some, name).await
}

/// Replaces the author of at most `most` feedback of an account that is not replaced yet. Returns how much it was.
pub async fn forget_member(conn: &mut Conn, user_id: Id<User>, name: &str, most: i64) -> Result<usize, DbError> {
    let some: Vec<Id<Feedback>> = feedback::table
        .filter(feedback::author_id.eq(Some(user_id)))
        .filter(feedback::author_email.is_not_null())
        .order(feedback::id.asc())
        .limit(most)
        .select(feedback::id)
        .load(conn)
        .await?;
    forget(conn, some, name).await
}

async fn forget(conn: &mut Conn, some: Vec<Id<Feedback>>, name: &str) -> Result<usize, DbError> {
    let mut changed = 0;
    for some in some.chunks(ROWS) {
        let forgotten = (feedback::author_name.eq(name.to_owned()), feedback::author_email.eq(None::<String>));
        let these = feedback::table.filter(feedback::id.eq_any(some.to_vec()));
        changed += diesel::update(these).set(forgotten).execute(conn).await?;
    }
    Ok(changed)
}
