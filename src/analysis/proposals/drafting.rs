//! Plans what becomes of the findings of a run, with what the project has: its touched items, and the proposals of earlier
//! runs. Everything is read page by page.

use std::collections::{HashMap, HashSet};

use actors::ids::Id;
use actors::run::Run;
use pipeline::result::{Citation, Warning};
use pipeline::{PipelineResult, SourceKind};
use uuid::Uuid;

use super::matching::{Likened, SourcePlace};
use super::model::{Proposal, ProposalKind};
use super::planning::{self, FoundText, KindPlan, KnownItem, OpenProposal, PastProposals, ReadScope, ReviewedItem};
use super::store::drafts::{self as store, PastProposal};
use crate::analysis::items::content_key::content_key;
use crate::analysis::items::model::{SourceReference, WorkflowStatus};
use crate::analysis::items::project_item::ProjectItem;
use crate::analysis::items::store as results;
use crate::analysis::items::store::Item;
use crate::db::{Db, DbError};
use crate::projects::item_kind::ItemKind;

/// How many rows are read at once.
const PAGE: i64 = 200;

/// A run over a project whose items people have begun to review.
pub struct ReviewedProject<'a> {
    pub db: &'a Db,
    pub run: &'a Run,
    pub scope: ReadScope,
}

impl ReviewedProject<'_> {
    /// Plans for the findings of one kind; `known` are the items that have their words.
    ///
    /// # Errors
    /// Only database errors.
    pub async fn plan(
        &self,
        kind: ItemKind,
        findings: Vec<FoundText>,
        known: &HashMap<String, Item>,
    ) -> Result<KindPlan, DbError> {
        let known: HashMap<String, KnownItem> = known
            .iter()
            .map(|(key, item)| Ok((key.clone(), known_item(kind, item)?)))
            .collect::<Result<_, DbError>>()?;
        let (reviewed, past) = (self.reviewed(kind).await?, self.past(kind).await?);
        let scope = self.scope.clone();
        let planned = tokio::task::spawn_blocking(move || {
            let mut new_id = || Id::<()>::generate().uuid();
            planning::plan(&findings, &known, &reviewed, &past, &scope, &mut new_id)
        });
        planned.await.map_err(|error| DbError::Broken(error.to_string()))
    }

    async fn reviewed(&self, kind: ItemKind) -> Result<Vec<ReviewedItem>, DbError> {
        let (mut after, mut reviewed) = (Id::from_uuid(Uuid::nil()), Vec::new());
        let project_id = self.run.project_id;
        loop {
            let read =
                self.db.read(move |conn| Box::pin(results::touched(conn, project_id, kind, after, PAGE))).await?;
            let Some(last) = read.last() else { return Ok(reviewed) };
            after = last.id;
            for Item { body, .. } in read {
                let item = results::item_of(kind, &body)?;
                reviewed.push(ReviewedItem {
                    id: item.id(),
                    likened: likened(&item),
                    sources: sources(&item),
                    is_rejected: item.workflow_status() == WorkflowStatus::Rejected,
                });
            }
        }
    }

    async fn past(&self, kind: ItemKind) -> Result<PastProposals, DbError> {
        let (mut after, mut past) = (Id::<Proposal>::from_uuid(Uuid::nil()), PastProposals::default());
        let project_id = self.run.project_id;
        loop {
            let read =
                self.db.read(move |conn| Box::pin(store::undecided_or_dismissed(conn, project_id, kind, after, PAGE)));
            let read = read.await?;
            let Some(last) = read.last() else { return Ok(past) };
            after = last.id;
            let mut rests_on = self.sources_of_new(kind, &read).await?;
            for PastProposal { id, item_id, kind, is_open, text_key, content_key } in read {
                if is_open {
                    let (id, sources) = (id.uuid(), rests_on.remove(&id).unwrap_or_default());
                    past.open.push(OpenProposal { id, item_id, kind, text_key, sources });
                    continue;
                }
                match kind {
                    ProposalKind::New => drop(past.dismissed_texts.insert(text_key)),
                    ProposalKind::Changed => drop(past.dismissed_changes.insert((item_id, content_key))),
                    ProposalKind::Gone => drop(past.kept.insert(item_id)),
                }
            }
        }
    }

    /// What the open NEW ones among some proposals rest on.
    async fn sources_of_new(
        &self,
        kind: ItemKind,
        some: &[PastProposal],
    ) -> Result<HashMap<Id<Proposal>, HashSet<Uuid>>, DbError> {
        let is_new = |past: &&PastProposal| past.is_open && past.kind == ProposalKind::New;
        let ids: Vec<Id<Proposal>> = some.iter().filter(is_new).map(|past| past.id).collect();
        let bodies = self.db.read(move |conn| Box::pin(store::after_bodies(conn, ids))).await?;
        let sources = bodies.into_iter().filter_map(|(id, body)| Some((id, body?))).map(|(id, body)| {
            let item = results::item_of(kind, &body)?;
            Ok((id, sources(&item)))
        });
        sources.collect()
    }
}

fn known_item(kind: ItemKind, item: &Item) -> Result<KnownItem, DbError> {
    let content_key = match item.content_key.as_str() {
        "" => content_key(&results::item_of(kind, &item.body)?),
        content_key => content_key.to_owned(),
    };
    Ok(KnownItem { id: item.id.uuid(), is_touched: item.touched, content_key })
}

fn sources(item: &ProjectItem) -> HashSet<Uuid> {
    let source = |source: &SourceReference| source.document_id.or(source.recording_id);
    item.sources().iter().filter_map(source).collect()
}

/// The words and places of an item, to be compared with findings.
fn likened(item: &ProjectItem) -> Likened {
    let place = |source: &SourceReference| {
        let offsets = (source.start_offset, source.end_offset);
        SourcePlace::at(source.document_id.or(source.recording_id)?, offsets, source.start_ms.zip(source.end_ms))
    };
    Likened::new(item.words(), item.sources().iter().filter_map(place).collect())
}

/// What a run has read: its documents, but those with a warning that they were not read as a whole, and the recordings that it
/// quotes. A recording in which it found nothing at all may not have been transcribed when it began.
#[must_use]
pub fn read_scope(run: &Run, result: &PipelineResult) -> ReadScope {
    let is_harmless = |warning: &&Warning| {
        let code = warning.code.as_str();
        code == Warning::HIDDEN_TEXT || code == Warning::ADDRESSES_MACHINE
    };
    let in_part = result.warnings.iter().filter(|warning| !is_harmless(warning));
    let in_part: HashSet<Uuid> = in_part.filter_map(|warning| warning.source_id.as_ref()?.parse().ok()).collect();
    let mut sources: HashSet<Uuid> = run.document_ids.iter().map(|id| id.uuid()).collect();
    if run.meeting_id.is_some_and(|id| !in_part.contains(&id.uuid())) {
        let spoken = |citation: &&Citation| citation.kind == SourceKind::Recording;
        let requirements = result.requirements.iter().flat_map(|found| &found.sources);
        let stories = result.user_stories.iter().flat_map(|found| &found.sources);
        let cited = requirements.chain(stories).filter(spoken);
        sources.extend(cited.filter_map(|citation| citation.source_id.parse::<Uuid>().ok()));
    }
    sources.retain(|id| !in_part.contains(id));
    let is_whole = result.warnings.iter().all(|warning| warning.code != Warning::TOO_MANY_ITEMS);
    ReadScope { sources, is_whole }
}
