//! Operations on proposals, one function each.

use std::collections::HashSet;

use actors::ids::{self, Id};
use actors::live::{EventRecord, RequestId};
use uuid::Uuid;

use super::ProjectProposal;
use super::bodies::Filter;
use super::model::{Proposal, ProposalKind, ProposalStatus};
use super::store::{self, StoredProposal};
use crate::access::principal::Caller;
use crate::analysis::changes::{ItemChanges, MAX_FOLLOWERS};
use crate::analysis::items::model::{RevisionSource, WorkflowStatus};
use crate::analysis::items::project_item::{ProjectItem, ReferenceKind};
use crate::analysis::items::store::change::find_to_change;
use crate::analysis::items::store::{FoundKeys, item_of};
use crate::analysis::state::Analysis;
use crate::analysis::trail::decider;
use crate::analysis::trail::model::{ApprovalAction, ItemDecision};
use crate::db::{Conn, DbError};
use crate::http::answer::CountedAnswer;
use crate::http::budget::Share;
use crate::http::code::Code;
use crate::http::envelope::{List, Reply};
use crate::http::error::ApiError;
use crate::http::list::Listing;
use crate::projects;
use crate::projects::model::Project;

/// Lists a project's proposals, newest first.
///
/// # Errors
/// Only database errors, 503 if the client holds too many bytes already, or 500 for a stored item that cannot be deserialized.
pub async fn list(
    state: &Analysis,
    project_id: Id<ids::Project>,
    listing: Listing<Filter>,
    mut share: Share,
) -> Result<CountedAnswer<List<Proposal>>, ApiError> {
    let found = state.db.read(move |conn| {
        Box::pin(async move {
            let page = store::list(conn, project_id, listing, &mut share).await?;
            Ok((page, share))
        })
    });
    let (found, share) = found.await.map_err(|failed: DbError| ApiError::from(failed))?;
    Ok(CountedAnswer { reply: Reply::ok(found.try_map(StoredProposal::shown)?), share })
}

/// Accepts a proposal: adds the item, replaces its content, or rejects it. `version` is that of the item.
///
/// # Errors
/// 412 for a stale version; 409 for a proposal that is not open any more, an item that has changed since (unless `version` is
/// its present one), and in an archived project.
pub async fn accept(
    state: &Analysis,
    proposal: ProjectProposal,
    caller: Caller,
    version: Option<i64>,
    request: RequestId,
) -> Result<Proposal, ApiError> {
    let ProjectProposal { project_id, id } = proposal;
    let now = state.now();
    let accepted = state.db.write(move |conn| {
        Box::pin(async move {
            let (project, proposal) = find_to_decide(conn, project_id, id).await?;
            let target = match proposal.kind {
                ProposalKind::New => None,
                ProposalKind::Changed | ProposalKind::Gone => {
                    find_to_change(conn, project_id, proposal.item_id).await?
                }
            };
            let present = target.as_ref().map(ProjectItem::version);
            if version.is_some() && version != present {
                return Err(ApiError::of(Code::PRECONDITION_FAILED));
            }
            must_be_open(&project, &proposal)?;
            if version.is_none() && present != proposal.target_version {
                let changed =
                    "The item has changed since this was proposed. Read it again, and send its version in If-Match.";
                return Err(ApiError::with_message(Code::INVALID_STATE, changed));
            }
            let changes = ItemChanges::new(project_id, decider(conn, caller).await?, now);
            apply(conn, project_id, proposal, target, changes, &request).await
        })
    });
    let (accepted, records) = accepted.await?;
    state.hub.publish(records);
    Ok(accepted)
}

/// Dismisses a proposal. The item stays as it is, and the same is not proposed again.
///
/// # Errors
/// 409 for a proposal that is not open any more, and in an archived project.
pub async fn dismiss(state: &Analysis, proposal: ProjectProposal) -> Result<Proposal, ApiError> {
    let ProjectProposal { project_id, id } = proposal;
    let dismissed = state.db.write(move |conn| {
        Box::pin(async move {
            let (project, proposal) = find_to_decide(conn, project_id, id).await?;
            must_be_open(&project, &proposal)?;
            let dismissed = StoredProposal { status: ProposalStatus::Dismissed, ..proposal };
            store::decide(conn, &dismissed).await?;
            Ok::<_, ApiError>(dismissed.shown()?)
        })
    });
    dismissed.await
}

