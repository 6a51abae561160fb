//! Jobs as rows.

use std::sync::Arc;

use actors::ids::Id;
use actors::live::RequestId;
use actors::time::Time;
use diesel::{
    BoolExpressionMethods, ExpressionMethods, Insertable, OptionalExtension, QueryDsl, Queryable, Selectable,
};

use super::{Job, LEASE};
use crate::db::schema::jobs;
use crate::db::{At, Columns, Conn, Failed, Key, RunQueryDsl, many};

#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = jobs)]
struct JobRow {
    id: Key<Job>,
    kind: String,
    payload: String,
    request_id: String,
    run_at: At,
    attempts: i64,
    lease_until: Option<At>,
    last_error: Option<String>,
    failed_at: Option<At>,
    created_at: At,
}

/// Adds a job, to be run from `run_at` on. Call `Jobs::wake` after the transaction.
///
/// # Errors
/// The database's own.
pub async fn enqueue(
    conn: &mut Conn,
    kind: &str,
    payload: &impl serde::Serialize,
    run_at: Time,
    request: &RequestId,
) -> Result<Id<Job>, Failed> {
    let id = Id::draw();
    enqueue_as(conn, id, kind, payload, run_at, request).await?;
    Ok(id)
}

/// As [`enqueue`], with an id that was drawn before.
pub async fn enqueue_as(
    conn: &mut Conn,
    id: Id<Job>,
    kind: &str,
    payload: &impl serde::Serialize,
    run_at: Time,
    request: &RequestId,
) -> Result<(), Failed> {
    let row = row(id, kind, payload, run_at, request)?;
    diesel::insert_into(jobs::table).values(&row).execute(conn).await?;
    Ok(())
}

/// As [`enqueue_as`], for many of a kind.
pub async fn enqueue_all(
    conn: &mut Conn,
    kind: &str,
    payloads: &[(Id<Job>, impl serde::Serialize)],
    run_at: Time,
    request: &RequestId,
) -> Result<(), Failed> {
    let rows = payloads.iter().map(|(id, payload)| row(*id, kind, payload, run_at, request));
    let rows: Vec<JobRow> = rows.collect::<Result<_, _>>()?;
    many!(conn, &rows, |some| diesel::insert_into(jobs::table).values(some));
    Ok(())
}

fn row(
    id: Id<Job>,
    kind: &str,
    payload: &impl serde::Serialize,
    run_at: Time,
    request: &RequestId,
) -> Result<JobRow, Failed> {
    Ok(JobRow {
        id: Key(id),
        kind: kind.to_owned(),
        payload: serde_json::to_string(payload).map_err(|error| Failed::Broken(error.to_string()))?,
        request_id: request.to_string(),
        run_at: At(run_at),
        attempts: 0,
        lease_until: None,
        last_error: None,
        failed_at: None,
        created_at: At(run_at),
    })
}

/// The jobs of a kind that are wanted.
#[derive(Debug, Clone, Copy)]
pub struct Wanted {
    pub kind: &'static str,
    pub most: i64,
    /// How many tries each has.
    pub attempts: i64,
}

