//! Meeting invitations as rows. Of a token, only the hash is stored.

pub mod deletion;
pub mod outdated;

use actors::ids::{self, Id, User};
use actors::meeting::{Meeting, MeetingRole};
use actors::time::Time;
use diesel::sql_types::Bool;
use diesel::{
    AsChangeset, BoolExpressionMethods, ExpressionMethods, Insertable, IntoSql, NullableExpressionMethods,
    OptionalExtension, QueryDsl, Queryable, Selectable,
};

use super::bodies::Filter;
use super::model::{Delivery, Invitation, InvitationStatus, InviteeType, MAX_VALIDITY, State};
use crate::db::schema::{former_invitation_tokens, meeting_invitations, meetings};
use crate::db::sweep::Retention;
use crate::db::{Columns, Conn, DbError, RunQueryDsl, contains, is_found, is_wanted, many, page_of};
use crate::http::envelope::List;
use crate::http::list::Listing;

#[derive(Queryable, Selectable, Insertable, AsChangeset)]
#[diesel(table_name = meeting_invitations, treat_none_as_null = true)]
struct Row {
    id: Id<ids::Invitation>,
    meeting_id: Id<Meeting>,
    invitee_type: InviteeType,
    email: String,
    display_name: Option<String>,
    user_id: Option<Id<User>>,
    role: MeetingRole,
    participant_id: Id<ids::Participant>,
    message: Option<String>,
    delivery: Delivery,
    invited_by_id: Id<User>,
    send_count: i64,
    last_sent_at: Time,
    ics_sequence: i64,
    expires_at: Time,
    is_expiry_chosen: bool,
    accepted_at: Option<Time>,
    declined_at: Option<Time>,
    revoked_at: Option<Time>,
    created_at: Time,
}

#[derive(Insertable)]
#[diesel(table_name = meeting_invitations)]
struct NewRow {
    #[diesel(embed)]
    row: Row,
    token_hash: String,
}

impl From<&Invitation> for Row {
    fn from(one: &Invitation) -> Self {
        let (declined_at, revoked_at) = match one.state {
            State::Open | State::Accepted { .. } => (None, None),
            State::Declined { at } => (Some(at), None),
            State::Revoked { at, .. } => (None, Some(at)),
        };
        Self {
            id: one.id,
            meeting_id: one.meeting_id,
            invitee_type: one.invitee_type,
            email: one.email.clone(),
            display_name: one.display_name.clone(),
            user_id: one.user_id,
            role: one.role,
            participant_id: one.participant_id,
            message: one.message.clone(),
            delivery: one.delivery,
            invited_by_id: one.invited_by_id,
            send_count: one.send_count,
            last_sent_at: one.last_sent_at,
            ics_sequence: one.sequence,
            expires_at: one.expires_at,
            is_expiry_chosen: one.is_expiry_chosen,
            accepted_at: one.accepted_at(),
            declined_at,
            revoked_at,
            created_at: one.created_at,
        }
    }
}

impl TryFrom<Row> for Invitation {
    type Error = DbError;
    fn try_from(row: Row) -> Result<Self, DbError> {
        let wrong = |what: &str| DbError::Broken(format!("the invitation {:?} can't be: {what}", row.id));
        let state = match (row.accepted_at, row.declined_at, row.revoked_at) {
            (None, None, None) => State::Open,
            (Some(at), None, None) => State::Accepted { at },
            (None, Some(at), None) => State::Declined { at },
            (accepted_at, None, Some(at)) => State::Revoked { at, accepted_at },
            (_, Some(_), _) => return Err(wrong("declined, and something else")),
        };
        Ok(Self {
            invitee_type: row.invitee_type,
            role: row.role,
            delivery: row.delivery,
            id: row.id,
            meeting_id: row.meeting_id,
            email: row.email,
            display_name: row.display_name,
            user_id: row.user_id,
            participant_id: row.participant_id,
            message: row.message,
            invited_by_id: row.invited_by_id,
            send_count: row.send_count,
            last_sent_at: row.last_sent_at,
            sequence: row.ics_sequence,
            expires_at: row.expires_at,
            is_expiry_chosen: row.is_expiry_chosen,
            state,
            created_at: row.created_at,
        })
    }
}

