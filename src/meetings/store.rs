//! Meetings and their people as rows, and the journal of their actors.

use actors::ids::{self, Id, User};
use actors::live::{Change, Journal, Live, RequestId, Told, Topic, TopicKind, Unavailable, Unsaved};
use actors::meeting::{
    ConsentPolicy, EndReason, Meeting, Participant, ParticipantStatus, Presence, Role, State, Status,
};
use actors::time::Time;
use async_trait::async_trait;
use diesel::{
    BoolExpressionMethods, EscapeExpressionMethods, ExpressionMethods, Insertable, IntoSql, OptionalExtension,
    QueryDsl, Queryable, Selectable, TextExpressionMethods,
};

use super::model;
use crate::db::schema::{meetings, participants};
use crate::db::{At, Columns, Conn, Db, Failed, Key, RunQueryDsl, events};
use crate::http::page::Page;

#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = meetings)]
struct MeetingRow {
    id: Key<Meeting>,
    project_id: Key<ids::Project>,
    title: String,
    description: String,
    status: String,
    end_reason: Option<String>,
    closing_note: Option<String>,
    cancelled_by_id: Option<Key<User>>,
    cancelled_at: Option<At>,
    consent_policy: String,
    created_by_id: Key<User>,
    host_participant_id: Key<ids::Participant>,
    scheduled_at: At,
    started_at: Option<At>,
    ended_at: Option<At>,
    version: i64,
    revision: i64,
    created_at: At,
    updated_at: At,
}

#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = participants)]
struct ParticipantRow {
    id: Key<ids::Participant>,
    meeting_id: Key<Meeting>,
    user_id: Option<Key<User>>,
    display_name: String,
    email: Option<String>,
    role: String,
    status: String,
    joined_at: Option<At>,
    left_at: Option<At>,
}

fn broken(id: Id<Meeting>, what: &str) -> Failed {
    Failed::Broken(format!("the meeting {id} can't be: {what}"))
}