/// Takes what is wanted of the jobs that are due and that nobody works on, and says when the next one of these kinds is
/// due.
pub async fn take(conn: &mut Conn, wanted: &[Wanted], now: Time) -> Result<(Vec<Job>, Option<Time>), Failed> {
    let mut taken = Vec::new();
    for wanted in wanted {
        let due: Vec<Key<Job>> = jobs::table
            .filter(jobs::kind.eq(wanted.kind))
            .filter(jobs::failed_at.is_null())
            .filter(jobs::run_at.le(At(now)))
            .filter(jobs::lease_until.is_null().or(jobs::lease_until.le(Some(At(now)))))
            .order(jobs::run_at.asc())
            .limit(wanted.most)
            .select(jobs::id)
            .load(conn)
            .await?;
        for id in due {
            let row: Option<JobRow> = diesel::update(jobs::table.find(id))
                .filter(jobs::lease_until.is_null().or(jobs::lease_until.le(Some(At(now)))))
                .set((jobs::attempts.eq(jobs::attempts + 1), jobs::lease_until.eq(Some(At(now + LEASE)))))
                .returning(JobRow::columns())
                .get_result(conn)
                .await
                .optional()?;
            taken.extend(row.map(|row| Job {
                id: row.id.0,
                kind: row.kind,
                payload: row.payload,
                request: Arc::from(row.request_id),
                attempt: row.attempts,
                attempts: wanted.attempts,
            }));
        }
    }
    let next: Option<At> = jobs::table
        .filter(jobs::kind.eq_any(wanted.iter().map(|wanted| wanted.kind)))
        .filter(jobs::failed_at.is_null())
        .filter(jobs::lease_until.is_null())
        .order(jobs::run_at.asc())
        .select(jobs::run_at)
        .first(conn)
        .await
        .optional()?;
    Ok((taken, next.map(|next| next.0)))
}

/// Goes on holding a job.
pub async fn renew(conn: &mut Conn, id: Id<Job>, until: Time) -> Result<(), Failed> {
    diesel::update(jobs::table.find(Key(id))).set(jobs::lease_until.eq(Some(At(until)))).execute(conn).await?;
    Ok(())
}

/// The job is done: its row goes.
pub async fn done(conn: &mut Conn, id: Id<Job>) -> Result<(), Failed> {
    diesel::delete(jobs::table.find(Key(id))).execute(conn).await?;
    Ok(())
}

/// The job is to be tried again at a time.
pub async fn again(conn: &mut Conn, id: Id<Job>, error: &str, at: Time) -> Result<(), Failed> {
    diesel::update(jobs::table.find(Key(id)))
        .set((jobs::lease_until.eq(None::<At>), jobs::run_at.eq(At(at)), jobs::last_error.eq(Some(error.to_owned()))))
        .execute(conn)
        .await?;
    Ok(())
}

/// The job has failed for good.
pub async fn give_up(conn: &mut Conn, id: Id<Job>, error: &str, now: Time) -> Result<(), Failed> {
    diesel::update(jobs::table.find(Key(id)))
        .set((
            jobs::lease_until.eq(None::<At>),
            jobs::last_error.eq(Some(error.to_owned())),
            jobs::failed_at.eq(Some(At(now))),
        ))
        .execute(conn)
        .await?;
    Ok(())
}

/// At start: jobs of kinds that nobody does have failed. Answers how many.
pub async fn give_up_strangers(conn: &mut Conn, known: &[&'static str], now: Time) -> Result<usize, Failed> {
    let strangers = jobs::table.filter(jobs::failed_at.is_null()).filter(jobs::kind.ne_all(known.to_vec()));
    let error = Some("nobody does jobs of this kind".to_owned());
    Ok(diesel::update(strangers)
        .set((jobs::failed_at.eq(Some(At(now))), jobs::last_error.eq(error)))
        .execute(conn)
        .await?)
}

/// At start: what a killed server held is free again.
pub async fn free_all(conn: &mut Conn) -> Result<usize, Failed> {
    Ok(diesel::update(jobs::table).set(jobs::lease_until.eq(None::<At>)).execute(conn).await?)
}

/// How many failed for good: for metrics.
///
/// # Errors
/// The database's own.
pub async fn failed_count(conn: &mut Conn) -> Result<i64, Failed> {
    Ok(jobs::table.filter(jobs::failed_at.is_not_null()).count().get_result(conn).await?)
}

/// Drops what failed for good before a time. Answers how many.
///
/// # Errors
/// The database's own.
pub async fn forget_failed(conn: &mut Conn, before: Time) -> Result<usize, Failed> {
    Ok(diesel::delete(jobs::table.filter(jobs::failed_at.lt(Some(At(before))))).execute(conn).await?)
}
