//! Queries of what a language model answered to the questions of a run. An answer contains words of the sources: it goes
//! with its run, and after a day.

use std::time::Duration;

use actors::ids::Id;
use actors::run::Run;
use actors::time::Time;
use diesel::{ExpressionMethods, OptionalExtension, QueryDsl};

use crate::db::schema::model_answers;
use crate::db::sweep::Retention;
use crate::db::{Conn, DbError, RunQueryDsl};

/// The stored answer to a question, given by its key.
pub async fn find(conn: &mut Conn, run_id: Id<Run>, question: &str) -> Result<Option<String>, DbError> {
    let found = model_answers::table.find((run_id, question)).select(model_answers::answer);
    Ok(found.first(conn).await.optional()?)
}

/// Stores an answer, unless there is one to the same question.
pub async fn save(conn: &mut Conn, run_id: Id<Run>, question: &str, answer: &str, now: Time) -> Result<(), DbError> {
    let row = (
        model_answers::run_id.eq(run_id),
        model_answers::question.eq(question),
        model_answers::answer.eq(answer),
        model_answers::kept_at.eq(now),
    );
    diesel::insert_into(model_answers::table).values(row).on_conflict_do_nothing().execute(conn).await?;
    Ok(())
}

/// By then a run has ended, or is better started from the beginning.
pub const RETENTION: Retention = Retention {
    table: "model_answers",
    key: "run_id, question",
    at: "kept_at",
    period: Duration::from_secs(24 * 60 * 60),
};
