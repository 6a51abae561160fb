//! The operations on feedback, one function each.

use actors::event_kind::EventKind;
use actors::ids::{self, Id};
use actors::live::{EventRecord, RequestId};
use actors::time::Time;
use uuid::Uuid;

use super::bodies::{Filter, UpdateFeedbackStatus};
use super::model::{
    Authorship, Feedback, FeedbackAuthor, FeedbackChanged, FeedbackComment, FeedbackTarget, FeedbackVerdict,
    StakeholderFeedback, StakeholderFeedbackStatus,
};
use super::{emails, store};
use crate::access::principal::Caller;
use crate::analysis::items::operations as results;
use crate::db::{Conn, DbError, events, rate_limits};
use crate::http::call_limits::rate;
use crate::http::code::Code;
use crate::http::envelope::List;
use crate::http::error::ApiError;
use crate::http::list::Listing;
use crate::http::patch::Patch;
use crate::http::reason::Reason;
use crate::jobs::mail::QueuedEmail;
use crate::projects::events::topic;
use crate::projects::item_kind::ItemKind;
use crate::projects::model::Project;
use crate::quotas::model::CountedKind;
use crate::reviews::access::{self, Reviewer};
use crate::reviews::invitations::model::{ProjectReviewPermission, ReviewInvitation};
use crate::reviews::invitations::shown::ReviewShown;
use crate::reviews::stakeholder_dashboard::model::FeedbackTargetType;
use crate::reviews::stakeholder_dashboard::operations::{review, review_of};
use crate::reviews::state::Reviews;
use crate::{accounts, projects};

/// Feedback as it was sent.
#[derive(Debug)]
pub struct SentFeedback {
    pub id: Id<Feedback>,
    pub target_type: FeedbackTargetType,
    pub target_id: Option<Uuid>,
    pub comment: FeedbackComment,
    pub verdict: Option<FeedbackVerdict>,
}

impl SentFeedback {
    /// Checks that the summary is named without an id, and anything else with one.
    ///
    /// # Errors
    /// 422.
    fn must_be_whole(&self) -> Result<(), ApiError> {
        match (self.target_type, self.target_id) {
            (FeedbackTargetType::Summary, Some(_)) => {
                Err(ApiError::field("targetId", Reason::InvalidValue, "The summary has no id: leave this out."))
            }
            (FeedbackTargetType::Summary, None) | (_, Some(_)) => Ok(()),
            (_, None) => Err(ApiError::field("targetId", Reason::Required, Reason::Required.sentence())),
        }
    }

    fn written(
        self,
        project_id: Id<ids::Project>,
        by: Authorship,
        author: FeedbackAuthor,
        code: Option<String>,
        now: Time,
    ) -> Feedback {
        Feedback {
            id: self.id,
            project_id,
            by,
            author,
            target: FeedbackTarget { target_type: self.target_type, item: self.target_id.zip(code) },
            comment: self.comment.0,
            verdict: self.verdict,
            status: StakeholderFeedbackStatus::Open,
            is_read: false,
            resolution_note: None,
            created_at: now,
            resolved_at: None,
        }
    }
}

/// Stores the feedback of a reviewer on something that they see. If the id exists already, returns that feedback.
///
/// # Errors
/// 403 for a VIEWER, and for a verdict of anybody but an APPROVER; 404 for an item that the reviewer does not see; 409 in
/// an archived project, and past the limit for one reviewer; 410 if the access has ended meanwhile.
pub async fn submit_as_reviewer(
    state: &Reviews,
    reviewer: Reviewer,
    sent: SentFeedback,
    request: RequestId,
) -> Result<StakeholderFeedback, ApiError> {
    let Reviewer { invitation, project } = reviewer;
    may_say(invitation.permission, sent.verdict)?;
    sent.must_be_whole()?;
    let code = match sent.target_id {
        Some(id) => Some(code_in_dashboard(state, &invitation, sent.target_type, id).await?),
        None => None,
    };
    let author = FeedbackAuthor { name: invitation.name().to_owned(), email: Some(invitation.email.clone()) };
    let by = Authorship::Reviewer(invitation.id);
    submit(state, sent.written(project.id, by, author, code, state.now()), request).await
}

fn may_say(permission: ProjectReviewPermission, verdict: Option<FeedbackVerdict>) -> Result<(), ApiError> {
    let forbidden = |sentence: &str| Err(ApiError::with_message(Code::FORBIDDEN, sentence));
    match permission {
        ProjectReviewPermission::Viewer => forbidden("Your invitation permits reading only."),
        ProjectReviewPermission::Commenter if verdict.is_some() => {
            forbidden("Your invitation permits comments, but no verdict.")
        }
        ProjectReviewPermission::Commenter | ProjectReviewPermission::Approver => Ok(()),
    }
}

