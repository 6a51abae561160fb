//! The participants of meetings as rows. Written only by the journal of the meeting, together with it.

use std::collections::{BTreeSet, HashMap};

use actors::ids::{self, Id, Project, User};
use actors::meeting::{
    Consent, ConsentDecision, ConsentScope, Digest, Link, MediaSession, Meeting, MeetingRole, MeetingStatus,
    Participant, ParticipantStatus, People, Presence, Wording,
};
use actors::time::Time;
use actors::wire_enum;
use diesel::upsert::excluded;
use diesel::{BoolExpressionMethods, ExpressionMethods, Insertable, JoinOnDsl, QueryDsl, Queryable, Selectable};

use crate::db::schema::{meetings, participants};
use crate::db::{Columns, Conn, DbError, RunQueryDsl, many};

/// A new column also needs a line in [`save`].
#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = participants)]
struct Row {
    id: Id<ids::Participant>,
    meeting_id: Id<Meeting>,
    user_id: Option<Id<User>>,
    display_name: String,
    email: Option<String>,
    role: MeetingRole,
    status: ParticipantStatus,
    joined_at: Option<Time>,
    left_at: Option<Time>,
    invitation_id: Option<Id<ids::Invitation>>,
    first_joined_at: Option<Time>,
    removed_by_id: Option<Id<User>>,
    link: Option<StoredLink>,
    lost_at: Option<Time>,
    media_session: Option<String>,
    media_began_at: Option<Time>,
    media_is_open: Option<bool>,
    consent_decision: Option<ConsentDecision>,
    consent_scopes: Option<String>,
    consent_wording_version: Option<String>,
    consent_language: Option<String>,
    consent_text_hash: Option<String>,
    consent_at: Option<Time>,
}

impl Row {
    fn of(meeting_id: Id<Meeting>, participant: &Participant) -> Self {
        let presence = participant.presence;
        let (link, removed_by) = match presence {
            Presence::Joined { link, .. } => (Some(link), None),
            Presence::Removed { by, .. } => (None, by),
            Presence::Invited | Presence::Left { .. } => (None, None),
        };
        let (media, consent) = (participant.media.as_ref(), participant.consent.as_ref());
        Self {
            id: participant.id,
            meeting_id,
            user_id: participant.user_id,
            display_name: participant.display_name.clone(),
            email: participant.email.clone(),
            role: participant.role,
            status: participant.status(),
            joined_at: presence.joined_at(),
            left_at: presence.left_at(),
            invitation_id: participant.invitation,
            first_joined_at: participant.first_joined_at,
            removed_by_id: removed_by,
            link: link.map(StoredLink::from),
            lost_at: link.and_then(Link::lost_since),
            media_session: media.map(|media| media.name.clone()),
            media_began_at: media.map(|media| media.began_at),
            media_is_open: media.map(|media| media.is_open),
            consent_decision: consent.map(|consent| consent.decision),
            consent_scopes: consent.map(|consent| joined(&consent.scopes)),
            consent_wording_version: consent.map(|consent| consent.wording.version.clone()),
            consent_language: consent.map(|consent| consent.wording.language.clone()),
            consent_text_hash: consent.map(|consent| consent.wording.text_hash.to_string()),
            consent_at: consent.map(|consent| consent.at),
        }
    }

    fn participant(self) -> Result<Participant, DbError> {
        let id = self.id;
        let wrong = |what: &str| DbError::Broken(format!("the participant {id} can't be: {what}"));
        let presence = self.presence().ok_or_else(|| wrong("its times do not fit its status"))?;
        let media = match (self.media_session, self.media_began_at, self.media_is_open) {
            (None, None, None) => None,
            (Some(name), Some(began_at), Some(is_open)) => Some(MediaSession { began_at, name, is_open }),
            _ => return Err(wrong("half a connection to the media server")),
        };
        let consent = match (
            self.consent_decision,
            self.consent_scopes,
            self.consent_wording_version,
            self.consent_language,
            self.consent_text_hash,
            self.consent_at,
        ) {
            (None, None, None, None, None, None) => None,
            (Some(decision), Some(scopes), Some(version), Some(language), Some(text_hash), Some(at)) => {
                let text_hash: Digest = text_hash.parse().map_err(|_| wrong("no hash"))?;
                let scopes = split(&scopes).ok_or_else(|| wrong("an unknown scope"))?;
                Some(Consent { decision, scopes, wording: Wording { version, language, text_hash }, at })
            }
            _ => return Err(wrong("half a consent")),
        };
        Ok(Participant {
            id,
            user_id: self.user_id,
            display_name: self.display_name,
            email: self.email,
            role: self.role,
            presence,
            invitation: self.invitation_id,
            first_joined_at: self.first_joined_at,
            media,
            consent,
        })
    }

