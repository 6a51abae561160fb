//! Invitations to review a project as rows. Of tokens, only the hashes are stored.

use std::time::Duration;

use actors::ids::{self, Id, User};
use actors::run::Run;
use actors::time::Time;
use diesel::sql_types::Bool;
use diesel::{
    BoolExpressionMethods, ExpressionMethods, Insertable, IntoSql, NullableExpressionMethods, OptionalExtension,
    QueryDsl, Queryable, Selectable,
};
use uuid::Uuid;

use super::bodies::Filter;
use super::model::{ProjectReviewInvitationStatus, ProjectReviewPermission, ReviewInvitation, ReviewScope, State};
use crate::db::schema::{former_review_tokens, review_invitations};
use crate::db::sweep::Retention;
use crate::db::{Columns, Conn, DbError, ROWS, RunQueryDsl, contains, is_found, is_wanted, many, page_of};
use crate::http::envelope::List;
use crate::http::list::Listing;
use crate::meetings::invitations::model::MAX_VALIDITY;
use crate::reviews::baselines::model::Baseline;

#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = review_invitations)]
struct Row {
    id: Id<ReviewInvitation>,
    project_id: Id<ids::Project>,
    email: String,
    full_name: Option<String>,
    organisation: Option<String>,
    permission: ProjectReviewPermission,
    run_id: Option<Id<Run>>,
    message: Option<String>,
    invited_by_id: Id<User>,
    send_count: i64,
    last_sent_at: Time,
    expires_at: Time,
    lapses_at: Option<Time>,
    accepted_at: Option<Time>,
    revoked_at: Option<Time>,
    last_seen_at: Option<Time>,
    created_at: Time,
    scope: ReviewScope,
    baseline_id: Option<Id<Baseline>>,
    selected_count: Option<i64>,
}

#[derive(Insertable)]
#[diesel(table_name = review_invitations)]
struct NewInvitationRow {
    #[diesel(embed)]
    row: Row,
    token_hash: String,
    selected_items: Option<String>,
}

impl From<&ReviewInvitation> for Row {
    fn from(one: &ReviewInvitation) -> Self {
        Self {
            id: one.id,
            project_id: one.project_id,
            email: one.email.clone(),
            full_name: one.full_name.clone(),
            organisation: one.organisation.clone(),
            permission: one.permission,
            run_id: one.run_id,
            message: one.message.clone(),
            invited_by_id: one.invited_by_id,
            send_count: one.send_count,
            last_sent_at: one.last_sent_at,
            expires_at: one.expires_at,
            lapses_at: one.accepted_at().is_none().then_some(one.expires_at),
            accepted_at: one.accepted_at(),
            revoked_at: one.revoked_at(),
            last_seen_at: one.last_seen_at,
            created_at: one.created_at,
            scope: one.scope,
            baseline_id: one.baseline_id,
            selected_count: one.selected_count,
        }
    }
}

impl From<Row> for ReviewInvitation {
    fn from(row: Row) -> Self {
        let state = match (row.accepted_at, row.revoked_at) {
            (None, None) => State::Open,
            (Some(at), None) => State::Accepted { at },
            (accepted_at, Some(at)) => State::Revoked { at, accepted_at },
        };
        Self {
            id: row.id,
            project_id: row.project_id,
            email: row.email,
            full_name: row.full_name,
            organisation: row.organisation,
            permission: row.permission,
            run_id: row.run_id,
            scope: row.scope,
            baseline_id: row.baseline_id,
            selected_count: row.selected_count,
            message: row.message,
            invited_by_id: row.invited_by_id,
            send_count: row.send_count,
            last_sent_at: row.last_sent_at,
            expires_at: row.expires_at,
            state,
            last_seen_at: row.last_seen_at,
            created_at: row.created_at,
        }
    }
}