/// Returns the code of an item that the reviewer sees.
async fn code_in_dashboard(
    state: &Reviews,
    invitation: &ReviewInvitation,
    target_type: FeedbackTargetType,
    id: Uuid,
) -> Result<String, ApiError> {
    let seen = review_of(state, invitation).await?;
    let target = seen.built.targets.get(&id).filter(|target| target.target_type == target_type);
    target.map(|target| target.code.clone()).ok_or_else(|| ApiError::of(Code::NOT_FOUND))
}

/// Stores the feedback of a member on something in the specification, or on an item of a run. If the id
/// exists already, returns that feedback.
///
/// # Errors
/// 404 for anything else; 409 in an archived project, and past the limit for one member.
pub async fn submit_as_member(
    state: &Reviews,
    caller: Caller,
    project: &Project,
    sent: SentFeedback,
    request: RequestId,
) -> Result<StakeholderFeedback, ApiError> {
    sent.must_be_whole()?;
    let code = match sent.target_id {
        Some(id) => Some(code_in_project(state, project.id, sent.target_type, id).await?),
        None => None,
    };
    let account = state.db.read(move |conn| Box::pin(accounts::store::account(conn, caller.user_id))).await;
    let account = account.map_err(|failed: DbError| ApiError::from(failed))?;
    let account = account.ok_or_else(|| ApiError::of(Code::UNAUTHORIZED))?;
    let author = FeedbackAuthor { name: account.full_name, email: Some(account.email) };
    let by = Authorship::Member(caller.user_id);
    submit(state, sent.written(project.id, by, author, code, state.now()), request).await
}

async fn code_in_project(
    state: &Reviews,
    project_id: Id<ids::Project>,
    target_type: FeedbackTargetType,
    id: Uuid,
) -> Result<String, ApiError> {
    let newest = review(state, project_id, ReviewShown::All).await?;
    let target = newest.built.targets.get(&id).filter(|target| target.target_type == target_type);
    if let Some(target) = target {
        return Ok(target.code.clone());
    }
    let kind = match target_type {
        FeedbackTargetType::Requirement => Some(ItemKind::Requirement),
        FeedbackTargetType::UserStory => Some(ItemKind::UserStory),
        _ => None,
    };
    let code = match kind {
        Some(kind) => results::code_of(&state.analysis, project_id, kind, id).await?,
        None => None,
    };
    code.ok_or_else(|| ApiError::of(Code::NOT_FOUND))
}

/// Stores feedback and tells the project's analysts.
async fn submit(state: &Reviews, feedback: Feedback, request: RequestId) -> Result<StakeholderFeedback, ApiError> {
    let most = state.config.limits.feedback_per_author;
    let (kind, owner, id) = (CountedKind::FeedbackOfProject, feedback.project_id.uuid(), feedback.id);
    let counted = state.quotas.count_unless_made(kind, owner, 1, move |conn| Box::pin(store::find(conn, id))).await?;
    let written = state.db.write(move |conn| {
        Box::pin(async move {
            let missing = || ApiError::of(Code::NOT_FOUND);
            // Locked, so that the limit holds for concurrent requests too.
            let project = projects::store::find_to_change(conn, feedback.project_id).await?.ok_or_else(missing)?;
            if let Some(made) = store::find(conn, feedback.id).await? {
                return Ok((made, None));
            }
            projects::must_be_active(&project)?;
            if let Authorship::Reviewer(id) = feedback.by {
                access::must_still_be_active(conn, id, feedback.created_at).await?;
            }
            if store::count(conn, project.id, &feedback.by).await? >= most {
                return Err(ApiError::of(Code::FEEDBACK_LIMIT_REACHED));
            }
            store::insert(conn, &feedback).await?;
            if let Authorship::Member(user_id) = feedback.by {
                // Read after a row refers to the account: from then on its deletion waits for this transaction.
                let account = accounts::store::account(conn, user_id).await?;
                account.ok_or_else(|| ApiError::of(Code::UNAUTHORIZED))?;
            }
            let record =
                record_event(conn, &feedback, EventKind::FeedbackSubmitted, feedback.created_at, &request).await?;
            Ok::<_, ApiError>((feedback, Some(record)))
        })
    });
    let (feedback, record) = written.await?;
    drop(counted);
    state.hub.publish(record.into_iter().collect());
    Ok(feedback.into())
}

async fn record_event(
    conn: &mut Conn,
    feedback: &Feedback,
    kind: EventKind,
    now: Time,
    request: &RequestId,
) -> Result<EventRecord, DbError> {
    let data = serde_json::to_string(&FeedbackChanged::of(feedback));
    let data = data.map_err(|error| DbError::Broken(error.to_string()))?;
    events::append(conn, topic(feedback.project_id), kind, &data, now, request).await
}