fn all(rows: Vec<Row>) -> Result<Vec<Invitation>, DbError> {
    rows.into_iter().map(Invitation::try_from).collect()
}

pub async fn find(conn: &mut Conn, id: Id<ids::Invitation>) -> Result<Option<Invitation>, DbError> {
    let found = meeting_invitations::table.find(id).select(Row::columns()).first(conn).await.optional()?;
    found.map(|row: Row| row.try_into()).transpose()
}

/// The result of looking up a token.
pub enum InvitationLookup {
    Found(Box<Invitation>),
    /// The invitation was sent again: only the newer token is valid.
    Superseded,
    Unknown,
}

pub async fn by_token(conn: &mut Conn, hash: &str) -> Result<InvitationLookup, DbError> {
    let of_token = meeting_invitations::table.filter(meeting_invitations::token_hash.eq(hash));
    let found: Option<Row> = of_token.select(Row::columns()).first(conn).await.optional()?;
    if let Some(row) = found {
        return Ok(InvitationLookup::Found(Box::new(row.try_into()?)));
    }
    let former = former_invitation_tokens::table.find(hash).select(former_invitation_tokens::token_hash);
    let former: Option<String> = former.first(conn).await.optional()?;
    Ok(former.map_or(InvitationLookup::Unknown, |_| InvitationLookup::Superseded))
}

/// Returns all invitations of a meeting, in the order in which they were created.
pub async fn of_meeting(conn: &mut Conn, meeting_id: Id<Meeting>) -> Result<Vec<Invitation>, DbError> {
    let of_meeting = meeting_invitations::table.filter(meeting_invitations::meeting_id.eq(meeting_id));
    all(of_meeting.order(meeting_invitations::id.asc()).select(Row::columns()).load(conn).await?)
}

/// Lists a meeting's invitations, newest first.
pub async fn list(
    conn: &mut Conn,
    meeting_id: Id<Meeting>,
    Listing { filter, page }: Listing<Filter>,
    now: Time,
) -> Result<List<Invitation>, DbError> {
    use meeting_invitations as m;
    let is = |status| (filter.status == Some(status)).into_sql::<Bool>();
    let open = || m::accepted_at.is_null().and(m::declined_at.is_null()).and(m::revoked_at.is_null());
    let has_status = filter
        .status
        .is_none()
        .into_sql::<Bool>()
        .or(is(InvitationStatus::Revoked).and(m::revoked_at.is_not_null()))
        .or(is(InvitationStatus::Declined).and(m::declined_at.is_not_null()))
        .or(is(InvitationStatus::Accepted).and(m::accepted_at.is_not_null()).and(m::revoked_at.is_null()))
        .or(is(InvitationStatus::Pending).and(open()).and(m::expires_at.gt(now)))
        .or(is(InvitationStatus::Expired).and(open()).and(m::expires_at.le(now)));
    let listed = m::table
        .filter(m::meeting_id.eq(meeting_id))
        .filter(has_status)
        .filter(is_wanted(m::invitee_type, filter.invitee_type))
        .filter(is_found(filter.search.as_ref(), |pattern| {
            let by_name = m::display_name.is_not_null().and(contains(m::display_name.assume_not_null(), pattern));
            contains(m::email, pattern).or(by_name)
        }));
    let (rows, total): (Vec<Row>, _) = page_of!(conn, page, listed, m::id, Row::columns());
    page.list(rows, total, |row| row.id.uuid()).try_map(Invitation::try_from)
}

pub async fn insert(conn: &mut Conn, invitations: Vec<(&Invitation, String)>) -> Result<(), DbError> {
    let row = |(invitation, token_hash): (&Invitation, String)| NewRow { row: Row::from(invitation), token_hash };
    let rows: Vec<NewRow> = invitations.into_iter().map(row).collect();
    many!(conn, &rows, |some| diesel::insert_into(meeting_invitations::table).values(some));
    Ok(())
}

