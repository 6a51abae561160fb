//! Queries of project invitations. Only the hash of a token is stored.

use std::time::Duration;

use actors::ids::{self, Id, User};
use actors::time::Time;
use diesel::{ExpressionMethods, Insertable, OptionalExtension, QueryDsl, Queryable, Selectable};

use super::super::model::{InvitationToProject, State};
use crate::access::role::ProjectRole;
use crate::db::schema::project_invitations;
use crate::db::sweep::Retention;
use crate::db::{Columns, Conn, DbError, RunQueryDsl, page_of};
use crate::http::envelope::List;
use crate::http::page::PageQuery;

#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = project_invitations)]
struct InvitationRow {
    id: Id<InvitationToProject>,
    project_id: Id<ids::Project>,
    email: String,
    role: ProjectRole,
    token_hash: String,
    invited_by_id: Id<User>,
    created_at: Time,
    expires_at: Time,
    accepted_at: Option<Time>,
    revoked_at: Option<Time>,
}

impl TryFrom<InvitationRow> for InvitationToProject {
    type Error = DbError;
    fn try_from(row: InvitationRow) -> Result<Self, DbError> {
        let state = match (row.accepted_at, row.revoked_at) {
            (None, None) => State::Open,
            (Some(at), None) => State::Accepted { at },
            (None, Some(at)) => State::Revoked { at },
            (Some(_), Some(_)) => {
                return Err(DbError::Broken(format!("the invitation {:?} was accepted and revoked", row.id)));
            }
        };
        Ok(Self {
            id: row.id,
            project_id: row.project_id,
            email: row.email,
            role: row.role,
            invited_by_id: row.invited_by_id,
            created_at: row.created_at,
            expires_at: row.expires_at,
            state,
        })
    }
}

pub async fn find(conn: &mut Conn, id: Id<InvitationToProject>) -> Result<Option<InvitationToProject>, DbError> {
    let found = project_invitations::table.find(id).select(InvitationRow::columns()).first(conn).await.optional()?;
    found.map(|row: InvitationRow| row.try_into()).transpose()
}

pub async fn by_token(conn: &mut Conn, hash: &str) -> Result<Option<InvitationToProject>, DbError> {
    let found = project_invitations::table
        .filter(project_invitations::token_hash.eq(hash))
        .select(InvitationRow::columns())
        .first(conn)
        .await
        .optional()?;
    found.map(|row: InvitationRow| row.try_into()).transpose()
}

/// The invitations of an address, to any project, that may still be accepted; at most 100.
pub async fn open_of_address(conn: &mut Conn, email: &str, now: Time) -> Result<Vec<InvitationToProject>, DbError> {
    let found = project_invitations::table
        .filter(project_invitations::email.eq(email))
        .filter(project_invitations::accepted_at.is_null())
        .filter(project_invitations::revoked_at.is_null())
        .filter(project_invitations::expires_at.gt(now))
        .order(project_invitations::id.desc())
        .limit(100);
    let rows: Vec<InvitationRow> = found.select(InvitationRow::columns()).load(conn).await?;
    rows.into_iter().map(InvitationToProject::try_from).collect()
}

/// The invitation of an address that was neither accepted nor revoked; it may have expired.
pub async fn open(
    conn: &mut Conn,
    project_id: Id<ids::Project>,
    email: &str,
) -> Result<Option<InvitationToProject>, DbError> {
    let found = project_invitations::table
        .filter(project_invitations::project_id.eq(project_id))
        .filter(project_invitations::email.eq(email))
        .filter(project_invitations::accepted_at.is_null())
        .filter(project_invitations::revoked_at.is_null())
        .select(InvitationRow::columns())
        .first(conn)
        .await
        .optional()?;
    found.map(|row: InvitationRow| row.try_into()).transpose()
}

pub async fn insert(conn: &mut Conn, invitation: &InvitationToProject, token_hash: String) -> Result<(), DbError> {
    let (accepted_at, revoked_at) = match invitation.state {
        State::Open => (None, None),
        State::Accepted { at } => (Some(at), None),
        State::Revoked { at } => (None, Some(at)),
    };
    let row = InvitationRow {
        id: invitation.id,
        project_id: invitation.project_id,
        email: invitation.email.clone(),
        role: invitation.role,
        token_hash,
        invited_by_id: invitation.invited_by_id,
        created_at: invitation.created_at,
        expires_at: invitation.expires_at,
        accepted_at,
        revoked_at,
    };
    diesel::insert_into(project_invitations::table).values(&row).execute(conn).await?;
    Ok(())
}

pub async fn accept(conn: &mut Conn, id: Id<InvitationToProject>, now: Time) -> Result<(), DbError> {
    let accepted = project_invitations::accepted_at.eq(Some(now));
    diesel::update(project_invitations::table.find(id)).set(accepted).execute(conn).await?;
    Ok(())
}

/// Lists the invitations of a project that were neither accepted nor revoked, newest first; they may have expired.
pub async fn list_open(
    conn: &mut Conn,
    project_id: Id<ids::Project>,
    page: PageQuery,
) -> Result<List<InvitationToProject>, DbError> {
    let open = project_invitations::table
        .filter(project_invitations::project_id.eq(project_id))
        .filter(project_invitations::accepted_at.is_null())
        .filter(project_invitations::revoked_at.is_null());
    let (rows, total): (Vec<InvitationRow>, _) =
        page_of!(conn, page, open, project_invitations::id, InvitationRow::columns());
    let List { items, next_cursor, total_count } = page.list(rows, total, |row| row.id.uuid());
    let items = items.into_iter().map(InvitationToProject::try_from).collect::<Result<_, _>>()?;
    Ok(List { items, next_cursor, total_count })
}

/// Revokes an open invitation.
pub async fn revoke(conn: &mut Conn, id: Id<InvitationToProject>, now: Time) -> Result<(), DbError> {
    diesel::update(project_invitations::table.find(id))
        .filter(project_invitations::accepted_at.is_null())
        .filter(project_invitations::revoked_at.is_null())
        .set(project_invitations::revoked_at.eq(Some(now)))
        .execute(conn)
        .await?;
    Ok(())
}

/// Invitations that expired 30 days ago, whatever their state: their links lead nowhere, and there is no reason to
/// store the address any longer.
pub const RETENTION: Retention = Retention {
    table: "project_invitations",
    key: "id",
    at: "expires_at",
    period: Duration::from_secs(30 * 24 * 60 * 60),
};
