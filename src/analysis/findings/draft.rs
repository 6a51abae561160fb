//! Drafts of results: what a run found is written in small transactions that block no other writer, and is not visible
//! to anyone. The transaction that completes the run publishes it to the project, see [`store::publish`].

use std::collections::{HashMap, HashSet};
use std::mem::take;
use std::time::Duration;

use actors::ids::Id;
use actors::run::Run;
use actors::time::Time;
use futures_util::future::BoxFuture;
use pipeline::PipelineResult;
use uuid::Uuid;

use super::drafted::{DraftedKind, PlannedKind, References, ShownItem, known_items};
use super::items::{self, FoundItem};
use super::store;
use super::store::{DraftItem, ResultsDraft};
use crate::analysis::dashboard::model::ResultsDashboard;
use crate::analysis::items::project_item::ProjectItem;
use crate::analysis::items::store::{self as stored, Facts, FoundKeys, Item};
use crate::analysis::proposals::drafting::{self, ReviewedProject};
use crate::analysis::proposals::model::ProposalKind;
use crate::analysis::proposals::planning::{self, Fate, FoundText, KindPlan};
use crate::analysis::proposals::store::drafts::{self as proposals, ProposalDraft};
use crate::analysis::state::Analysis;
use crate::analysis::store as runs;
use crate::db::sweep::{PAGE, in_pages};
use crate::db::{Conn, DbError};
use crate::http::error::ApiError;
use crate::projects::item_kind::ItemKind;

/// Items written in one transaction, far below what a database can do within its time limit.
const AT_ONCE: usize = 200;
/// How long superseded proposals are stored: each run may make many of them.
const SUPERSEDED_FOR: Duration = Duration::from_secs(30 * 24 * 60 * 60);
/// Maximum number of items of one run, far below what a database can publish within its time limit.
const MAX_ITEMS: usize = 20_000;
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

