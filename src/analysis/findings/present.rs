//! What the project has when a run comes with its findings: its items, and the proposals of earlier runs. Everything is read page
//! by page.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

use actors::ids::Id;
use actors::run::Run;
use pipeline::result::Warning;
use pipeline::{PipelineResult, SourceKind};
use uuid::Uuid;

use super::matching::{Likened, SourcePlace};
use super::reconciling::{self, FoundText, KindPlan, KnownItem, OpenProposal, PastProposals, ReadScope, ReplacedText};
use crate::analysis::items::content_key::content_key;
use crate::analysis::items::model::{SourceReference, WorkflowStatus};
use crate::analysis::items::project_item::ProjectItem;
use crate::analysis::items::store as results;
use crate::analysis::items::store::Item;
use crate::analysis::proposals::model::{Proposal, ProposalKind, ProposalStatus};
use crate::analysis::proposals::store::drafts::{self as store, PastProposal};
use crate::db::{Db, DbError};
use crate::projects::documents::store::of_project;
use crate::projects::documents::versions::comparison::TextComparison;
use crate::projects::documents::versions::operations as versions;
use crate::projects::item_kind::ItemKind;

/// How many rows are read at once.
const PAGE: i64 = 200;

/// A project that a run has findings for.
pub struct PresentProject<'a> {
    db: &'a Db,
    run: &'a Run,
    /// Between the versions of documents that items quote and those that the run has read.
    comparisons: VersionComparisons,
}

impl<'a> PresentProject<'a> {
    #[must_use]
    pub fn of(db: &'a Db, run: &'a Run) -> Self {
        Self { db, run, comparisons: VersionComparisons::default() }
    }

    /// Leaves out of what was read the documents that have a newer version by now: what they do not say is no news.
    ///
    /// # Errors
    /// Only database errors.
    pub async fn leave_out_former(&self, scope: &mut ReadScope) -> Result<(), DbError> {
        let project_id = self.run.project_id;
        let documents = self.db.read(move |conn| Box::pin(of_project(conn, project_id))).await?;
        let present: HashMap<Uuid, i64> = documents.iter().map(|one| (one.id.uuid(), one.version)).collect();
        for (id, version) in self.run.documents() {
            if present.get(&id.uuid()).is_some_and(|present| *present > version) {
                scope.sources.remove(&id.uuid());
            }
        }
        Ok(())
    }

    /// Plans for the findings of one kind. `scope` is what the run has read; nothing for a kind that it was not asked for.
    ///
    /// # Errors
    /// Only database errors.
    pub async fn plan(
        &mut self,
        kind: ItemKind,
        findings: Vec<FoundText>,
        scope: ReadScope,
    ) -> Result<KindPlan, DbError> {
        let (items, past) = (self.items(kind).await?, self.past(kind).await?);
        let planned = tokio::task::spawn_blocking(move || {
            let mut new_id = || Id::<()>::generate().uuid();
            reconciling::reconcile(&findings, &items, &past, &scope, &mut new_id)
        });
        planned.await.map_err(|error| DbError::Broken(error.to_string()))
    }

    /// All items of one kind, in the order of their numbers.
    async fn items(&mut self, kind: ItemKind) -> Result<Vec<KnownItem>, DbError> {
        let (mut after, mut items) = (0, Vec::new());
        let project_id = self.run.project_id;
        loop {
            let read = self.db.read(move |conn| Box::pin(results::after(conn, project_id, kind, after, PAGE))).await?;
            let Some(last) = read.last() else { return Ok(items) };
            after = last.number;
            for stored in read {
                let item = results::item_of(kind, &stored.body)?;
                self.comparisons.compare(self.db, self.run, item.sources()).await?;
                items.push(self.comparisons.known(&item, stored));
            }
        }
    }

    async fn past(&self, kind: ItemKind) -> Result<PastProposals, DbError> {
        let (mut after, mut past) = (Id::<Proposal>::from_uuid(Uuid::nil()), PastProposals::default());
        let project_id = self.run.project_id;
        loop {
            let read = self.db.read(move |conn| Box::pin(store::past(conn, project_id, kind, after, PAGE)));
            let read = read.await?;
            let Some(last) = read.last() else { return Ok(past) };
            after = last.id;
            let mut texts = self.texts(kind, &read).await?;
            past.replaced.extend(self.replaced(kind, &read).await?);
            for PastProposal { id, item_id, kind, status, reason, text_key, content_key } in read {
                if status == ProposalStatus::Open {
                    let (said, sources) = texts.remove(&id).unwrap_or_default();
                    past.open.push(OpenProposal { id: id.uuid(), item_id, kind, reason, text_key, said, sources });
                    continue;
                }
                if status != ProposalStatus::Dismissed {
                    continue;
                }
                match kind {
                    ProposalKind::New => drop(past.dismissed_texts.insert(text_key)),
                    ProposalKind::Changed => {
                        past.dismissed_words.extend(texts.remove(&id).map(|(said, _)| (item_id, said)));
                        past.dismissed_changes.insert((item_id, content_key));
                    }
                    ProposalKind::Gone => drop(past.kept.insert(item_id)),
                }
            }
        }
    }