    /// Returns `None` when these columns contradict each other.
    fn presence(&self) -> Option<Presence> {
        let has_ever_joined = self.first_joined_at.is_some();
        match (self.status, self.joined_at, self.left_at, self.link, self.lost_at) {
            (ParticipantStatus::Invited, None, None, None, None) => Some(Presence::Invited),
            (ParticipantStatus::Joined, Some(joined_at), None, Some(link), lost_at) if has_ever_joined => {
                let link = match (link, lost_at) {
                    (StoredLink::Awaited, None) => Link::Awaited,
                    (StoredLink::Socket, None) => Link::Up { socket: true },
                    (StoredLink::Media, None) => Link::Up { socket: false },
                    (StoredLink::Lost, Some(since)) => Link::Lost { since },
                    _ => return None,
                };
                Some(Presence::Joined { joined_at, link })
            }
            (ParticipantStatus::Left, Some(joined_at), Some(left_at), None, None) if has_ever_joined => {
                Some(Presence::Left { joined_at, left_at })
            }
            (ParticipantStatus::Removed, joined_at, left_at, None, None)
                if joined_at.is_some() == left_at.is_some() =>
            {
                Some(Presence::Removed { joined_at, left_at, by: self.removed_by_id })
            }
            _ => None,
        }
    }
}

wire_enum! {
    /// How a participant is connected, as the column says it.
    enum StoredLink {
        Awaited,
        Socket,
        Media,
        Lost,
    }
}

impl From<Link> for StoredLink {
    fn from(link: Link) -> Self {
        match link {
            Link::Awaited => Self::Awaited,
            Link::Up { socket: true } => Self::Socket,
            Link::Up { socket: false } => Self::Media,
            Link::Lost { .. } => Self::Lost,
        }
    }
}

/// Formats scopes as the columns store them, joined with commas.
#[must_use]
pub fn joined(scopes: &BTreeSet<ConsentScope>) -> String {
    scopes.iter().map(|scope| scope.into_str()).collect::<Vec<_>>().join(",")
}

/// Parses the scopes of a column. Returns `None` when one of them is unknown.
#[must_use]
pub fn split(scopes: &str) -> Option<BTreeSet<ConsentScope>> {
    scopes.split(',').filter(|scope| !scope.is_empty()).map(|scope| scope.parse().ok()).collect()
}

/// The participants of an account in a project's scheduled and live meetings.
macro_rules! in_open_meetings {
    ($project_id:expr, $user_id:expr) => {
        participants::table
            .inner_join(meetings::table.on(meetings::id.eq(participants::meeting_id)))
            .filter(participants::user_id.eq(Some($user_id)))
            .filter(meetings::project_id.eq($project_id))
            .filter(meetings::status.eq_any([MeetingStatus::Scheduled, MeetingStatus::Live]))
    };
}

/// Returns all participants of a meeting.
pub async fn of_meeting(conn: &mut Conn, id: Id<Meeting>) -> Result<People, DbError> {
    let of_meeting = participants::table.filter(participants::meeting_id.eq(id));
    let rows: Vec<Row> = of_meeting.select(Row::columns()).load(conn).await?;
    rows.into_iter().map(Row::participant).collect()
}

/// Returns all participants of several meetings.
pub async fn of_meetings(conn: &mut Conn, ids: &[Id<Meeting>]) -> Result<HashMap<Id<Meeting>, People>, DbError> {
    let of_these = participants::table.filter(participants::meeting_id.eq_any(ids));
    let rows: Vec<Row> = of_these.select(Row::columns()).load(conn).await?;
    let mut people: HashMap<_, Vec<Participant>> = HashMap::new();
    for row in rows {
        let meeting_id = row.meeting_id;
        people.entry(meeting_id).or_default().push(row.participant()?);
    }
    Ok(people.into_iter().map(|(meeting_id, people)| (meeting_id, people.into_iter().collect())).collect())
}

/// The number of participants of the meeting of a row.
#[diesel::dsl::auto_type(no_type_alias)]
pub fn count(meeting_id: meetings::id) -> _ {
    participants::table.filter(participants::meeting_id.eq(meeting_id)).count().single_value()
}

/// Inserts or updates the participants that are new or changed.
pub async fn save<'a>(
    conn: &mut Conn,
    meeting_id: Id<Meeting>,
    changed: impl Iterator<Item = &'a Participant>,
) -> Result<(), DbError> {
    let rows: Vec<Row> = changed.map(|participant| Row::of(meeting_id, participant)).collect();
    many!(conn, &rows, |some| {
        let insert = diesel::insert_into(participants::table).values(some).on_conflict(participants::id);
        insert.do_update().set((
            participants::user_id.eq(excluded(participants::user_id)),
            participants::display_name.eq(excluded(participants::display_name)),
            participants::email.eq(excluded(participants::email)),
            participants::role.eq(excluded(participants::role)),
            participants::status.eq(excluded(participants::status)),
            participants::joined_at.eq(excluded(participants::joined_at)),
            participants::left_at.eq(excluded(participants::left_at)),
            participants::invitation_id.eq(excluded(participants::invitation_id)),
            participants::first_joined_at.eq(excluded(participants::first_joined_at)),
            participants::removed_by_id.eq(excluded(participants::removed_by_id)),
            participants::link.eq(excluded(participants::link)),
            participants::lost_at.eq(excluded(participants::lost_at)),
            participants::media_session.eq(excluded(participants::media_session)),
            participants::media_began_at.eq(excluded(participants::media_began_at)),
            participants::media_is_open.eq(excluded(participants::media_is_open)),
            participants::consent_decision.eq(excluded(participants::consent_decision)),
            participants::consent_scopes.eq(excluded(participants::consent_scopes)),
            participants::consent_wording_version.eq(excluded(participants::consent_wording_version)),
            participants::consent_language.eq(excluded(participants::consent_language)),
            participants::consent_text_hash.eq(excluded(participants::consent_text_hash)),
            participants::consent_at.eq(excluded(participants::consent_at)),
        ))
    });
    Ok(())
}

