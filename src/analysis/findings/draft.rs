//! Drafts of results: what a run found is written in small transactions that block no other writer, and is not visible
//! to anyone. The transaction that completes the run publishes it to the project, see [`store::publish`].

use std::collections::{HashMap, HashSet};
use std::mem::take;
use std::time::Duration;

use actors::run::Run;
use actors::time::Time;
use futures_util::future::BoxFuture;
use pipeline::{PipelineResult, SourceKind};
use strum::VariantArray;
use uuid::Uuid;

use super::drafted::{DraftedItem, KindDraft};
use super::finding::{Findings, FoundItem, is_wanted};
use super::operations::UNDO_FOR;
use super::present::{PresentProject, read_scope};
use super::reconciling::{Fate, KindPlan, ReadScope};
use super::store;
use super::store::undo;
use super::store::{DraftItem, FindingRow, ResultsDraft};
use crate::analysis::dashboard::model::ResultsDashboard;
use crate::analysis::items::model::SourceReference;
use crate::analysis::items::store::{self as stored, Facts, FoundKeys, Item};
use crate::analysis::proposals::store::drafts::{self as proposals, Drafter, ProposalDraft};
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

/// Writes the results of a run: what it adds to the project, where it confirms what is there, and what it proposes about it; then
/// the result as a whole. Idempotent: items that the project already has keep their id and code, and an earlier draft is replaced.
///
/// Drafts of one project must be written one after the other, each until its run is complete: otherwise their new items
/// would get the same numbers.
///
/// # Errors
/// See [`Undrafted`].
pub async fn write(state: &Analysis, run: &Run, mut result: PipelineResult) -> Result<(), Undrafted> {
    let found = [result.risks.len(), result.open_questions.len(), result.action_items.len(), result.decisions.len()];
    if result.requirements.len() + result.user_stories.len() + found.iter().sum::<usize>() > MAX_ITEMS {
        return Err(Undrafted::TooMuch);
    }
    let context = DraftContext { state, run, now: state.now() };
    let mut present = PresentProject::of(&state.db, run);
    context.clear().await?;
    let mut scope = read_scope(run, &mut result);
    present.leave_out_former(&mut scope).await?;
    let heard = recordings_quoted(&mut result);
    let is_own = |source: &SourceReference| source.recording_id.is_none_or(|id| heard.contains(&id));
    let mut requirements = HashMap::new();
    let mut dashboard = ResultsDashboard {
        run_id: Some(run.id),
        metrics: result.metrics.clone(),
        quality: result.quality.clone(),
        summary: result.summary.clone(),
        ..ResultsDashboard::empty(run.project_id, context.now)
    };
    for kind in ItemKind::VARIANTS {
        let found = FoundItem::take(&mut result, *kind);
        let scope = if is_wanted(run.analysis_type, *kind) { scope.clone() } else { ReadScope::default() };
        if !found.is_empty() || !scope.sources.is_empty() {
            for DraftedItem { mut item, .. } in
                context.reconcile(&mut present, (*kind, scope), found, &mut requirements).await?
            {
                // What is said in other meetings is theirs to withdraw.
                let own = item.sources().iter().filter(|source| is_own(source)).cloned().collect();
                item.set_sources(own);
                dashboard.push(item);
            }
        }
    }
    dashboard.count_items();
    let text = |part: serde_json::Result<String>| part.map_err(|error| Undrafted::Failed(ApiError::internal(error)));
    let whole = text(serde_json::to_string(&dashboard))?;
    drop(dashboard);
    if whole.len() > RESULT_BYTES {
        return Err(Undrafted::TooMuch);
    }
    context
        .end(whole, text(serde_json::to_string(&result.summary))?, text(serde_json::to_string(&result.metrics))?)
        .await
}