    /// What items said before the accepted CHANGED ones among some proposals.
    async fn replaced(&self, kind: ItemKind, some: &[PastProposal]) -> Result<Vec<ReplacedText>, DbError> {
        let is_change =
            |past: &&PastProposal| past.status == ProposalStatus::Accepted && past.kind == ProposalKind::Changed;
        let changes = some.iter().filter(is_change);
        let items: HashMap<Id<Proposal>, Uuid> = changes.map(|past| (past.id, past.item_id)).collect();
        let ids: Vec<Id<Proposal>> = items.keys().copied().collect();
        let bodies = self.db.read(move |conn| Box::pin(store::before_bodies(conn, ids))).await?;
        let former = bodies.into_iter().filter_map(|(id, body)| Some((*items.get(&id)?, body?)));
        let replaced = former.map(|(item_id, body)| {
            let item = results::item_of(kind, &body)?;
            Ok(ReplacedText { item_id, said: said(&item), sources: sources(&item) })
        });
        replaced.collect()
    }

    /// What the items would say by the undecided and dismissed ones among some proposals, and what they would rest on.
    async fn texts(
        &self,
        kind: ItemKind,
        some: &[PastProposal],
    ) -> Result<HashMap<Id<Proposal>, (String, HashSet<Uuid>)>, DbError> {
        let unaccepted = some.iter().filter(|past| past.status != ProposalStatus::Accepted);
        let ids: Vec<Id<Proposal>> = unaccepted.map(|past| past.id).collect();
        let bodies = self.db.read(move |conn| Box::pin(store::after_bodies(conn, ids))).await?;
        let texts = bodies.into_iter().filter_map(|(id, body)| Some((id, body?))).map(|(id, body)| {
            let item = results::item_of(kind, &body)?;
            Ok((id, (said(&item), sources(&item))))
        });
        texts.collect()
    }
}

/// Comparisons of former versions of documents with those that a run has read.
#[derive(Default)]
struct VersionComparisons(HashMap<(Uuid, i64), Option<TextComparison>>);

impl VersionComparisons {
    /// Compares the versions that some quotes stand in, but those that were compared before.
    async fn compare(&mut self, db: &Db, run: &Run, sources: &[SourceReference]) -> Result<(), DbError> {
        for source in sources {
            let Some(id) = source.document_id else { continue };
            let read = run.documents().find(|(document, version)| document.uuid() == id && *version != source.version);
            let Some((document, version)) = read else { continue };
            if let Entry::Vacant(place) = self.0.entry((id, source.version)) {
                place.insert(versions::comparison(db, document, (source.version, version)).await?);
            }
        }
        Ok(())
    }

    /// Where a quote stands in the version that the run has read, or what stands in its place.
    fn place(&self, source: &SourceReference) -> Option<SourcePlace> {
        let id = source.document_id.or(source.recording_id)?;
        let offsets = (source.start_offset, source.end_offset);
        let Some(comparison) = self.0.get(&(id, source.version)) else {
            return SourcePlace::at(id, offsets, source.start_ms.zip(source.end_ms));
        };
        let there = comparison.as_ref().and_then(|comparison| comparison.later_place(&(offsets.0..offsets.1)));
        // An empty place is none, but in the same source.
        let there = there.unwrap_or(0..0);
        SourcePlace::at(id, (there.start, there.end), None)
    }

    fn known(&self, item: &ProjectItem, stored: Item) -> KnownItem {
        let places = item.sources().iter().filter_map(|source| self.place(source)).collect();
        KnownItem {
            id: stored.id.uuid(),
            content_key: if stored.content_key.is_empty() { content_key(item) } else { stored.content_key },
            text_key: stored.text_key,
            is_touched: stored.touched,
            is_rejected: item.workflow_status() == WorkflowStatus::Rejected,
            likened: Likened::new(item.words(), places),
            sources: sources(item),
        }
    }
}

fn sources(item: &ProjectItem) -> HashSet<Uuid> {
    let source = |source: &SourceReference| source.document_id.or(source.recording_id);
    item.sources().iter().filter_map(source).collect()
}

/// What an item says, as [`Likened::said`].
fn said(item: &ProjectItem) -> String {
    Likened::new(item.words(), Vec::new()).said().to_owned()
}

/// What a run has read: its documents, but those with a warning that they were not read as a whole, and the recordings that it
/// quotes. A recording in which it found nothing at all may not have been transcribed when it began.
#[must_use]
pub fn read_scope(run: &Run, result: &mut PipelineResult) -> ReadScope {
    let is_harmless = |warning: &&Warning| {
        let code = warning.code.as_str();
        code == Warning::HIDDEN_TEXT || code == Warning::ADDRESSES_MACHINE
    };
    let in_part = result.warnings.iter().filter(|warning| !is_harmless(warning));
    let in_part: HashSet<Uuid> = in_part.filter_map(|warning| warning.source_id.as_ref()?.parse().ok()).collect();
    let mut sources: HashSet<Uuid> = run.document_ids.iter().map(|id| id.uuid()).collect();
    if run.meeting_id.is_some_and(|id| !in_part.contains(&id.uuid())) {
        let cited = result.citations().filter(|citation| citation.kind == SourceKind::Recording);
        sources.extend(cited.filter_map(|citation| citation.source_id.parse::<Uuid>().ok()));
    }
    sources.retain(|id| !in_part.contains(id));
    let is_whole = result.warnings.iter().all(|warning| warning.code != Warning::TOO_MANY_ITEMS);
    ReadScope { sources, is_whole }
}