/// Stores an invitation that is sent again, with another token; the hash of the former one is stored as superseded.
pub async fn send_again(conn: &mut Conn, invitation: &Invitation, token_hash: String) -> Result<(), DbError> {
    let row = meeting_invitations::table.find(invitation.id);
    let former: String = row.select(meeting_invitations::token_hash).first(conn).await?;
    let known = (
        former_invitation_tokens::token_hash.eq(former),
        former_invitation_tokens::invitation_id.eq(invitation.id),
        former_invitation_tokens::replaced_at.eq(invitation.last_sent_at),
    );
    diesel::insert_into(former_invitation_tokens::table).values(known).execute(conn).await?;
    let again = (Row::from(invitation), meeting_invitations::token_hash.eq(token_hash));
    diesel::update(row).set(again).execute(conn).await?;
    Ok(())
}

/// Former tokens of invitations that must have expired by now: the longest validity has passed since they were
/// replaced.
pub const RETENTION: Retention =
    Retention { table: "former_invitation_tokens", key: "token_hash", at: "replaced_at", period: MAX_VALIDITY };

/// Declines an open invitation. Returns whether it was open.
pub async fn decline(conn: &mut Conn, id: Id<ids::Invitation>, now: Time) -> Result<bool, DbError> {
    let declined = diesel::update(meeting_invitations::table.find(id))
        .filter(meeting_invitations::accepted_at.is_null())
        .filter(meeting_invitations::declined_at.is_null())
        .filter(meeting_invitations::revoked_at.is_null())
        .set(meeting_invitations::declined_at.eq(Some(now)));
    Ok(declined.execute(conn).await? > 0)
}

/// Revokes an open invitation. Returns whether it was open.
pub async fn revoke_open(conn: &mut Conn, id: Id<ids::Invitation>, now: Time) -> Result<bool, DbError> {
    let revoked = diesel::update(meeting_invitations::table.find(id))
        .filter(meeting_invitations::accepted_at.is_null())
        .filter(meeting_invitations::declined_at.is_null())
        .filter(meeting_invitations::revoked_at.is_null())
        .set(meeting_invitations::revoked_at.eq(Some(now)));
    Ok(revoked.execute(conn).await? > 0)
}

/// Revokes an invitation, open or accepted, that no longer admits anyone.
pub async fn revoke(conn: &mut Conn, id: Id<ids::Invitation>, now: Time) -> Result<(), DbError> {
    let revoked = diesel::update(meeting_invitations::table.find(id))
        .filter(meeting_invitations::declined_at.is_null())
        .filter(meeting_invitations::revoked_at.is_null())
        .set(meeting_invitations::revoked_at.eq(Some(now)));
    revoked.execute(conn).await?;
    Ok(())
}

/// Revokes all open invitations of a meeting.
pub async fn revoke_all_open(conn: &mut Conn, meeting_id: Id<Meeting>, now: Time) -> Result<(), DbError> {
    let revoked = diesel::update(meeting_invitations::table)
        .filter(meeting_invitations::meeting_id.eq(meeting_id))
        .filter(meeting_invitations::accepted_at.is_null())
        .filter(meeting_invitations::declined_at.is_null())
        .filter(meeting_invitations::revoked_at.is_null())
        .set(meeting_invitations::revoked_at.eq(Some(now)));
    revoked.execute(conn).await?;
    Ok(())
}

/// Revokes all open invitations of a member to meetings of a project.
pub async fn revoke_open_of_member(
    conn: &mut Conn,
    project_id: Id<ids::Project>,
    user_id: Id<User>,
    now: Time,
) -> Result<(), DbError> {
    let of_project = meetings::table.filter(meetings::project_id.eq(project_id)).select(meetings::id);
    let revoked = diesel::update(meeting_invitations::table)
        .filter(meeting_invitations::user_id.eq(Some(user_id)))
        .filter(meeting_invitations::meeting_id.eq_any(of_project))
        .filter(meeting_invitations::accepted_at.is_null())
        .filter(meeting_invitations::declined_at.is_null())
        .filter(meeting_invitations::revoked_at.is_null())
        .set(meeting_invitations::revoked_at.eq(Some(now)));
    revoked.execute(conn).await?;
    Ok(())
}