pub async fn find(conn: &mut Conn, id: Id<ReviewInvitation>) -> Result<Option<ReviewInvitation>, DbError> {
    let found = review_invitations::table.find(id).select(Row::columns()).first(conn).await.optional()?;
    Ok(found.map(|row: Row| row.into()))
}

/// Those of the ids that exist, in the order of the ids.
pub async fn find_many(conn: &mut Conn, ids: &[Id<ReviewInvitation>]) -> Result<Vec<ReviewInvitation>, DbError> {
    let rows: Vec<Row> = review_invitations::table
        .filter(review_invitations::id.eq_any(ids))
        .order(review_invitations::id.asc())
        .select(Row::columns())
        .load(conn)
        .await?;
    Ok(rows.into_iter().map(ReviewInvitation::from).collect())
}

/// Those of the addresses that have a pending invitation to the project.
pub async fn pending(
    conn: &mut Conn,
    project_id: Id<ids::Project>,
    emails: &[&str],
    now: Time,
) -> Result<Vec<String>, DbError> {
    let pending = review_invitations::table
        .filter(review_invitations::project_id.eq(project_id))
        .filter(review_invitations::email.eq_any(emails.iter().map(|email| (*email).to_owned()).collect::<Vec<_>>()))
        .filter(review_invitations::accepted_at.is_null())
        .filter(review_invitations::revoked_at.is_null())
        .filter(review_invitations::expires_at.gt(now));
    Ok(pending.select(review_invitations::email).load(conn).await?)
}

/// The result of looking up a token.
pub enum ReviewTokenLookup {
    Found(Box<ReviewInvitation>),
    /// There is a newer token of the same kind.
    Superseded,
    Unknown,
}

/// Looks up the token of a link.
pub async fn by_token(conn: &mut Conn, hash: &str) -> Result<ReviewTokenLookup, DbError> {
    let of_token = review_invitations::table.filter(review_invitations::token_hash.eq(hash));
    let found: Option<Row> = of_token.select(Row::columns()).first(conn).await.optional()?;
    if let Some(row) = found {
        return Ok(ReviewTokenLookup::Found(Box::new(row.into())));
    }
    let former = former_review_tokens::table.find(hash).select(former_review_tokens::token_hash);
    let former: Option<String> = former.first(conn).await.optional()?;
    Ok(former.map_or(ReviewTokenLookup::Unknown, |_| ReviewTokenLookup::Superseded))
}

/// Looks up a review token.
pub async fn by_access(conn: &mut Conn, hash: &str) -> Result<ReviewTokenLookup, DbError> {
    use review_invitations as r;
    let of_token = r::table.filter(r::access_hash.eq(Some(hash)));
    let found: Option<Row> = of_token.select(Row::columns()).first(conn).await.optional()?;
    if let Some(row) = found {
        return Ok(ReviewTokenLookup::Found(Box::new(row.into())));
    }
    let former = r::table.filter(r::former_access_hash.eq(Some(hash))).select(r::id);
    let former: Option<Id<ReviewInvitation>> = former.first(conn).await.optional()?;
    Ok(former.map_or(ReviewTokenLookup::Unknown, |_| ReviewTokenLookup::Superseded))
}

