//! The row of a meeting: conversion in both directions, with validation of what is read.

use actors::ids::{self, Id, User};
use actors::meeting::{ConsentPolicy, EndReason, Ledger, Meeting, MeetingStatus, People, Recordings, State};
use actors::time::{Time, UtcOffset};
use diesel::{AsChangeset, Insertable, Queryable, Selectable};

use crate::db::schema::meetings;
use crate::db::{DbError, number};

#[derive(Queryable, Selectable, Insertable, AsChangeset)]
#[diesel(table_name = meetings, treat_none_as_null = true)]
pub struct Row {
    pub id: Id<Meeting>,
    project_id: Id<ids::Project>,
    title: String,
    description: String,
    status: MeetingStatus,
    end_reason: Option<EndReason>,
    closing_note: Option<String>,
    cancelled_by_id: Option<Id<User>>,
    cancelled_at: Option<Time>,
    consent_policy: ConsentPolicy,
    created_by_id: Id<User>,
    host_participant_id: Id<ids::Participant>,
    scheduled_at: Time,
    scheduled_offset_minutes: i64,
    started_at: Option<Time>,
    ended_at: Option<Time>,
    version: i64,
    revision: i64,
    created_at: Time,
    updated_at: Time,
    empty_since: Option<Time>,
    ledger_entries: i64,
    ledger_head: String,
}

/// Returns the error for a meeting whose row contradicts itself.
pub fn broken(id: Id<Meeting>, what: &str) -> DbError {
    DbError::Broken(format!("the meeting {id} can't be: {what}"))
}

impl From<&Meeting> for Row {
    fn from(meeting: &Meeting) -> Self {
        let (closing_note, cancelled_by_id, cancelled_at) = match &meeting.state {
            State::Scheduled | State::Live { .. } => (None, None, None),
            State::Ended { note, .. } => (note.clone(), None, None),
            State::Cancelled { cancelled_at, by, reason } => (reason.clone(), Some(*by), Some(*cancelled_at)),
        };
        Self {
            id: meeting.id,
            project_id: meeting.project_id,
            title: meeting.title.clone(),
            description: meeting.description.clone(),
            status: meeting.status(),
            end_reason: meeting.end_reason(),
            closing_note,
            cancelled_by_id,
            cancelled_at,
            consent_policy: meeting.consent_policy,
            created_by_id: meeting.created_by,
            host_participant_id: meeting.host,
            scheduled_at: meeting.scheduled_at,
            scheduled_offset_minutes: meeting.scheduled_offset.minutes().into(),
            started_at: meeting.started_at(),
            ended_at: meeting.ended_at(),
            version: number(meeting.version),
            revision: number(meeting.revision),
            created_at: meeting.created_at,
            updated_at: meeting.updated_at,
            empty_since: match meeting.state {
                State::Live { empty_since, .. } => empty_since,
                State::Scheduled | State::Ended { .. } | State::Cancelled { .. } => None,
            },
            ledger_entries: number(meeting.ledger.entries),
            ledger_head: meeting.ledger.head.to_string(),
        }
    }
}

impl Row {
    fn state(&self) -> Result<State, DbError> {
        let id = self.id;
        match (self.status, self.started_at, self.ended_at, self.end_reason) {
            (MeetingStatus::Scheduled, None, None, None) => Ok(State::Scheduled),
            (MeetingStatus::Live, Some(started_at), None, None) => {
                Ok(State::Live { started_at, empty_since: self.empty_since })
            }
            (MeetingStatus::Ended, Some(started_at), Some(ended_at), Some(reason)) => {
                Ok(State::Ended { started_at, ended_at, reason, note: self.closing_note.clone() })
            }
            (MeetingStatus::Cancelled, None, None, None) => {
                let (Some(cancelled_at), Some(by)) = (self.cancelled_at, self.cancelled_by_id) else {
                    return Err(broken(id, "cancelled by nobody"));
                };
                Ok(State::Cancelled { cancelled_at, by, reason: self.closing_note.clone() })
            }
            _ => Err(broken(id, "its times do not fit its status")),
        }
    }

    /// Converts the row to a meeting with these participants and recordings.
    ///
    /// # Errors
    /// `Broken` when the columns contradict each other.
    pub fn meeting(self, participants: People, recordings: Recordings) -> Result<Meeting, DbError> {
        let id = self.id;
        let unsigned = |value: i64| u64::try_from(value).map_err(|_| broken(id, "a number below zero"));
        Ok(Meeting {
            id,
            project_id: self.project_id,
            state: self.state()?,
            consent_policy: self.consent_policy,
            version: unsigned(self.version)?,
            revision: unsigned(self.revision)?,
            title: self.title,
            description: self.description,
            scheduled_at: self.scheduled_at,
            scheduled_offset: UtcOffset::from_minutes(self.scheduled_offset_minutes)
                .ok_or_else(|| broken(id, "a day or more from UTC"))?,
            created_by: self.created_by_id,
            host: self.host_participant_id,
            participants,
            recordings,
            ledger: Ledger {
                entries: unsigned(self.ledger_entries)?,
                head: self.ledger_head.parse().map_err(|_| broken(id, "the head of its ledger"))?,
            },
            created_at: self.created_at,
            updated_at: self.updated_at,
        })
    }
}