/// The admission of a participant by an invitation.
#[derive(Debug, Clone, Copy)]
pub struct Admission {
    pub invitation_id: Id<ids::Invitation>,
    pub meeting_id: Id<Meeting>,
    pub participant_id: Id<ids::Participant>,
    pub user_id: Option<Id<User>>,
}

/// The outcome for an invitation that admitted a participant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AcceptOutcome {
    Now,
    /// It was accepted before, by the same user or guest.
    Before,
    /// It was declined or revoked in the meantime, or belongs to another account.
    Not,
}

/// Marks an invitation as accepted, and revokes other accepted invitations of the same participant.
pub async fn accept(conn: &mut Conn, admission: Admission, now: Time) -> Result<AcceptOutcome, DbError> {
    use meeting_invitations as m;
    let identity = (m::participant_id.eq(admission.participant_id), m::user_id.eq(admission.user_id));
    let is_theirs = || m::user_id.is_null().or(m::user_id.eq(admission.user_id));
    let first = diesel::update(m::table.find(admission.invitation_id))
        .filter(m::accepted_at.is_null())
        .filter(m::declined_at.is_null())
        .filter(m::revoked_at.is_null())
        .filter(is_theirs())
        .set((identity, m::accepted_at.eq(Some(now))));
    let taken = if first.execute(conn).await? > 0 {
        AcceptOutcome::Now
    } else {
        let again = diesel::update(m::table.find(admission.invitation_id))
            .filter(m::accepted_at.is_not_null())
            .filter(m::revoked_at.is_null())
            .filter(is_theirs())
            .set(identity);
        if again.execute(conn).await? == 0 {
            return Ok(AcceptOutcome::Not);
        }
        AcceptOutcome::Before
    };
    diesel::update(m::table)
        .filter(m::meeting_id.eq(admission.meeting_id))
        .filter(m::participant_id.eq(admission.participant_id))
        .filter(m::id.ne(admission.invitation_id))
        .filter(m::accepted_at.is_not_null())
        .filter(m::revoked_at.is_null())
        .set(m::revoked_at.eq(Some(now)))
        .execute(conn)
        .await?;
    Ok(taken)
}

/// Returns the pending invitations of a meeting whose expiry moves with its time.
pub async fn moving(conn: &mut Conn, meeting_id: Id<Meeting>, now: Time) -> Result<Vec<Invitation>, DbError> {
    use meeting_invitations as m;
    let moving = m::table
        .filter(m::meeting_id.eq(meeting_id))
        .filter(m::accepted_at.is_null())
        .filter(m::declined_at.is_null())
        .filter(m::revoked_at.is_null())
        .filter(m::is_expiry_chosen.eq(false))
        .filter(m::expires_at.gt(now));
    all(moving.select(Row::columns()).load(conn).await?)
}

pub async fn set_expiry(conn: &mut Conn, id: Id<ids::Invitation>, expires_at: Time) -> Result<(), DbError> {
    let row = meeting_invitations::table.find(id);
    diesel::update(row).set(meeting_invitations::expires_at.eq(expires_at)).execute(conn).await?;
    Ok(())
}

/// Stores the delivery status of an e-mail if it is the newest one of its invitation. Returns `None` when it is not, or
/// when there is no such invitation.
pub async fn deliver(
    conn: &mut Conn,
    id: Id<ids::Invitation>,
    send_count: i64,
    delivery: Delivery,
) -> Result<Option<Invitation>, DbError> {
    let row = diesel::update(meeting_invitations::table.find(id));
    let newest = row.filter(meeting_invitations::send_count.eq(send_count));
    let set = newest.set(meeting_invitations::delivery.eq(delivery)).execute(conn).await?;
    if set == 0 { Ok(None) } else { find(conn, id).await }
}
