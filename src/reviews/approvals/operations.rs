//! Operations of approval, one function each.

use actors::ids::{self, Id};
use actors::live::{EventRecord, RequestId};
use actors::time::Time;
use uuid::Uuid;

use super::TargetItem;
use super::bodies::{BulkItem, SignatureInput};
use super::model::{BulkResult, StatusDecision};
use crate::access::principal::Caller;
use crate::accounts::profile::proof;
use crate::analysis::changes::ItemChanges;
use crate::analysis::items::edits::{RequirementEdit, StoryEdit};
use crate::analysis::items::model::WorkflowStatus;
use crate::analysis::items::project_item::ProjectItem;
use crate::analysis::trail::decider;
use crate::analysis::trail::model::{ApprovalAction, ItemDecision, Signature, SignatureMethod};
use crate::db::Conn;
use crate::http::code::Code;
use crate::http::error::ApiError;
use crate::http::reason::Reason;
use crate::reviews::state::Reviews;
use crate::{analysis, projects};

/// The edit of an item, of its kind.
#[derive(Debug, Clone)]
pub enum ItemEdit {
    Requirement(RequirementEdit),
    UserStory(StoryEdit),
}

/// Verifies who signs: by the password, or by a recent sign-in where the account has none.
///
/// # Errors
/// 422 on `signature.password`; 403 `RecentLoginRequired`; 429 after too many wrong passwords.
pub async fn sign(
    state: &Reviews,
    caller: Caller,
    signature: Option<SignatureInput>,
) -> Result<Option<Signature>, ApiError> {
    let Some(SignatureInput { meaning, password }) = signature else { return Ok(None) };
    let method = if password.is_some() { SignatureMethod::Password } else { SignatureMethod::Provider };
    proof::owner(&state.accounts, caller, password, "signature.password").await?;
    Ok(Some(Signature { meaning, method }))
}

/// Decides about the status of an item.
///
/// # Errors
/// 412 for a stale version; 409 for a state that does not take the decision, and in an archived project; 422 without the
/// signature that the project asks for.
pub async fn judge(
    state: &Reviews,
    item: TargetItem,
    caller: Caller,
    verdict: StatusDecision,
    version: Option<i64>,
    request: RequestId,
) -> Result<ProjectItem, ApiError> {
    let now = state.now();
    verdict.must_be_timely(now)?;
    let judged = state.db.write(move |conn| {
        Box::pin(async move {
            let mut changes = begin(conn, item.project_id, caller, now, signs(&verdict)).await?;
            let before = find_to_change(conn, item, version).await?;
            let (after, decision) = verdict.apply(&before, now).ok_or_else(|| refused(&before, verdict.status))?;
            changes.change(conn, &before, &after, None, decision).await?;
            Ok::<_, ApiError>((after, changes.finish(conn, &request).await?))
        })
    });
    let (after, records) = judged.await?;
    state.hub.publish(records);
    Ok(after)
}

/// Edits the content of an item, and with `verdict` approves it at once. An edit that changes nothing is none: with a
/// verdict, it is the approval alone.
///
/// # Errors
/// As [`judge`].
pub async fn edit(
    state: &Reviews,
    item: TargetItem,
    caller: Caller,
    (edit, verdict): (ItemEdit, Option<StatusDecision>),
    version: Option<i64>,
    request: RequestId,
) -> Result<ProjectItem, ApiError> {
    let now = state.now();
    let edited = state.db.write(move |conn| {
        Box::pin(async move {
            let mut changes =
                begin(conn, item.project_id, caller, now, verdict.as_ref().map_or(Signs::No, signs)).await?;
            let before = find_to_change(conn, item, version).await?;
            let edited = edit.apply(&before, now)?;
            let is_same = edited == before;
            let (after, decision) = match verdict {
                None if is_same => return Ok((before, Vec::new())),
                None => (edited, ItemDecision::of(ApprovalAction::Edit)),
                Some(verdict) => {
                    let (after, decision) =
                        verdict.apply(&edited, now).ok_or_else(|| refused(&before, verdict.status))?;
                    let action = if is_same { decision.action } else { ApprovalAction::EditAndApprove };
                    // The edit and its approval are one change.
                    (after.at_version(before.version() + 1), ItemDecision { action, ..decision })
                }
            };
            changes.change(conn, &before, &after, None, decision).await?;
            Ok::<_, ApiError>((after, changes.finish(conn, &request).await?))
        })
    });
    let (after, records): (ProjectItem, Vec<EventRecord>) = edited.await?;
    state.hub.publish(records);
    Ok(after)
}

