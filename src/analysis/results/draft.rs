//! Drafts of results: what a run found is written in small transactions that block no other writer, and is not visible
//! to anyone. The transaction that completes the run publishes it to the project, see [`store::publish`].

use actors::run::Run;
use actors::time::Time;
use pipeline::PipelineResult;

use super::items::{self, Coded, Known};
use super::model::{Requirement, UserStory};
use super::store::{self, DraftItem, Kind, ResultsDraft};
use crate::analysis::dashboard::model::ResultsDashboard;
use crate::analysis::state::Analysis;
use crate::analysis::store as runs;
use crate::db::{At, DbError, Key};
use crate::http::error::ApiError;

/// Items written in one transaction, far below what a database can do within its time limit.
const AT_ONCE: usize = 200;
/// Maximum number of items of one run, far below what a database can publish within its time limit.
const MOST_ITEMS: usize = 20_000;
/// Maximum size of the serialized result, in bytes.
const RESULT_BYTES: usize = 64 * 1024 * 1024;

/// The reasons why no draft was written.
pub enum Undrafted {
    /// The results exceed the storage limits.
    TooMuch,
    /// The attempt has ended, or another one is current.
    Unwanted,
    Failed(ApiError),
}

impl From<DbError> for Undrafted {
    fn from(failed: DbError) -> Self {
        Self::Failed(failed.into())
    }
}

/// Writes the results of a run: its requirements and stories with their codes, then the result as a whole. Idempotent:
/// items that the project already has are matched by their text and keep their id and code, and an earlier draft is
/// replaced.
///
/// Drafts of one project must be written one after the other, each until its run is complete: otherwise their new items
/// would get the same numbers.
///
/// # Errors
/// See [`Undrafted`].
pub async fn write(state: &Analysis, run: &Run, result: PipelineResult) -> Result<(), Undrafted> {
    if result.requirements.len() + result.user_stories.len() > MOST_ITEMS {
        return Err(Undrafted::TooMuch);
    }
    let context = DraftContext { state, run, now: state.now() };
    context.clear().await?;
    let keys = result.requirements.iter().map(|found| found.key.clone()).collect();
    let requirements = context.known(Kind::Requirement, keys).await?;
    let keys = result.user_stories.iter().map(|found| found.key.clone()).collect();
    let stories = context.known(Kind::UserStory, keys).await?;

    let made = result.requirements.into_iter().map(|found| items::requirement(found, &requirements, run, context.now));
    let mut made: Vec<Requirement> = made.collect();
    let last_requirement = context.write(Kind::Requirement, &mut made, &requirements).await?;
    let drafted = result.user_stories.into_iter();
    let mut drafted: Vec<UserStory> =
        drafted.map(|found| items::story(found, &stories, &requirements, run, context.now)).collect();
    let last_story = context.write(Kind::UserStory, &mut drafted, &stories).await?;

    let dashboard = ResultsDashboard {
        project_id: run.project_id,
        run_id: Some(run.id),
        generated_at: context.now,
        summary: result.summary,
        requirements: made,
        user_stories: drafted,
        risks: items::numbered(result.risks, items::risk),
        open_questions: items::numbered(result.open_questions, items::open_question),
        action_items: items::numbered(result.action_items, items::action_item),
        metrics: result.metrics,
        quality: result.quality,
        artifacts: Vec::new(),
        exports: Vec::new(),
        decisions: items::numbered(result.decisions, items::decision),
    };
    let whole = serde_json::to_string(&dashboard).map_err(|error| Undrafted::Failed(ApiError::internal(error)))?;
    drop(dashboard);
    if whole.len() > RESULT_BYTES {
        return Err(Undrafted::TooMuch);
    }
    context.end(whole, last_requirement, last_story).await
}

struct DraftContext<'a> {
    state: &'a Analysis,
    run: &'a Run,
    now: Time,
}

impl DraftContext<'_> {
    /// Deletes what an earlier attempt left.
    async fn clear(&self) -> Result<(), Undrafted> {
        let (id, attempt) = (self.run.id, self.run.attempt);
        let cleared = self.state.db.write(move |conn| {
            Box::pin(async move {
                if !runs::is_at_work(conn, id, attempt).await? {
                    return Ok::<_, DbError>(false);
                }
                store::forget_draft(conn, id).await.map(|()| true)
            })
        });
        wanted(cleared.await?)
    }

    async fn known(&self, kind: Kind, keys: Vec<String>) -> Result<Known, Undrafted> {
        let project_id = self.run.project_id;
        let last = self.state.db.read(move |conn| Box::pin(store::last_number(conn, project_id, kind))).await?;
        let mut existing = Vec::new();
        for some in keys.chunks(AT_ONCE) {
            let some = some.to_vec();
            let found = self.state.db.read(move |conn| Box::pin(store::known(conn, project_id, kind, some)));
            existing.extend(found.await?);
        }
        Ok(Known::of(existing, keys, last))
    }

    /// Writes items in batches; new items get the next numbers in their order. Returns the last number that was
    /// assigned, or `None` if there are no new items.
    async fn write<T: Coded>(&self, kind: Kind, made: &mut [T], known: &Known) -> Result<Option<i64>, Undrafted> {
        let mut last = known.last_number();
        for portion in made.chunks_mut(AT_ONCE) {
            let mut rows = Vec::with_capacity(portion.len());
            for item in portion {
                let facts = item.facts();
                let key = known.key(facts.id).unwrap_or_default();
                let number = known.number(&key).unwrap_or_else(|| {
                    last += 1;
                    last
                });
                item.set_code(kind.code(number));
                let body = serde_json::to_string(item).map_err(|error| Undrafted::Failed(ApiError::internal(error)))?;
                rows.push(DraftItem::new(self.run, facts, key, number, body, self.now));
            }
            let (id, attempt) = (self.run.id, self.run.attempt);
            let written = self.state.db.write(move |conn| {
                Box::pin(async move {
                    if !runs::is_at_work(conn, id, attempt).await? {
                        return Ok::<_, DbError>(false);
                    }
                    store::insert_items(conn, &rows).await.map(|()| true)
                })
            });
            wanted(written.await?)?;
        }
        Ok(Some(last).filter(|last| *last > known.last_number()))
    }

    async fn end(
        &self,
        result: String,
        last_requirement: Option<i64>,
        last_story: Option<i64>,
    ) -> Result<(), Undrafted> {
        let (id, attempt, generated_at) = (self.run.id, self.run.attempt, At(self.now));
        let run_id = Key(id);
        let draft =
            ResultsDraft { run_id, attempt: i64::from(attempt), result, generated_at, last_requirement, last_story };
        let written = self.state.db.write(move |conn| {
            Box::pin(async move {
                if !runs::is_at_work(conn, id, attempt).await? {
                    return Ok::<_, DbError>(false);
                }
                store::insert_draft(conn, draft).await.map(|()| true)
            })
        });
        wanted(written.await?)
    }
}

const fn wanted(is_at_work: bool) -> Result<(), Undrafted> {
    if is_at_work { Ok(()) } else { Err(Undrafted::Unwanted) }
}
