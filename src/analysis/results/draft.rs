//! What a run found, written before it counts: in portions, so that nobody waits for it, and seen by nobody. It becomes the project's
//! in the transaction that completes the run, see [`store::publish`].

use actors::run::Run;
use actors::time::Time;

use super::items::{self, Coded, Known};
use super::model::{Requirement, UserStory};
use super::store::{self, Draft, DraftItem, Kind};
use crate::analysis::dashboard::model::ResultsDashboard;
use crate::analysis::state::Analysis;
use crate::analysis::store as runs;
use crate::db::{At, Failed, Key};
use crate::http::failure::Failure;
use crate::pipeline::PipelineResult;

/// Items written in one transaction: what a database does in far less than its limit.
const AT_ONCE: usize = 200;
/// Items that one run may bring: what a database makes the project's in far less than its limit.
const MOST_ITEMS: usize = 20_000;
/// Bytes of the whole result.
const RESULT_BYTES: usize = 64 * 1024 * 1024;

/// Why there is no draft.
pub enum Undrafted {
    /// More was found than is kept.
    TooMuch,
    /// The attempt is over, or another one is at work.
    Unwanted,
    Failed(Failure),
}

impl From<Failed> for Undrafted {
    fn from(failed: Failed) -> Self {
        Self::Failed(failed.into())
    }
}

/// Writes what a run found: its requirements and stories under their codes, then the result as a whole. Safe to repeat: what stands
/// in the project already is found by its text and keeps id and code, and a former draft is replaced. Drafts of one project are to
/// be written one after the other, each until its run is complete: their new items have the same numbers.
///
/// # Errors
/// See [`Undrafted`].
pub async fn write(state: &Analysis, run: &Run, result: PipelineResult) -> Result<(), Undrafted> {
    if result.requirements.len() + result.user_stories.len() > MOST_ITEMS {
        return Err(Undrafted::TooMuch);
    }
    let desk = Desk { state, run, now: state.now() };
    desk.clear().await?;
    let keys = result.requirements.iter().map(|found| found.key.clone()).collect();
    let requirements = desk.known(Kind::Requirement, keys).await?;
    let keys = result.user_stories.iter().map(|found| found.key.clone()).collect();
    let stories = desk.known(Kind::UserStory, keys).await?;

    let made = result.requirements.into_iter().map(|found| items::requirement(found, &requirements, run, desk.now));
    let mut made: Vec<Requirement> = made.collect();
    let last_requirement = desk.write(Kind::Requirement, &mut made, &requirements).await?;
    let told = result.user_stories.into_iter();
    let mut told: Vec<UserStory> =
        told.map(|found| items::story(found, &stories, &requirements, run, desk.now)).collect();
    let last_story = desk.write(Kind::UserStory, &mut told, &stories).await?;

    let dashboard = ResultsDashboard {
        project_id: run.project_id,
        run_id: Some(run.id),
        generated_at: desk.now,
        summary: result.summary.into(),
        requirements: made,
        user_stories: told,
        risks: items::numbered(result.risks, items::risk),
        open_questions: items::numbered(result.open_questions, items::open_question),
        action_items: items::numbered(result.action_items, items::action_item),
        metrics: result.metrics.into(),
        quality: result.quality.into(),
        artifacts: Vec::new(),
        exports: Vec::new(),
        decisions: items::numbered(result.decisions, items::decision),
    };
    let whole = serde_json::to_string(&dashboard).map_err(|error| Undrafted::Failed(Failure::internal(error)))?;
    drop(dashboard);
    if whole.len() > RESULT_BYTES {
        return Err(Undrafted::TooMuch);
    }
    desk.end(whole, last_requirement, last_story).await
}

struct Desk<'a> {
    state: &'a Analysis,
    run: &'a Run,
    now: Time,
}

impl Desk<'_> {
    /// What an earlier try left.
    async fn clear(&self) -> Result<(), Undrafted> {
        let (id, attempt) = (self.run.id, self.run.attempt);
        let cleared = self.state.db.write(move |conn| {
            Box::pin(async move {
                if !runs::is_at_work(conn, id, attempt).await? {
                    return Ok::<_, Failed>(false);
                }
                store::forget_draft(conn, id).await.map(|()| true)
            })
        });
        wanted(cleared.await?)
    }

    async fn known(&self, kind: Kind, keys: Vec<String>) -> Result<Known, Undrafted> {
        let project_id = self.run.project_id;
        let last = self.state.db.read(move |conn| Box::pin(store::last_number(conn, project_id, kind))).await?;
        let mut standing = Vec::new();
        for some in keys.chunks(AT_ONCE) {
            let some = some.to_vec();
            let found = self.state.db.read(move |conn| Box::pin(store::known(conn, project_id, kind, some)));
            standing.extend(found.await?);
        }
        Ok(Known::of(standing, keys, last))
    }

    /// Writes items in portions; new ones get the next numbers in their order. The last of these, if there are any.
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
                let body = serde_json::to_string(item).map_err(|error| Undrafted::Failed(Failure::internal(error)))?;
                rows.push(DraftItem::new(self.run, facts, key, number, body, self.now));
            }
            let (id, attempt) = (self.run.id, self.run.attempt);
            let written = self.state.db.write(move |conn| {
                Box::pin(async move {
                    if !runs::is_at_work(conn, id, attempt).await? {
                        return Ok::<_, Failed>(false);
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
        let draft = Draft { run_id, attempt: i64::from(attempt), result, generated_at, last_requirement, last_story };
        let written = self.state.db.write(move |conn| {
            Box::pin(async move {
                if !runs::is_at_work(conn, id, attempt).await? {
                    return Ok::<_, Failed>(false);
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
