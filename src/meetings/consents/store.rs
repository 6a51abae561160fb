//! The consent ledger as rows. Append-only, and written only by the journal of the meeting, in its transaction.

use actors::ids::{self, Id};
use actors::meeting::{ConsentDecision, LedgerEntry, Meeting, Wording};
use actors::time::Time;
use diesel::{ExpressionMethods, Insertable, QueryDsl, Queryable, Selectable};

use super::model::StoredEntry;
use crate::db::schema::consents;
use crate::db::{Columns, Conn, DbError, RunQueryDsl};
use crate::meetings::store::participants::{joined, split};

#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = consents)]
struct Row {
    meeting_id: Id<Meeting>,
    number: i64,
    participant_id: Id<ids::Participant>,
    decision: ConsentDecision,
    scopes: String,
    wording_version: String,
    language: String,
    text_hash: String,
    at: Time,
    user_agent: Option<String>,
    user_agent_hash: String,
    previous_hash: String,
    hash: String,
    text: Option<String>,
}

impl Row {
    fn of(entry: &LedgerEntry, user_agent: &str, text: Option<&str>) -> Self {
        Self {
            meeting_id: entry.meeting_id,
            number: i64::try_from(entry.number).unwrap_or(i64::MAX),
            participant_id: entry.participant_id,
            decision: entry.decision,
            scopes: joined(&entry.scopes),
            wording_version: entry.wording.version.clone(),
            language: entry.wording.language.clone(),
            text_hash: entry.wording.text_hash.to_string(),
            at: entry.at,
            user_agent: Some(user_agent.to_owned()),
            user_agent_hash: entry.user_agent_hash.to_string(),
            previous_hash: entry.previous.to_string(),
            hash: entry.hash().to_string(),
            text: text.map(str::to_owned),
        }
    }

    fn entry(self) -> Option<LedgerEntry> {
        Some(LedgerEntry {
            number: u64::try_from(self.number).ok()?,
            meeting_id: self.meeting_id,
            participant_id: self.participant_id,
            decision: self.decision,
            scopes: split(&self.scopes)?,
            wording: Wording {
                version: self.wording_version,
                language: self.language,
                text_hash: self.text_hash.parse().ok()?,
            },
            at: self.at,
            user_agent_hash: self.user_agent_hash.parse().ok()?,
            previous: self.previous_hash.parse().ok()?,
        })
    }
}

/// Appends an entry.
///
/// # Errors
/// `Violated(Unique)` when an entry with this number exists; otherwise any database error.
pub async fn append(conn: &mut Conn, entry: &LedgerEntry, user_agent: &str, text: Option<&str>) -> Result<(), DbError> {
    diesel::insert_into(consents::table).values(&Row::of(entry, user_agent, text)).execute(conn).await?;
    Ok(())
}

/// Returns the ledger of a meeting, in its order.
///
/// # Errors
/// Any database error; `Broken` when an entry can't be parsed.
pub async fn of_meeting(conn: &mut Conn, id: Id<Meeting>) -> Result<Vec<StoredEntry>, DbError> {
    let of_meeting = consents::table.filter(consents::meeting_id.eq(id)).order(consents::number.asc());
    let rows: Vec<Row> = of_meeting.select(Row::columns()).load(conn).await?;
    let stored = |mut row: Row| {
        let text = row.text.take();
        Some(StoredEntry { entry: row.entry()?, text })
    };
    let entries = rows.into_iter().map(stored).collect::<Option<_>>();
    entries.ok_or_else(|| DbError::Broken(format!("the ledger of the meeting {id} can't be read")))
}

/// Erases the user agents with which a participant answered. The answers stay, and so does their proof, which covers
/// only the hash of the user agent.
///
/// # Errors
/// Any database error.
pub async fn forget(conn: &mut Conn, meeting_id: Id<Meeting>, who: Id<ids::Participant>) -> Result<(), DbError> {
    let theirs = consents::table.filter(consents::meeting_id.eq(meeting_id));
    let theirs = theirs.filter(consents::participant_id.eq(who));
    diesel::update(theirs).set(consents::user_agent.eq(None::<String>)).execute(conn).await?;
    Ok(())
}