/// Lists a project's invitations, newest first.
pub async fn list(
    conn: &mut Conn,
    project_id: Id<ids::Project>,
    Listing { filter, page }: Listing<Filter>,
    now: Time,
) -> Result<List<ReviewInvitation>, DbError> {
    use ProjectReviewInvitationStatus as Status;
    use review_invitations as r;
    let is = |status| (filter.status == Some(status)).into_sql::<Bool>();
    let open = || r::accepted_at.is_null().and(r::revoked_at.is_null());
    let has_status = filter
        .status
        .is_none()
        .into_sql::<Bool>()
        .or(is(Status::Revoked).and(r::revoked_at.is_not_null()))
        .or(is(Status::Accepted).and(r::accepted_at.is_not_null()).and(r::revoked_at.is_null()))
        .or(is(Status::Pending).and(open()).and(r::expires_at.gt(now)))
        .or(is(Status::Expired).and(open()).and(r::expires_at.le(now)));
    let listed = r::table
        .filter(r::project_id.eq(project_id))
        .filter(has_status)
        .filter(is_wanted(r::permission, filter.permission))
        .filter(is_found(filter.search.as_ref(), |pattern| {
            let by_name = r::full_name.is_not_null().and(contains(r::full_name.assume_not_null(), pattern));
            let by_organisation =
                r::organisation.is_not_null().and(contains(r::organisation.assume_not_null(), pattern));
            contains(r::email, pattern).or(by_name).or(by_organisation)
        }));
    let (rows, total): (Vec<Row>, _) = page_of!(conn, page, listed, r::id, Row::columns());
    Ok(page.list(rows, total, |row| row.id.uuid()).map(ReviewInvitation::from))
}

/// Inserts invitations, each with the hash of its token. All show the same items, if their scope is SELECTED.
pub async fn insert(
    conn: &mut Conn,
    invitations: Vec<(&ReviewInvitation, String)>,
    selected: Option<&[Uuid]>,
) -> Result<(), DbError> {
    let selected =
        selected.map(serde_json::to_string).transpose().map_err(|error| DbError::Broken(error.to_string()))?;
    let row = |(invitation, token_hash): (&ReviewInvitation, String)| NewInvitationRow {
        row: Row::from(invitation),
        token_hash,
        selected_items: selected.clone(),
    };
    let rows: Vec<NewInvitationRow> = invitations.into_iter().map(row).collect();
    many!(conn, &rows, |some| diesel::insert_into(review_invitations::table).values(some));
    Ok(())
}

/// The ids of the items that an invitation of the scope SELECTED shows.
pub async fn selected_items(conn: &mut Conn, id: Id<ReviewInvitation>) -> Result<Vec<Uuid>, DbError> {
    let found = review_invitations::table.find(id).select(review_invitations::selected_items);
    let found: Option<Option<String>> = found.first(conn).await.optional()?;
    let Some(ids) = found.flatten() else { return Ok(Vec::new()) };
    serde_json::from_str(&ids)
        .map_err(|error| DbError::Broken(format!("the selection of a review is invalid: {error}")))
}

/// Stores an invitation that is sent again, with another token; the hash of the former one is stored as superseded. With
/// `ends_access`, so is that of its review token, and the access is without one until somebody accepts again.
pub async fn send_again(
    conn: &mut Conn,
    invitation: &ReviewInvitation,
    token_hash: String,
    ends_access: bool,
) -> Result<(), DbError> {
    use review_invitations as r;
    let row = r::table.find(invitation.id);
    let former: String = row.select(r::token_hash).first(conn).await?;
    let known = (
        former_review_tokens::token_hash.eq(former),
        former_review_tokens::invitation_id.eq(invitation.id),
        former_review_tokens::replaced_at.eq(invitation.last_sent_at),
    );
    diesel::insert_into(former_review_tokens::table).values(known).execute(conn).await?;
    // Nothing else: the invitation may be accepted or revoked at the same moment.
    let again = (
        r::token_hash.eq(token_hash),
        r::send_count.eq(invitation.send_count),
        r::last_sent_at.eq(invitation.last_sent_at),
        r::expires_at.eq(invitation.expires_at),
    );
    diesel::update(row).set(again).execute(conn).await?;
    let lapses_at = r::lapses_at.eq(Some(invitation.expires_at));
    diesel::update(row.filter(r::accepted_at.is_null())).set(lapses_at).execute(conn).await?;
    if ends_access {
        let ended = (r::former_access_hash.eq(r::access_hash), r::access_hash.eq(None::<String>));
        diesel::update(row.filter(r::access_hash.is_not_null())).set(ended).execute(conn).await?;
    }
    Ok(())
}