/// The recordings that a result quotes.
fn recordings_quoted(result: &mut PipelineResult) -> HashSet<Uuid> {
    let heard = result.citations().filter(|citation| citation.kind == SourceKind::Recording);
    heard.filter_map(|citation| citation.source_id.parse().ok()).collect()
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
        self.write_at_work(move |conn| {
            Box::pin(async move {
                store::forget_draft(conn, id).await?;
                store::forget_findings(conn, id).await
            })
        })
        .await?;
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
        let ended = self.now - UNDO_FOR;
        self.write_at_work(move |conn| Box::pin(undo::forget(conn, project_id, ended))).await?;
        // Whoever stopped in between has not deleted everything.
        if stopping.is_cancelled() { Err(Undrafted::Unwanted) } else { Ok(()) }
    }

    /// Decides what becomes of the findings of one kind, and writes it down. Returns the items that the run found; adds requirements
    /// to those by which stories name them.
    async fn reconcile(
        &self,
        present: &mut PresentProject<'_>,
        (kind, scope): (ItemKind, ReadScope),
        found: Vec<FoundItem>,
        requirements: &mut HashMap<String, Uuid>,
    ) -> Result<Vec<DraftedItem>, Undrafted> {
        let texts: Vec<_> = found.iter().map(FoundItem::text).collect();
        let keys =
            texts.iter().map(|text| FoundKeys { text: text.text_key.clone(), content: text.content_key.clone() });
        let keys: Vec<FoundKeys> = keys.collect();
        let plan = present.plan(kind, texts, scope).await?;
        if kind == ItemKind::Requirement {
            for (keys, id) in keys.iter().zip(&plan.fates).filter_map(|(keys, fate)| Some((keys, fate.item_id()?))) {
                requirements.entry(keys.text.clone()).or_insert(id);
            }
        }
        let mut draft = KindDraft::new(kind, self.stored(&plan).await?);
        let findings = Findings { run: self.run, now: self.now, requirements };
        for ((finding, keys), fate) in found.into_iter().zip(keys).zip(&plan.fates) {
            draft.place(finding, keys, *fate, findings)?;
        }
        for id in &plan.gone {
            draft.gone(*id)?;
        }
        self.write(&mut draft).await?;
        let superseded = plan.superseded;
        let run_id = self.run.id;
        for some in superseded.chunks(AT_ONCE) {
            let some = some.to_vec();
            self.write_at_work(move |conn| {
                Box::pin(async move { proposals::note_superseded(conn, run_id, &some).await })
            })
            .await?;
        }
        Ok(draft.items)
    }

    /// Loads the items that the findings are about.
    async fn stored(&self, plan: &KindPlan) -> Result<HashMap<Uuid, Item>, Undrafted> {
        let project_id = self.run.project_id;
        let known = plan.fates.iter().filter(|fate| !matches!(fate, Fate::Added(_))).filter_map(|fate| fate.item_id());
        let ids: HashSet<Uuid> = known.chain(plan.gone.iter().copied()).collect();
        let ids: Vec<Uuid> = ids.into_iter().collect();
        let mut stored = HashMap::new();
        for some in ids.chunks(AT_ONCE) {
            let some = some.to_vec();
            let found = self.state.db.read(move |conn| Box::pin(stored::find_many(conn, project_id, some))).await?;
            stored.extend(found.into_iter().map(|item| (item.id.uuid(), item)));
        }
        Ok(stored)
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

    /// Writes items, proposals and findings of one kind in batches; new items get the next numbers in their order.
    async fn write(&self, draft: &mut KindDraft) -> Result<(), Undrafted> {
        let (kind, project_id, now) = (draft.kind, self.run.project_id, self.now);
        let mut last = self.state.db.read(move |conn| Box::pin(stored::last_number(conn, project_id, kind))).await?;
        let (mut numbers, mut before) = (HashMap::new(), HashMap::new());
        for portion in draft.items.chunks_mut(AT_ONCE) {
            let mut rows = Vec::with_capacity(portion.len());
            for DraftedItem { item, keys, stored, .. } in portion.iter_mut().filter(|drafted| drafted.is_changed) {
                let number = match stored {
                    Some(stored) => {
                        before.insert(item.id(), take(&mut stored.body));
                        stored.number
                    }
                    None => {
                        last += 1;
                        item.set_code(kind.code(last));
                        last
                    }
                };
                numbers.insert(item.id(), number);
                let body = serde_json::to_string(item).map_err(|error| Undrafted::Failed(ApiError::internal(error)))?;
                rows.push(DraftItem::new(self.run, Facts::of(item), keys.clone(), number, body, now));
            }
            if !rows.is_empty() {
                self.write_at_work(move |conn| Box::pin(async move { store::insert_items(conn, &rows).await })).await?;
            }
        }
        let mut drafts = take(&mut draft.proposals).into_iter().peekable();
        let drafter = Drafter::run(self.run);
        while drafts.peek().is_some() {
            let some: Vec<ProposalDraft> = drafts.by_ref().take(AT_ONCE).collect();
            self.write_at_work(move |conn| {
                Box::pin(async move { proposals::insert_drafts(conn, drafter, kind, some, now).await })
            })
            .await?;
        }
        for portion in draft.findings.chunks(AT_ONCE) {
            let row = |found: &super::drafted::DraftedFinding| {
                let number = numbers.get(&found.item_id).copied().or_else(|| draft.stored_number(found.item_id))?;
                let before = before.remove(&found.item_id);
                Some(FindingRow::new(
                    (project_id, self.run.id, i64::from(self.run.attempt)),
                    kind,
                    number,
                    found,
                    before,
                ))
            };
            let rows: Vec<FindingRow> = portion.iter().filter_map(row).collect();
            self.write_at_work(move |conn| Box::pin(async move { store::insert_findings(conn, &rows).await })).await?;
        }
        Ok(())
    }

    async fn end(&self, result: String, summary: String, metrics: String) -> Result<(), Undrafted> {
        let (run_id, attempt, generated_at) = (self.run.id, i64::from(self.run.attempt), self.now);
        let draft =
            ResultsDraft { run_id, attempt, result, generated_at, summary: Some(summary), metrics: Some(metrics) };
        self.write_at_work(move |conn| Box::pin(store::insert_draft(conn, draft))).await
    }
}

const fn wanted(is_at_work: bool) -> Result<(), Undrafted> {
    if is_at_work { Ok(()) } else { Err(Undrafted::Unwanted) }
}
