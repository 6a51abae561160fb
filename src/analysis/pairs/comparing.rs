//! Compares the requirements of a project with each other, whatever run or person they came from, and has the pairs and the
//! requirements say what was found. Idempotent: the same requirements give the same pairs.

use std::collections::HashMap;
use std::time::Duration;

use actors::event_kind::EventKind;
use actors::ids::{self, Id};
use actors::live::{EventRecord, RequestId};
use async_trait::async_trait;
use pipeline::engine::claims::{ComparedStatement, claims};
use pipeline::engine::requirement_key;
use pipeline::glossary::ProjectTerms;
use pipeline::loop_control::LoopControl;
use pipeline::request::CancelToken;
use tokio::task::spawn_blocking;
use uuid::Uuid;

use super::claimed::{ComparedRequirement, PairPlan, plan};
use super::links::{LinkedItem, PairLink, linked, links_of};
use super::model::PairsChanged;
use super::store::{self, StoredPair};
use crate::analysis::changes::item_changed;
use crate::analysis::items::comparing::{CompareRequirements, enqueue_noted};
use crate::analysis::items::model::{Requirement, WorkflowStatus};
use crate::analysis::items::project_item::ProjectItem;
use crate::analysis::items::store::change::{find_to_change, relink};
use crate::analysis::items::store::{self as items, comparing, item_of};
use crate::analysis::state::Analysis;
use crate::db::{Conn, DbError, events};
use crate::jobs::{Handler, Job, JobError};
use crate::projects;
use crate::projects::events::topic;
use crate::projects::item_kind::ItemKind;

/// How many requirements are read at once.
const PAGE: i64 = 500;
/// How many pairs, or requirements, are written in one transaction.
const AT_ONCE: usize = 200;
/// How many requirements are announced one by one: the event of the pairs says to read them all again.
const MAX_ANNOUNCED: usize = 200;

/// Runs [`CompareRequirements`].
pub struct CompareRequirementsHandler {
    pub state: Analysis,
}

#[async_trait]
impl Handler for CompareRequirementsHandler {
    type Payload = CompareRequirements;

    fn concurrency(&self) -> usize {
        1
    }

    /// It goes through the requirements of one project: each is compared with a bounded number of others.
    fn time_limit(&self) -> Duration {
        Duration::from_secs(10 * 60)
    }

    async fn run(&self, job: &Job, CompareRequirements { project_id }: CompareRequirements) -> Result<(), JobError> {
        self.state.db.write(move |conn| Box::pin(comparing::forget(conn, project_id))).await?;
        let present = self.requirements(project_id).await?;
        let stored = self.state.db.read(move |conn| Box::pin(store::all(conn, project_id))).await?;
        let now = self.state.now();
        let compared = spawn_blocking(move || {
            let stands: Vec<&PresentRequirement> = present.iter().filter(|one| !one.is_rejected).collect();
            let statements: Vec<ComparedStatement<'_>> = stands
                .iter()
                .map(|one| ComparedStatement { statement: &one.requirement.statement, source: &one.source })
                .collect();
            let control = LoopControl::new(CancelToken::new());
            let claims =
                claims(&ProjectTerms::default(), &statements, &control).map_err(|_| "it was halted".to_owned())?;
            let items: Vec<ComparedRequirement> = stands.iter().map(|one| one.compared()).collect();
            let plan = plan(project_id, &items, &claims, stored.clone(), now);
            let links = unlinked(&present, &stored, &plan);
            Ok::<_, String>((plan, links))
        });
        let (plan, links) = compared.await.map_err(|error| error.to_string())??;
        let is_same = plan.is_empty() && links.is_empty();
        self.save(project_id, plan).await?;
        self.link(project_id, links, &job.request).await?;
        if !is_same {
            self.announce(project_id, &job.request).await?;
        }
        Ok(())
    }
}

/// A requirement of the project, with what is compared of it.
struct PresentRequirement {
    /// Without its sources.
    requirement: Requirement,
    is_rejected: bool,
    /// Its first document or recording.
    source: String,
}

impl PresentRequirement {
    fn of(mut requirement: Requirement) -> Self {
        let source = requirement.sources.first().and_then(|source| source.document_id.or(source.recording_id));
        requirement.sources = Vec::new();
        let is_rejected = requirement.workflow_status == WorkflowStatus::Rejected;
        Self { is_rejected, source: source.unwrap_or_default().to_string(), requirement }
    }

    fn compared(&self) -> ComparedRequirement {
        ComparedRequirement {
            id: Id::from_uuid(self.requirement.id),
            key: requirement_key(&self.requirement.statement),
            run_id: self.requirement.run_id,
        }
    }
}

/// Returns the requirements that do not say what their pairs are, with how they are linked.
fn unlinked(present: &[PresentRequirement], stored: &[StoredPair], plan: &PairPlan) -> Vec<(Uuid, Vec<PairLink>)> {
    let changed: HashMap<_, &StoredPair> = plan.changed.iter().map(|(was, is)| (was.id, is)).collect();
    let kept = stored.iter().filter(|pair| !plan.dropped.contains(&pair.id));
    let kept = kept.map(|pair| changed.get(&pair.id).copied().unwrap_or(pair));
    let standing = present.iter().filter(|one| !one.is_rejected).map(|one| &one.requirement);
    let standing: HashMap<Uuid, LinkedItem> = standing.map(|one| (one.id, LinkedItem::of(one))).collect();
    let mut links = links_of(kept.chain(&plan.new), &standing);
    let own = present.iter().filter_map(|one| {
        let links = links.remove(&one.requirement.id).unwrap_or_default();
        linked(&one.requirement, &links).map(|_| (one.requirement.id, links))
    });
    own.collect()
}