/// Accepts an invitation that `token_hash` still leads to and that was not revoked: stores the hash of the new review
/// token in place of the former one. Returns whether there is one.
pub async fn accept(
    conn: &mut Conn,
    id: Id<ReviewInvitation>,
    token_hash: &str,
    access_hash: String,
    full_name: Option<String>,
    now: Time,
) -> Result<bool, DbError> {
    use review_invitations as r;
    let row = r::table.find(id);
    let open = row.filter(r::token_hash.eq(token_hash)).filter(r::revoked_at.is_null());
    // Locks the row, so that whoever accepts at the same moment finds the review token that this one gives.
    let seen = (r::lapses_at.eq(None::<Time>), r::last_seen_at.eq(Some(now)));
    if diesel::update(open).set(seen).execute(conn).await? == 0 {
        return Ok(false);
    }
    let former = r::former_access_hash.eq(r::access_hash);
    diesel::update(row.filter(r::access_hash.is_not_null())).set(former).execute(conn).await?;
    diesel::update(row).set(r::access_hash.eq(Some(access_hash))).execute(conn).await?;
    let accepted_at = r::accepted_at.eq(Some(now));
    diesel::update(row.filter(r::accepted_at.is_null())).set(accepted_at).execute(conn).await?;
    if let Some(full_name) = full_name {
        diesel::update(row).set(r::full_name.eq(Some(full_name))).execute(conn).await?;
    }
    Ok(true)
}

/// Revokes an invitation that was not revoked. Returns whether there was one.
pub async fn revoke(conn: &mut Conn, id: Id<ReviewInvitation>, now: Time) -> Result<bool, DbError> {
    let revoked = diesel::update(review_invitations::table.find(id))
        .filter(review_invitations::revoked_at.is_null())
        .set(review_invitations::revoked_at.eq(Some(now)));
    Ok(revoked.execute(conn).await? > 0)
}

/// Stores when an access was last used.
pub async fn set_seen(conn: &mut Conn, id: Id<ReviewInvitation>, now: Time) -> Result<(), DbError> {
    let row = review_invitations::table.find(id);
    diesel::update(row).set(review_invitations::last_seen_at.eq(Some(now))).execute(conn).await?;
    Ok(())
}

/// Whether there are more than `few` invitations to an address.
pub async fn has_more_than(conn: &mut Conn, email: &str, few: i64) -> Result<bool, DbError> {
    let of_address = review_invitations::table.filter(review_invitations::email.eq(email.to_owned()));
    let beyond = of_address.order(review_invitations::id.asc()).offset(few).select(review_invitations::id);
    let beyond: Option<Id<ReviewInvitation>> = beyond.first(conn).await.optional()?;
    Ok(beyond.is_some())
}

/// Deletes at most `most` invitations to an address, and so ends the accesses that they gave. Returns their number.
pub async fn forget_address(conn: &mut Conn, email: &str, most: i64) -> Result<usize, DbError> {
    let of_address = review_invitations::table.filter(review_invitations::email.eq(email.to_owned()));
    let some: Vec<Id<ReviewInvitation>> =
        of_address.order(review_invitations::id.asc()).limit(most).select(review_invitations::id).load(conn).await?;
    let mut gone = 0;
    for some in some.chunks(ROWS) {
        let these = review_invitations::table.filter(review_invitations::id.eq_any(some.to_vec()));
        gone += diesel::delete(these).execute(conn).await?;
    }
    Ok(gone)
}

/// Invitations that nobody accepted and that expired 30 days ago: their links lead nowhere, and there is no reason to
/// store the address any longer. Former links of those that stay, once they must have expired.
pub const RETENTION: [Retention; 2] = [
    Retention {
        table: "review_invitations",
        key: "id",
        at: "lapses_at",
        period: Duration::from_secs(30 * 24 * 60 * 60),
    },
    Retention { table: "former_review_tokens", key: "token_hash", at: "replaced_at", period: MAX_VALIDITY },
];