fn number(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

impl From<&Meeting> for MeetingRow {
    fn from(meeting: &Meeting) -> Self {
        let (closing_note, cancelled_by_id, cancelled_at) = match &meeting.state {
            State::Scheduled | State::Live { .. } => (None, None, None),
            State::Ended { note, .. } => (note.clone(), None, None),
            State::Cancelled { cancelled_at, by, reason } => (reason.clone(), Some(Key(*by)), Some(At(*cancelled_at))),
        };
        Self {
            id: Key(meeting.id),
            project_id: Key(meeting.project_id),
            title: meeting.title.clone(),
            description: meeting.description.clone(),
            status: meeting.status().as_str().to_owned(),
            end_reason: meeting.end_reason().map(|reason| reason.as_str().to_owned()),
            closing_note,
            cancelled_by_id,
            cancelled_at,
            consent_policy: meeting.consent_policy.as_str().to_owned(),
            created_by_id: Key(meeting.created_by),
            host_participant_id: Key(meeting.host),
            scheduled_at: At(meeting.scheduled_at),
            started_at: meeting.started_at().map(At),
            ended_at: meeting.ended_at().map(At),
            version: number(meeting.version),
            revision: number(meeting.revision),
            created_at: At(meeting.created_at),
            updated_at: At(meeting.updated_at),
        }
    }
}

impl MeetingRow {
    fn state(&self) -> Result<State, Failed> {
        let id = self.id.0;
        let status: Status = self.status.parse().map_err(|_| broken(id, &self.status))?;
        let started = self.started_at.map(|at| at.0);
        let ended = self.ended_at.map(|at| at.0);
        match (status, started, ended, self.end_reason.as_deref()) {
            (Status::Scheduled, None, None, None) => Ok(State::Scheduled),
            (Status::Live, Some(started_at), None, None) => Ok(State::Live { started_at }),
            (Status::Ended, Some(started_at), Some(ended_at), Some(reason)) => {
                let reason: EndReason = reason.parse().map_err(|_| broken(id, reason))?;
                Ok(State::Ended { started_at, ended_at, reason, note: self.closing_note.clone() })
            }
            (Status::Cancelled, None, None, None) => {
                let (Some(at), Some(by)) = (self.cancelled_at, self.cancelled_by_id) else {
                    return Err(broken(id, "cancelled by nobody"));
                };
                Ok(State::Cancelled { cancelled_at: at.0, by: by.0, reason: self.closing_note.clone() })
            }
            _ => Err(broken(id, "its times do not fit its status")),
        }
    }

    fn meeting(self, people: Vec<ParticipantRow>) -> Result<Meeting, Failed> {
        let id = self.id.0;
        let unsigned = |value: i64| u64::try_from(value).map_err(|_| broken(id, "a number below zero"));
        let people = people.into_iter().map(ParticipantRow::participant).map(|one| one.map(|one| (one.id, one)));
        Ok(Meeting {
            id,
            project_id: self.project_id.0,
            state: self.state()?,
            consent_policy: self
                .consent_policy
                .parse::<ConsentPolicy>()
                .map_err(|_| broken(id, &self.consent_policy))?,
            version: unsigned(self.version)?,
            revision: unsigned(self.revision)?,
            title: self.title,
            description: self.description,
            scheduled_at: self.scheduled_at.0,
            created_by: self.created_by_id.0,
            host: self.host_participant_id.0,
            participants: people.collect::<Result<_, Failed>>()?,
            created_at: self.created_at.0,
            updated_at: self.updated_at.0,
        })
    }
}

impl ParticipantRow {
    fn of(meeting_id: Id<Meeting>, participant: &Participant) -> Self {
        Self {
            id: Key(participant.id),
            meeting_id: Key(meeting_id),
            user_id: participant.user_id.map(Key),
            display_name: participant.display_name.clone(),
            email: participant.email.clone(),
            role: participant.role.as_str().to_owned(),
            status: participant.presence.status().as_str().to_owned(),
            joined_at: participant.presence.joined_at().map(At),
            left_at: participant.presence.left_at().map(At),
        }
    }

    fn participant(self) -> Result<Participant, Failed> {
        let wrong = |what: &str| Failed::Broken(format!("the participant {} can't be: {what}", self.id.0));
        let status: ParticipantStatus = self.status.parse().map_err(|_| wrong(&self.status))?;
        let (joined_at, left_at) = (self.joined_at.map(|at| at.0), self.left_at.map(|at| at.0));
        let presence = match (status, joined_at, left_at) {
            (ParticipantStatus::Invited, None, None) => Presence::Invited,
            (ParticipantStatus::Joined, Some(joined_at), None) => Presence::Joined { joined_at },
            (ParticipantStatus::Left, Some(joined_at), Some(left_at)) => Presence::Left { joined_at, left_at },
            (ParticipantStatus::Removed, joined_at, left_at) => Presence::Removed { joined_at, left_at },
            _ => return Err(wrong("its times do not fit its status")),
        };
        Ok(Participant {
            id: self.id.0,
            user_id: self.user_id.map(|user| user.0),
            role: self.role.parse::<Role>().map_err(|_| wrong(&self.role))?,
            display_name: self.display_name,
            email: self.email,
            presence,
        })
    }
}

/// A meeting with its people.
pub async fn find(conn: &mut Conn, id: Id<Meeting>) -> Result<Option<Meeting>, Failed> {
    // Both queries see one state: on SQLite and PostgreSQL alike only within a transaction.
    conn.transaction(async |conn| {
        let row = meetings::table.find(Key(id)).select(MeetingRow::columns()).first(conn).await.optional()?;
        let Some(row): Option<MeetingRow> = row else { return Ok(None) };
        let people = participants::table
            .filter(participants::meeting_id.eq(Key(id)))
            .select(ParticipantRow::columns())
            .load(conn)
            .await?;
        row.meeting(people).map(Some)
    })
    .await
}

/// Inserts a new meeting; one that stands there already under the same id is left as it is. Whether it was inserted.
pub async fn insert(conn: &mut Conn, meeting: &Meeting) -> Result<bool, Failed> {
    let row = MeetingRow::from(meeting);
    if diesel::insert_into(meetings::table).values(&row).on_conflict_do_nothing().execute(conn).await? == 0 {
        return Ok(false);
    }
    for participant in meeting.participants.values() {
        let row = ParticipantRow::of(meeting.id, participant);
        diesel::insert_into(participants::table).values(&row).execute(conn).await?;
    }
    Ok(true)
}

/// Which of a project's meetings are listed.
#[derive(Debug, Clone)]
pub struct Filter {
    pub status: Option<model::MeetingStatus>,
    pub search: Option<String>,
}

/// A project's meetings, newest first: one more than the page has, and how many there are.
pub async fn list(
    conn: &mut Conn,
    project_id: Id<ids::Project>,
    filter: &Filter,
    page: &Page,
) -> Result<(Vec<Meeting>, i64), Failed> {
    let pattern = filter.search.as_deref().map(crate::db::like).unwrap_or_default();
    let status = filter.status.map_or("", model::MeetingStatus::as_str);
    macro_rules! listed {
        () => {
            meetings::table
                .filter(meetings::project_id.eq(Key(project_id)))
                .filter(filter.status.is_none().into_sql::<diesel::sql_types::Bool>().or(meetings::status.eq(status)))
                .filter(
                    filter
                        .search
                        .is_none()
                        .into_sql::<diesel::sql_types::Bool>()
                        .or(crate::db::lower(meetings::title).like(pattern.clone()).escape('\\')),
                )
        };
    }
    let total: i64 = listed!().count().get_result(conn).await?;
    let rows: Vec<MeetingRow> = listed!()
        .filter(meetings::id.lt(Key(Id::<Meeting>::from_uuid(page.before()))))
        .order(meetings::id.desc())
        .limit(page.limit + 1)
        .select(MeetingRow::columns())
        .load(conn)
        .await?;
    let shown: Vec<Key<Meeting>> = rows.iter().map(|row| row.id).collect();
    let mut people: Vec<ParticipantRow> = participants::table
        .filter(participants::meeting_id.eq_any(&shown))
        .select(ParticipantRow::columns())
        .load(conn)
        .await?;
    let mut found = Vec::with_capacity(rows.len());
    for row in rows {
        let of_this = people.extract_if(.., |one| one.meeting_id == row.id).collect();
        found.push(row.meeting(of_this)?);
    }
    Ok((found, total))
}

/// Meetings in which an account is called other than `nobody`, or by its address, `limit` of them.
pub async fn naming(
    conn: &mut Conn,
    user_id: Id<User>,
    nobody: &'static str,
    limit: i64,
) -> Result<Vec<Id<Meeting>>, Failed> {
    let own = participants::table.filter(participants::user_id.eq(Some(Key(user_id))));
    let named = own.filter(participants::display_name.ne(nobody).or(participants::email.is_not_null()));
    let found: Vec<Key<Meeting>> = named.limit(limit).select(participants::meeting_id).load(conn).await?;
    Ok(found.into_iter().map(|id| id.0).collect())
}

/// What a meeting is told under.
#[must_use]
pub fn topic(id: Id<Meeting>) -> Topic {
    Topic { kind: TopicKind::Meeting, id: id.uuid() }
}

/// Keeps meetings for their actors.
pub struct MeetingJournal {
    pub db: Db,
    /// Links begin with it.
    pub app_url: String,
}

#[async_trait]
impl Journal<Meeting> for MeetingJournal {
    async fn load(&self, key: Id<Meeting>) -> Result<Option<Meeting>, Unavailable> {
        Ok(self.db.read(move |conn| Box::pin(find(conn, key))).await?)
    }

    async fn save(
        &self,
        before: &Meeting,
        change: &Change<Meeting>,
        request: &RequestId,
        at: Time,
    ) -> Result<Vec<Told>, Unsaved> {
        let (before, change, request) = (before.clone(), change.clone(), request.clone());
        let data = serde_json::to_string(&model::Meeting::of(&change.next, &self.app_url));
        let data = data.map_err(|error| Unsaved::Failed(error.to_string()))?;
        let saved = self.db.write(move |conn| {
            Box::pin(async move {
                if !update(conn, &before, &change.next).await? {
                    return Err(NotSaved::Conflict);
                }
                let mut told = Vec::with_capacity(change.events.len());
                for (event, offset) in change.events.iter().zip(before.revision() + 1..) {
                    let topic = topic(before.id);
                    told.push(events::append_at(conn, topic, offset, event.kind(), &data, at, &request).await?);
                }
                Ok(told)
            })
        });
        saved.await.map_err(|not: NotSaved| match not {
            NotSaved::Conflict => Unsaved::Conflict,
            NotSaved::Failed(failed) if failed.is_taken() => Unsaved::Conflict,
            NotSaved::Failed(failed) => failed.into(),
        })
    }

    async fn awake(&self) -> Result<Vec<Id<Meeting>>, Unavailable> {
        let live = self.db.read(|conn| {
            Box::pin(async move {
                let live = meetings::table.filter(meetings::status.eq(Status::Live.as_str())).select(meetings::id);
                let live: Vec<Key<Meeting>> = live.load(conn).await?;
                Ok::<_, Failed>(live.into_iter().map(|id| id.0).collect())
            })
        });
        Ok(live.await?)
    }
}

enum NotSaved {
    Conflict,
    Failed(Failed),
}

impl From<Failed> for NotSaved {
    fn from(failed: Failed) -> Self {
        Self::Failed(failed)
    }
}

/// Writes a meeting and those of its people who changed, where the stored revision is still the one before.
async fn update(conn: &mut Conn, before: &Meeting, next: &Meeting) -> Result<bool, Failed> {
    let row = MeetingRow::from(next);
    let updated = diesel::update(meetings::table.find(row.id)).filter(meetings::revision.eq(number(before.revision)));
    let updated = updated.set((
        meetings::title.eq(row.title),
        meetings::description.eq(row.description),
        meetings::status.eq(row.status),
        meetings::end_reason.eq(row.end_reason),
        meetings::closing_note.eq(row.closing_note),
        meetings::cancelled_by_id.eq(row.cancelled_by_id),
        meetings::cancelled_at.eq(row.cancelled_at),
        meetings::scheduled_at.eq(row.scheduled_at),
        meetings::started_at.eq(row.started_at),
        meetings::ended_at.eq(row.ended_at),
        meetings::version.eq(row.version),
        meetings::revision.eq(row.revision),
        meetings::updated_at.eq(row.updated_at),
    ));
    if updated.execute(conn).await? == 0 {
        return Ok(false);
    }
    for (id, participant) in &next.participants {
        if before.participants.get(id) == Some(participant) {
            continue;
        }
        let row = ParticipantRow::of(next.id, participant);
        diesel::update(participants::table.find(row.id))
            .set((
                participants::display_name.eq(row.display_name),
                participants::email.eq(row.email),
                participants::role.eq(row.role),
                participants::status.eq(row.status),
                participants::joined_at.eq(row.joined_at),
                participants::left_at.eq(row.left_at),
            ))
            .execute(conn)
            .await?;
    }
    Ok(true)
}