/// Writes the results of a run: its requirements and stories with their codes, or what it proposes about those that the project
/// has; then the result as a whole, with the items as they are in the project. Idempotent: items that the project already has
/// are matched by their text and keep their id and code, and an earlier draft is replaced.
///
/// Drafts of one project must be written one after the other, each until its run is complete: otherwise their new items
/// would get the same numbers.
///
/// # Errors
/// See [`Undrafted`].
pub async fn write(state: &Analysis, run: &Run, mut result: PipelineResult) -> Result<(), Undrafted> {
    if result.requirements.len() + result.user_stories.len() > MAX_ITEMS {
        return Err(Undrafted::TooMuch);
    }
    let context = DraftContext { state, run, now: state.now() };
    context.clear().await?;
    let project_id = run.project_id;
    let is_reviewed = state.db.read(move |conn| Box::pin(stored::is_any_touched(conn, project_id))).await?;
    let reviewed =
        is_reviewed.then(|| ReviewedProject { db: &state.db, run, scope: drafting::read_scope(run, &result) });
    let of_requirements = reviewed.as_ref().filter(|_| run.analysis_type.wants_requirements());
    let requirements = context.plan(ItemKind::Requirement, &result.requirements, of_requirements).await?;
    let of_stories = reviewed.as_ref().filter(|_| run.analysis_type.wants_stories());
    let stories = context.plan(ItemKind::UserStory, &result.user_stories, of_stories).await?;

    let mut references = References::to(&requirements);
    let made = take(&mut result.requirements).into_iter().map(|found| {
        let sources = found.source_count();
        (ProjectItem::Requirement(items::requirement(found, &requirements.known, run, context.now)), sources)
    });
    let mut made = requirements.draft(made, &mut references, context.now)?;
    let told = take(&mut result.user_stories).into_iter().map(|found| {
        let sources = found.source_count();
        let story = items::story(found, &stories.known, &requirements.known, run, context.now);
        (ProjectItem::UserStory(story), sources)
    });
    let mut told = stories.draft(told, &mut references, context.now)?;
    let last_requirement = context.write(&requirements, &mut made).await?;
    let last_story = context.write(&stories, &mut told).await?;
    context.write_references(references).await?;

    let requirements = made.shown.into_iter().filter_map(|shown| match shown.item {
        ProjectItem::Requirement(one) => Some(one),
        ProjectItem::UserStory(_) => None,
    });
    let user_stories = told.shown.into_iter().filter_map(|shown| match shown.item {
        ProjectItem::UserStory(one) => Some(one),
        ProjectItem::Requirement(_) => None,
    });
    let mut dashboard = ResultsDashboard {
        project_id: run.project_id,
        run_id: Some(run.id),
        generated_at: context.now,
        summary: result.summary,
        requirements: requirements.collect(),
        user_stories: user_stories.collect(),
        risks: items::numbered(result.risks, items::risk),
        open_questions: items::numbered(result.open_questions, items::open_question),
        action_items: items::numbered(result.action_items, items::action_item),
        metrics: result.metrics,
        quality: result.quality,
        artifacts: Vec::new(),
        exports: Vec::new(),
        decisions: items::numbered(result.decisions, items::decision),
    };
    if is_reviewed {
        dashboard.count_items();
    }
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
    /// Deletes what an earlier attempt left, and what was superseded long ago.
    async fn clear(&self) -> Result<(), Undrafted> {
        let (id, project_id) = (self.run.id, self.run.project_id);
        self.write_at_work(move |conn| Box::pin(store::forget_draft(conn, id))).await?;
        let (attempt, then, stopping) = (self.run.attempt, self.now - SUPERSEDED_FOR, self.state.tasks.stopping());
        let forgotten = in_pages(&self.state.db, &stopping, move |conn| {
            Box::pin(async move {
                if !runs::is_at_work(conn, id, attempt).await? {
                    return Ok(0);
                }
                proposals::forget_page(conn, id, PAGE).await
            })
        });
        forgotten.await.map_err(|error: DbError| Undrafted::from(error))?;
        let pruned = in_pages(&self.state.db, &stopping, move |conn| {
            Box::pin(proposals::prune_page(conn, project_id, then, PAGE))
        });
        pruned.await.map_err(|error: DbError| Undrafted::from(error))?;
        // Whoever stopped in between has not deleted everything.
        if stopping.is_cancelled() { Err(Undrafted::Unwanted) } else { Ok(()) }
    }

    /// Decides what becomes of the findings of one kind. `reviewed` is `None` where people have reviewed nothing, or the run was
    /// not asked for this kind.
    async fn plan(
        &self,
        kind: ItemKind,
        found: &[impl FoundItem],
        reviewed: Option<&ReviewedProject<'_>>,
    ) -> Result<PlannedKind, Undrafted> {
        let project_id = self.run.project_id;
        let last_number = self.state.db.read(move |conn| Box::pin(stored::last_number(conn, project_id, kind))).await?;
        let texts: Vec<FoundText> = found.iter().map(FoundItem::text).collect();
        let mut known = HashMap::new();
        for some in texts.chunks(AT_ONCE) {
            let keys = some.iter().map(|text| text.text_key.clone()).collect();
            let found = self.state.db.read(move |conn| Box::pin(stored::known(conn, project_id, kind, keys))).await?;
            known.extend(found.into_iter().map(|item| (item.text_key.clone(), item)));
        }
        let keys: Vec<FoundKeys> = texts
            .iter()
            .map(|text| FoundKeys { text: text.text_key.clone(), content: text.content_key.clone() })
            .collect();
        let plan = match reviewed {
            Some(reviewed) => reviewed.plan(kind, texts, &known).await?,
            None => planning::publish_all(&texts, &known_items(&known), &mut || Id::<()>::generate().uuid()),
        };
        let targets = self.targets(&plan, &known).await?;
        Ok(PlannedKind::new(kind, last_number, plan, keys, known, targets))
    }

    /// Loads the items that are proposed to change or to reject, and are not known by the words of a finding.
    async fn targets(&self, plan: &KindPlan, known: &HashMap<String, Item>) -> Result<HashMap<Uuid, Item>, Undrafted> {
        let project_id = self.run.project_id;
        let known: HashSet<Uuid> = known.values().map(|item| item.id.uuid()).collect();
        let kept = plan.fates.iter().filter_map(|fate| match fate {
            Fate::Proposed { item_id, kind: ProposalKind::Changed } | Fate::Kept(item_id) => Some(*item_id),
            _ => None,
        });
        let ids: Vec<Uuid> = kept.chain(plan.gone.iter().copied()).filter(|id| !known.contains(id)).collect();
        let mut targets = HashMap::new();
        for some in ids.chunks(AT_ONCE) {
            let some = some.to_vec();
            let found = self.state.db.read(move |conn| Box::pin(stored::find_many(conn, project_id, some))).await?;
            targets.extend(found.into_iter().map(|item| (item.id.uuid(), item)));
        }
        Ok(targets)
    }

    /// Writes in the transaction of an attempt that is at work.
    async fn write_at_work(
        &self,
        job: impl for<'c> FnOnce(&'c mut Conn) -> BoxFuture<'c, Result<(), DbError>> + Send + 'static,
    ) -> Result<(), Undrafted> {
        let (id, attempt) = (self.run.id, self.run.attempt);
        let written = self.state.db.write(move |conn| {
            Box::pin(async move {
                if !runs::is_at_work(conn, id, attempt).await? {
                    return Ok::<_, DbError>(false);
                }
                job(conn).await.map(|()| true)
            })
        });
        wanted(written.await?)
    }

    /// Writes items and proposals of one kind in batches; new items get the next numbers in their order. Returns the last number
    /// that was assigned, or `None` if there are no new items.
    async fn write(&self, planned: &PlannedKind, drafted: &mut DraftedKind) -> Result<Option<i64>, Undrafted> {
        let mut last = planned.last_number;
        for portion in drafted.shown.chunks_mut(AT_ONCE) {
            let mut rows = Vec::with_capacity(portion.len());
            for ShownItem { item, keys } in portion {
                let Some(keys) = keys.take() else { continue };
                let number = planned.known.item(&keys.text).map(|item| item.number).unwrap_or_else(|| {
                    last += 1;
                    last
                });
                item.set_code(planned.kind.code(number));
                let body = serde_json::to_string(item).map_err(|error| Undrafted::Failed(ApiError::internal(error)))?;
                rows.push(DraftItem::new(self.run, Facts::of(item), keys, number, body, self.now));
            }
            if !rows.is_empty() {
                self.write_at_work(move |conn| Box::pin(async move { store::insert_items(conn, &rows).await })).await?;
            }
        }
        let (target, now) = (planned.kind, self.now);
        let mut drafts = take(&mut drafted.proposals).into_iter().peekable();
        while drafts.peek().is_some() {
            let (some, run): (Vec<ProposalDraft>, Run) = (drafts.by_ref().take(AT_ONCE).collect(), self.run.clone());
            self.write_at_work(move |conn| {
                Box::pin(async move {
                    proposals::insert_drafts(conn, proposals::Drafter::run(&run), target, some, now).await
                })
            })
            .await?;
        }
        for some in planned.plan.superseded.chunks(AT_ONCE) {
            let (some, id) = (some.to_vec(), self.run.id);
            self.write_at_work(move |conn| Box::pin(async move { proposals::note_superseded(conn, id, &some).await }))
                .await?;
        }
        Ok(Some(last).filter(|last| *last > planned.last_number))
    }

    async fn write_references(&self, references: References) -> Result<(), Undrafted> {
        for some in references.drafts.chunks(AT_ONCE) {
            let some = some.to_vec();
            self.write_at_work(move |conn| Box::pin(async move { proposals::insert_references(conn, &some).await }))
                .await?;
        }
        Ok(())
    }

    async fn end(
        &self,
        result: String,
        last_requirement: Option<i64>,
        last_story: Option<i64>,
    ) -> Result<(), Undrafted> {
        let (run_id, attempt, generated_at) = (self.run.id, i64::from(self.run.attempt), self.now);
        let draft = ResultsDraft { run_id, attempt, result, generated_at, last_requirement, last_story };
        self.write_at_work(move |conn| Box::pin(store::insert_draft(conn, draft))).await
    }
}

const fn wanted(is_at_work: bool) -> Result<(), Undrafted> {
    if is_at_work { Ok(()) } else { Err(Undrafted::Unwanted) }
}