/// Locks the project, so that what is accepted at the same time sees each other, and the proposal.
async fn find_to_decide(
    conn: &mut Conn,
    project_id: Id<ids::Project>,
    id: Id<Proposal>,
) -> Result<(Project, StoredProposal), ApiError> {
    let gone = || ApiError::of(Code::NOT_FOUND);
    let project = projects::store::find_to_change(conn, project_id).await?.ok_or_else(gone)?;
    let proposal = store::find_to_decide(conn, project_id, id).await?.ok_or_else(gone)?;
    Ok((project, proposal))
}

fn must_be_open(project: &Project, proposal: &StoredProposal) -> Result<(), ApiError> {
    let why = match proposal.status {
        ProposalStatus::Open => return projects::must_be_active(project),
        ProposalStatus::Accepted => "The proposal was accepted.",
        ProposalStatus::Dismissed => "The proposal was dismissed.",
        ProposalStatus::Superseded => "A later run or import had a say about the same item.",
    };
    Err(ApiError::with_message(Code::INVALID_STATE, why))
}

/// Applies an open proposal. Returns it as accepted, with the events.
async fn apply(
    conn: &mut Conn,
    project_id: Id<ids::Project>,
    proposal: StoredProposal,
    target: Option<ProjectItem>,
    mut changes: ItemChanges,
    request: &RequestId,
) -> Result<(Proposal, Vec<EventRecord>), ApiError> {
    let now = changes.now();
    let keys = FoundKeys { text: proposal.text_key.clone(), content: proposal.content_key.clone() };
    // What a file says of an item is no finding of the analysis: the next run compares with what it last found itself.
    let (author, found) = match proposal.import_id {
        Some(_) => (RevisionSource::HumanEdited, None),
        None => (RevisionSource::AiRegenerated, Some(keys.clone())),
    };
    let proposed = proposal.after.as_deref().map(|body| item_of(proposal.target, body)).transpose()?;
    let decision = ItemDecision::of(ApprovalAction::AcceptProposal);
    let incomplete = || DbError::Broken(format!("the proposal {} can't be accepted: it lacks an item", proposal.id));
    let (before, after) = match (proposal.kind, target, proposed) {
        (ProposalKind::New, _, Some(proposed)) => {
            let (proposed, missing) = without_missing(conn, project_id, proposed).await?;
            let added = changes.add(conn, proposed, keys).await?;
            let there = || ApiError::with_message(Code::INVALID_STATE, "The item was added in the meantime.");
            let added = added.ok_or_else(there)?;
            store::link(conn, project_id, added.id(), missing).await?;
            for (from, reference) in store::references_to(conn, project_id, proposal.item_id, MAX_FOLLOWERS).await? {
                changes.refer(conn, from, reference, added.id()).await?;
            }
            (None, Some(added))
        }
        (ProposalKind::Changed, Some(target), Some(proposed)) => {
            let (proposed, missing) = without_missing(conn, project_id, proposed).await?;
            let after = target.with_content(proposed, author, now).ok_or_else(incomplete)?;
            changes.change(conn, &target, &after, found, decision).await?;
            store::link(conn, project_id, after.id(), missing).await?;
            (Some(target), Some(after))
        }
        (ProposalKind::Gone, Some(target), None) => {
            changes
                .change(conn, &target, &target.clone().judged(WorkflowStatus::Rejected, now), None, decision)
                .await?;
            (Some(target), None)
        }
        _ => return Err(incomplete().into()),
    };
    let body = |item: Option<&ProjectItem>| item.map(serde_json::to_string).transpose().map_err(ApiError::internal);
    let accepted = StoredProposal {
        status: ProposalStatus::Accepted,
        before: body(before.as_ref())?,
        after: body(after.as_ref())?,
        ..proposal
    };
    store::decide(conn, &accepted).await?;
    let records = changes.finish(conn, request).await?;
    Ok((accepted.shown()?, records))
}

/// Removes the references to requirements that do not exist. Returns them too: they are added when what they refer to is
/// accepted.
async fn without_missing(
    conn: &mut Conn,
    project_id: Id<ids::Project>,
    mut item: ProjectItem,
) -> Result<(ProjectItem, Vec<(ReferenceKind, Uuid)>), DbError> {
    let mut missing = item.references();
    let referred: Vec<Uuid> = missing.iter().map(|(_, id)| *id).collect();
    let existing: HashSet<Uuid> = store::existing_items(conn, project_id, referred).await?;
    item.retain_references(|id| existing.contains(id));
    missing.retain(|(_, id)| !existing.contains(id));
    Ok((item, missing))
}