impl ItemEdit {
    fn apply(&self, item: &ProjectItem, now: Time) -> Result<ProjectItem, ApiError> {
        let new_id = || Id::<()>::generate().uuid();
        match (self, item) {
            (Self::Requirement(edit), ProjectItem::Requirement(own)) => {
                edit.apply(own, now).map(ProjectItem::Requirement)
            }
            (Self::UserStory(edit), ProjectItem::UserStory(own)) => {
                Ok(ProjectItem::UserStory(edit.apply(own, now, new_id)))
            }
            _ => Err(ApiError::of(Code::NOT_FOUND)),
        }
    }
}

/// Decides about the status of many items in one transaction, each for itself: what does not take the decision is named, and
/// hinders no other.
///
/// # Errors
/// 409 in an archived project; 422 without the signature that the project asks for.
pub async fn judge_many(
    state: &Reviews,
    project_id: Id<ids::Project>,
    caller: Caller,
    (items, verdict): (Vec<BulkItem>, StatusDecision),
    request: RequestId,
) -> Result<Vec<BulkResult>, ApiError> {
    let now = state.now();
    verdict.must_be_timely(now)?;
    let judged = state.db.write(move |conn| {
        Box::pin(async move {
            let mut changes = begin(conn, project_id, caller, now, signs(&verdict)).await?;
            let mut results = Vec::with_capacity(items.len());
            for BulkItem { target_type, id, version } in items {
                let found = analysis::items::store::change::find_to_change(conn, project_id, id).await?;
                let found = found.filter(|item| item.kind() == target_type);
                let judged = judged_one(found.as_ref(), &verdict, version, now);
                if let (Some(before), Ok((after, decision))) = (&found, &judged) {
                    changes.change(conn, before, after, None, decision.clone()).await?;
                }
                results.push(BulkResult::new(id, found.as_ref(), judged.err()));
            }
            Ok::<_, ApiError>((results, changes.finish(conn, &request).await?))
        })
    });
    let (results, records) = judged.await?;
    state.hub.publish(records);
    Ok(results)
}

fn judged_one(
    item: Option<&ProjectItem>,
    verdict: &StatusDecision,
    version: Option<i64>,
    now: Time,
) -> Result<(ProjectItem, ItemDecision), Code> {
    let item = item.ok_or(Code::NOT_FOUND)?;
    if version.is_some_and(|version| version != item.version()) {
        return Err(Code::PRECONDITION_FAILED);
    }
    verdict.apply(item, now).ok_or(Code::INVALID_STATE)
}

/// Whether a decision is an approval, and signed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signs {
    No,
    Signed,
    Unsigned,
}

fn signs(verdict: &StatusDecision) -> Signs {
    match (verdict.status, verdict.signature) {
        (WorkflowStatus::Approved, Some(_)) => Signs::Signed,
        (WorkflowStatus::Approved, None) => Signs::Unsigned,
        _ => Signs::No,
    }
}

/// Locks the project, so that decisions in it are made one after the other.
///
/// # Errors
/// 404 for a project that was deleted in the meantime; 409 for an archived one; 422 without the signature that it asks for.
pub async fn begin(
    conn: &mut Conn,
    project_id: Id<ids::Project>,
    caller: Caller,
    now: Time,
    signs: Signs,
) -> Result<ItemChanges, ApiError> {
    let project = projects::store::find_to_change(conn, project_id).await?;
    let project = project.ok_or_else(|| ApiError::of(Code::NOT_FOUND))?;
    projects::must_be_active(&project)?;
    if project.signed_approvals && signs == Signs::Unsigned {
        let sentence = "This project asks for a signature with each approval.";
        return Err(ApiError::field("signature", Reason::Required, sentence));
    }
    Ok(ItemChanges::new(project_id, decider(conn, caller).await?, now))
}

/// The item, for a change of this version.
///
/// # Errors
/// 404 for an item that was deleted in the meantime; 412 for a stale version.
pub async fn find_to_change(conn: &mut Conn, item: TargetItem, version: Option<i64>) -> Result<ProjectItem, ApiError> {
    let found = analysis::items::store::change::find_to_change(conn, item.project_id, item.id).await?;
    let found = found.filter(|found| found.kind() == item.kind);
    let found = found.ok_or_else(|| ApiError::of(Code::NOT_FOUND))?;
    if version.is_some_and(|version| version != found.version()) {
        return Err(ApiError::of(Code::PRECONDITION_FAILED));
    }
    Ok(found)
}

fn refused(item: &ProjectItem, status: WorkflowStatus) -> ApiError {
    let message = format!("{} is {}; it can't become {status} from there.", item.code(), item.workflow_status());
    ApiError::with_message(Code::INVALID_STATE, message)
}

impl BulkResult {
    fn new(id: Id<()>, item: Option<&ProjectItem>, error: Option<Code>) -> Self {
        let id: Uuid = id.uuid();
        let code = item.map(|item| item.code().to_owned());
        Self { id, code, ok: error.is_none(), error_code: error.map(|code| code.name.to_owned()) }
    }
}