/// Lists feedback of a project, newest first; with `by`, only that of one reviewer.
///
/// # Errors
/// Only database errors.
pub async fn list(
    state: &Reviews,
    project_id: Id<ids::Project>,
    by: Option<Id<ReviewInvitation>>,
    listing: Listing<Filter>,
) -> Result<List<StakeholderFeedback>, ApiError> {
    let found = state.db.read(move |conn| Box::pin(store::list(conn, project_id, by, listing))).await;
    Ok(found.map_err(ApiError::from)?.map(StakeholderFeedback::from))
}

/// Changes the status, the mark as read, or the note of feedback. When it becomes RESOLVED or REJECTED, who wrote it is
/// told by e-mail, unless it is the caller.
///
/// # Errors
/// 409 for a status that can't follow the present one, and in an archived project.
pub async fn update_status(
    state: &Reviews,
    caller: Caller,
    id: Id<Feedback>,
    changes: UpdateFeedbackStatus,
    request: RequestId,
) -> Result<StakeholderFeedback, ApiError> {
    let (now, whole) = (state.now(), state.clone());
    let written = state.db.write(move |conn| {
        Box::pin(async move {
            let missing = || ApiError::of(Code::NOT_FOUND);
            let project_id = store::find(conn, id).await?.ok_or_else(missing)?.project_id;
            let project = projects::store::find_to_change(conn, project_id).await?.ok_or_else(missing)?;
            // Read again under the lock: another analyst may have changed it.
            let former = store::find(conn, id).await?.ok_or_else(missing)?;
            projects::must_be_active(&project)?;
            let feedback = changed(former.clone(), changes, now)?;
            if feedback == former {
                return Ok::<_, ApiError>((feedback, None));
            }
            store::update(conn, &feedback).await?;
            if feedback.status.is_decided() && !former.status.is_decided() {
                tell_author(&whole, conn, caller, &feedback, &project, now, &request).await?;
            }
            let record = record_event(conn, &feedback, EventKind::FeedbackUpdated, now, &request).await?;
            Ok((feedback, Some(record)))
        })
    });
    let (feedback, record) = written.await?;
    state.hub.publish(record.into_iter().collect());
    state.jobs.wake();
    Ok(feedback.into())
}

fn changed(mut feedback: Feedback, changes: UpdateFeedbackStatus, now: Time) -> Result<Feedback, ApiError> {
    let UpdateFeedbackStatus { status, is_read, resolution_note } = changes;
    if let Some(status) = status.filter(|status| *status != feedback.status) {
        if !feedback.status.may_become(status) {
            let sentence = format!("Feedback that is {} can't become {status}.", feedback.status);
            return Err(ApiError::with_message(Code::INVALID_STATE, sentence));
        }
        feedback.status = status;
        feedback.resolved_at = status.is_decided().then_some(now);
    }
    feedback.is_read = is_read.unwrap_or(feedback.is_read);
    match resolution_note {
        Patch::Keep => {}
        Patch::Clear => feedback.resolution_note = None,
        Patch::Set(note) => feedback.resolution_note = Some(note.0),
    }
    Ok(feedback)
}

/// Enqueues the e-mail to who wrote feedback. Nobody is written to who decided it themself, whose access was revoked or
/// whose account was deleted, nor anybody who got too many of these e-mails today.
async fn tell_author(
    state: &Reviews,
    conn: &mut Conn,
    caller: Caller,
    feedback: &Feedback,
    project: &Project,
    now: Time,
    request: &RequestId,
) -> Result<(), ApiError> {
    let Some(email) = feedback.author.email.clone() else { return Ok(()) };
    let own = accounts::store::account(conn, caller.user_id).await?;
    let is_own = own.as_ref().is_some_and(|own| own.email == email);
    let is_welcome = match feedback.by {
        Authorship::Reviewer(id) => access::is_not_revoked(conn, id).await?,
        Authorship::Member(user_id) => projects::store::role(conn, project.id, user_id).await?.is_some(),
    };
    if is_own || !is_welcome {
        return Ok(());
    }
    let limit = rate("feedback_mails_of_address", state.config.limits.feedback_mails_of_address);
    let key = state.secret.hex("address", &[email.as_bytes()]);
    if rate_limits::count(conn, &[(limit, key)], now).await?.is_some() {
        return Ok(());
    }
    let language = accounts::store::account_of(conn, &email).await?.map(|account| account.language);
    let locale = project.email_locale(language, own.as_ref());
    let mail = emails::decided(feedback, email, locale, &project.name);
    state.outbox.send(conn, QueuedEmail::from(mail).in_turn_of(project.id), now, request).await.map_err(ApiError::from)
}