impl CompareRequirementsHandler {
    /// The requirements of a project, in the order of their numbers.
    async fn requirements(&self, project_id: Id<ids::Project>) -> Result<Vec<PresentRequirement>, DbError> {
        let (mut all, mut after) = (Vec::new(), 0);
        loop {
            let page = self
                .state
                .db
                .read(move |conn| Box::pin(items::after(conn, project_id, ItemKind::Requirement, after, PAGE)));
            let page = page.await?;
            let Some(last) = page.last() else { return Ok(all) };
            after = last.number;
            for item in page {
                if let ProjectItem::Requirement(requirement) = item_of(ItemKind::Requirement, &item.body)? {
                    all.push(PresentRequirement::of(requirement));
                }
            }
        }
    }

    /// Writes down what became of the pairs, some at a time.
    async fn save(&self, project_id: Id<ids::Project>, plan: PairPlan) -> Result<(), DbError> {
        for some in plan.dropped.chunks(AT_ONCE) {
            let some = some.to_vec();
            self.state.db.write(move |conn| Box::pin(async move { store::delete_open(conn, &some).await })).await?;
        }
        for some in plan.changed.chunks(AT_ONCE) {
            let some = some.to_vec();
            let written = self.state.db.write(move |conn| {
                Box::pin(async move {
                    for (was, is) in &some {
                        store::replace(conn, was, is).await?;
                    }
                    Ok::<_, DbError>(())
                })
            });
            written.await?;
        }
        for some in plan.new.chunks(AT_ONCE) {
            let some = some.to_vec();
            let written = self.state.db.write(move |conn| {
                Box::pin(async move {
                    // A requirement may have been deleted meanwhile, by the undoing of its run: under the lock of the project.
                    if projects::store::find_to_change(conn, project_id).await?.is_none() {
                        return Ok(());
                    }
                    let both = some.iter().flat_map(|pair| [pair.first_id.uuid(), pair.second_id.uuid()]).collect();
                    let there = items::find_many(conn, project_id, both).await?;
                    let is_there = |id: Id<()>| there.iter().any(|item| item.id == id);
                    let pairs: Vec<StoredPair> =
                        some.into_iter().filter(|pair| is_there(pair.first_id) && is_there(pair.second_id)).collect();
                    store::insert(conn, &pairs).await
                })
            });
            written.await?;
        }
        Ok(())
    }

    /// Has requirements say what their pairs are, some at a time.
    async fn link(
        &self,
        project_id: Id<ids::Project>,
        links: Vec<(Uuid, Vec<PairLink>)>,
        request: &RequestId,
    ) -> Result<(), DbError> {
        let (mut announced, now) = (0, self.state.now());
        for some in links.chunks(AT_ONCE) {
            let (some, request) = (some.to_vec(), request.clone());
            let most = MAX_ANNOUNCED - announced;
            let written = self.state.db.write(move |conn| {
                Box::pin(async move {
                    let mut records = Vec::new();
                    if projects::store::find_to_change(conn, project_id).await?.is_none() {
                        return Ok(records);
                    }
                    for (id, links) in some {
                        let found = find_to_change(conn, project_id, Id::from_uuid(id)).await?;
                        let Some(ProjectItem::Requirement(requirement)) = found else { continue };
                        let Some(is) = linked(&requirement, &links) else { continue };
                        relink(conn, &ProjectItem::Requirement(is)).await?;
                        if records.len() < most {
                            records
                                .push(item_changed(conn, project_id, ItemKind::Requirement, id, now, &request).await?);
                        }
                    }
                    Ok::<_, DbError>(records)
                })
            });
            let records: Vec<EventRecord> = written.await?;
            announced += records.len();
            self.state.hub.publish(records);
        }
        Ok(())
    }

    async fn announce(&self, project_id: Id<ids::Project>, request: &RequestId) -> Result<(), DbError> {
        let (request, now) = (request.clone(), self.state.now());
        let appended = self
            .state
            .db
            .write(move |conn| Box::pin(async move { pairs_changed(conn, project_id, now, &request).await }));
        self.state.hub.publish(appended.await?.into_iter().collect());
        Ok(())
    }
}

/// Appends the event that says to read the pairs again. `None` for a project that was deleted.
///
/// # Errors
/// Only database errors.
pub async fn pairs_changed(
    conn: &mut Conn,
    project_id: Id<ids::Project>,
    now: actors::time::Time,
    request: &RequestId,
) -> Result<Option<EventRecord>, DbError> {
    if projects::store::find_to_change(conn, project_id).await?.is_none() {
        return Ok(None);
    }
    let data =
        serde_json::to_string(&PairsChanged { project_id }).map_err(|error| DbError::Broken(error.to_string()))?;
    events::append(conn, topic(project_id), EventKind::PairsChanged, &data, now, request).await.map(Some)
}

/// Enqueues the comparison of the projects that were noted when no server ran: by the migration from a version without pairs, or by
/// a server that was killed.
///
/// # Errors
/// Only database errors.
pub async fn enqueue_all_noted(state: &Analysis) -> Result<(), DbError> {
    let mut after = Id::<ids::Project>::from_uuid(Uuid::nil());
    loop {
        let page = state.db.read(move |conn| Box::pin(comparing::noted(conn, after, PAGE))).await?;
        let Some(last) = page.last() else { return Ok(()) };
        after = *last;
        let now = state.now();
        let enqueued = state.db.write(move |conn| {
            Box::pin(async move {
                for project_id in page {
                    enqueue_noted(conn, project_id, now, &RequestId::from("startup")).await?;
                }
                Ok::<_, DbError>(())
            })
        });
        enqueued.await?;
    }
}