/// Returns the meetings with a participant whose connections were lost at that time or before.
pub async fn lost_before(conn: &mut Conn, before: Time, most: i64) -> Result<Vec<Id<Meeting>>, DbError> {
    let lost = participants::table.filter(participants::lost_at.is_not_null()).filter(participants::lost_at.le(before));
    let lost = lost.select(participants::meeting_id).distinct().limit(most);
    Ok(lost.load(conn).await?)
}

/// Returns the meetings with a participant who joined at that time or before and has not connected since.
pub async fn awaited_since(conn: &mut Conn, before: Time, most: i64) -> Result<Vec<Id<Meeting>>, DbError> {
    let awaited = participants::table
        .filter(participants::link.eq(StoredLink::Awaited))
        .filter(participants::joined_at.le(before));
    let awaited = awaited.select(participants::meeting_id).distinct().limit(most);
    Ok(awaited.load(conn).await?)
}

/// Returns the meetings with a participant who is recorded as connected by a socket of this server.
pub async fn with_sockets(conn: &mut Conn) -> Result<Vec<Id<Meeting>>, DbError> {
    let linked = participants::table
        .filter(participants::link.eq(StoredLink::Socket))
        .select(participants::meeting_id)
        .distinct();
    Ok(linked.load(conn).await?)
}

/// Returns the meetings with a participant who is recorded as connected to the media server.
pub async fn with_media(conn: &mut Conn, most: i64) -> Result<Vec<Id<Meeting>>, DbError> {
    let open = participants::table.filter(participants::media_is_open.eq(true)).select(participants::meeting_id);
    Ok(open.distinct().limit(most).load(conn).await?)
}

/// Returns at most `limit` of a project's scheduled and live meetings in which an account is or was a participant.
pub async fn open_meetings(
    conn: &mut Conn,
    project_id: Id<Project>,
    user_id: Id<User>,
    limit: i64,
) -> Result<Vec<Id<Meeting>>, DbError> {
    Ok(in_open_meetings!(project_id, user_id).select(participants::meeting_id).limit(limit).load(conn).await?)
}

/// Returns at most `limit` of the meetings of [`open_meetings`] from which the account still has to be removed, in the
/// order in which meetings are locked. Meetings that the account has joined are selected first. Participants that were
/// admitted by an invitation made from `before` on are left out: their access does not come from the former membership.
pub async fn meetings_to_leave(
    conn: &mut Conn,
    project_id: Id<Project>,
    user_id: Id<User>,
    before: Id<ids::Invitation>,
    limit: i64,
) -> Result<Vec<Id<Meeting>>, DbError> {
    let joined = ParticipantStatus::Joined;
    let former = || participants::invitation_id.is_null().or(participants::invitation_id.lt(Some(before)));
    let present = in_open_meetings!(project_id, user_id).filter(participants::status.eq(joined)).filter(former());
    let mut open: Vec<Id<Meeting>> = present.select(participants::meeting_id).limit(limit).load(conn).await?;
    let more = limit - i64::try_from(open.len()).unwrap_or(limit);
    let others = in_open_meetings!(project_id, user_id)
        .filter(participants::status.ne_all([joined, ParticipantStatus::Removed]))
        .filter(participants::role.ne(MeetingRole::Host))
        .filter(former());
    let others: Vec<Id<Meeting>> = others.select(participants::meeting_id).limit(more).load(conn).await?;
    open.extend(others);
    open.sort_unstable();
    Ok(open)
}

/// Returns at most `limit` participants of an account whose name is not yet `deleted_name`, or that still have an
/// e-mail address.
pub async fn naming(
    conn: &mut Conn,
    user_id: Id<User>,
    deleted_name: &'static str,
    limit: i64,
) -> Result<Vec<(Id<Meeting>, Id<ids::Participant>)>, DbError> {
    let own = participants::table.filter(participants::user_id.eq(Some(user_id)));
    let named = own.filter(participants::display_name.ne(deleted_name).or(participants::email.is_not_null()));
    Ok(named.limit(limit).select((participants::meeting_id, participants::id)).load(conn).await?)
}
