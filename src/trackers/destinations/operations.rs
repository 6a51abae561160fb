//! Operations on destinations, one function each. They ask the tracker.

use std::collections::BTreeMap;
use std::sync::Arc;

use actors::ids::{self, Id};
use actors::live::RequestId;
use serde_json::Value;
use uuid::Uuid;

use super::model::{Label, StoredDestination, TrackerDestination, TrackerIssueType};
use super::store;
use crate::clients::trackers::{IssueForm, Tracker, TrackerAccess, TrackerError, TrackerProjectOption};
use crate::db::{Conn, DbError};
use crate::http::code::Code;
use crate::http::envelope::List;
use crate::http::error::{ApiError, FieldError};
use crate::http::page::{Cursor, PageQuery};
use crate::http::reason::Reason;
use crate::projects;
use crate::trackers::connections;
use crate::trackers::connections::access::{self, TrackerSession};
use crate::trackers::connections::model::TrackerId;
use crate::trackers::state::Trackers;

/// Opens the tracker and calls it. Returns the session with the answer.
async fn with_access<'a, T, F, Fut>(
    state: &'a Trackers,
    project_id: Id<ids::Project>,
    site_id: Option<&TrackerId>,
    request: &RequestId,
    call: F,
) -> Result<(TrackerSession<'a>, T), ApiError>
where
    F: Fn(Arc<dyn Tracker>, TrackerAccess) -> Fut,
    Fut: Future<Output = Result<T, TrackerError>>,
{
    let site_id = site_id.map(|id| id.0.as_str());
    let mut session = TrackerSession::open(state, project_id, site_id, request).await?;
    let answer = session.call(call).await?;
    Ok((session, answer))
}

/// Lists the projects at the tracker in which the connected account can create issues.
///
/// # Errors
/// 409 if the project is not connected; 422 if a site has to be named; 502 if the tracker is unavailable or refuses.
pub async fn projects(
    state: &Trackers,
    project_id: Id<ids::Project>,
    site_id: Option<TrackerId>,
    search: Option<String>,
    page: PageQuery,
    request: RequestId,
) -> Result<List<TrackerProjectOption>, ApiError> {
    // The tracker counts pages, so that the cursor is the number of the last one.
    let number = page.after.map_or(1, |cursor| u64::try_from(cursor.0.as_u128()).unwrap_or(u64::MAX).saturating_add(1));
    let size = u64::try_from(page.limit).unwrap_or(1);
    let call = |tracker: Arc<dyn Tracker>, access: TrackerAccess| {
        let search = search.clone();
        async move { tracker.projects(&access, search.as_deref(), number, size).await }
    };
    let (_, found) = with_access(state, project_id, site_id.as_ref(), &request, call).await?;
    let has_more = number.saturating_mul(size) < found.total;
    Ok(List {
        items: found.items,
        next_cursor: has_more.then(|| Cursor(Uuid::from_u128(u128::from(number))).to_string()),
        total_count: i64::try_from(found.total).unwrap_or(i64::MAX),
    })
}

/// Lists the issue types of a project at the tracker, and what each requires that stories don't have.
///
/// # Errors
/// As [`projects`]; 404 if there is no such project.
pub async fn issue_types(
    state: &Trackers,
    project_id: Id<ids::Project>,
    site_id: Option<TrackerId>,
    tracker_project_id: TrackerId,
    request: RequestId,
) -> Result<List<TrackerIssueType>, ApiError> {
    let saved = state.db.read(move |conn| Box::pin(store::find(conn, project_id))).await;
    let saved = saved.map_err(|failed: DbError| ApiError::from(failed))?.map(|stored| stored.destination);
    let wanted = tracker_project_id.0.clone();
    let call = |tracker: Arc<dyn Tracker>, access: TrackerAccess| {
        let wanted = wanted.clone();
        async move {
            let Some(project) = found(tracker.project(&access, &wanted).await)? else { return Ok(None) };
            found(tracker.issue_forms(&access, &project.id).await)
        }
    };
    let (_, forms) = with_access(state, project_id, site_id.as_ref(), &request, call).await?;
    let forms = forms.ok_or_else(|| ApiError::of(Code::NOT_FOUND))?;
    let none = BTreeMap::new();
    let defaults = |form: &IssueForm| match &saved {
        Some(own) if own.project_id == tracker_project_id.0 && own.issue_type_id == form.id => &own.field_defaults,
        _ => &none,
    };
    let items: Vec<TrackerIssueType> = forms
        .into_iter()
        .map(|form| {
            let defaults = defaults(&form);
            TrackerIssueType::of(form, defaults)
        })
        .collect();
    let total_count = i64::try_from(items.len()).unwrap_or(i64::MAX);
    Ok(List { items, next_cursor: None, total_count })
}

/// Turns what is missing at the tracker into `None`.
fn found<T>(answer: Result<T, TrackerError>) -> Result<Option<T>, TrackerError> {
    match answer {
        Ok(value) => Ok(Some(value)),
        Err(TrackerError::Missing(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

/// A destination as it is wished.
#[derive(Debug, Clone)]
pub struct WishedDestination {
    pub site_id: Option<TrackerId>,
    pub tracker_project_id: TrackerId,
    pub issue_type_id: TrackerId,
    pub field_defaults: BTreeMap<String, Value>,
    pub labels: Vec<Label>,
}

/// Saves where the stories of a project go, once the tracker has confirmed that they can go there.
///
/// # Errors
/// As [`projects`]; 404 if there is no such project; 409 in an archived project; 422 for an issue type that there is not, values
/// that its fields don't take, and required fields without one.
pub async fn save(
    state: &Trackers,
    project_id: Id<ids::Project>,
    wished: WishedDestination,
    request: RequestId,
) -> Result<TrackerDestination, ApiError> {
    state.db.read(move |conn| Box::pin(must_be_active(conn, project_id))).await?;
    let WishedDestination { site_id, tracker_project_id, issue_type_id, field_defaults, labels } = wished;
    let call = |tracker: Arc<dyn Tracker>, access: TrackerAccess| {
        let wanted = tracker_project_id.0.clone();
        async move {
            let account = tracker.account(&access).await?;
            let Some(project) = found(tracker.project(&access, &wanted).await)? else { return Ok(None) };
            let forms = found(tracker.issue_forms(&access, &project.id).await)?;
            Ok(forms.map(|forms| (account, access.site, project, forms)))
        }
    };
    let (session, answered) = with_access(state, project_id, site_id.as_ref(), &request, call).await?;
    let (account, site, project, forms) = answered.ok_or_else(|| ApiError::of(Code::NOT_FOUND))?;
    let Some(form) = forms.into_iter().find(|form| form.id == issue_type_id.0) else {
        let why = "The project has no such issue type, or its issues can't stand alone.";
        return Err(ApiError::field("issueTypeId", Reason::InvalidValue, why));
    };
    let field_defaults = checked(&form, &field_defaults)?;
    let now = state.now();
    let destination = TrackerDestination {
        site_id: site.id.clone(),
        project_id: project.id,
        project_key: project.key,
        project_name: project.name,
        issue_type_id: form.id,
        issue_type_name: form.name,
        field_defaults,
        labels: labels.into_iter().map(|label| label.0).collect(),
        saved_at: now,
    };
    let stored = StoredDestination { provider: session.connection().provider, destination: destination.clone() };
    let saved = state.db.write(move |conn| {
        let (stored, site, name, request) = (stored.clone(), site.clone(), account.name.clone(), request.clone());
        Box::pin(async move {
            store::put(conn, project_id, &stored).await?;
            connections::store::choose_site(conn, project_id, &site, &name).await?;
            access::changed_event(conn, project_id, now, &request).await
        })
    });
    let record = saved.await.map_err(|failed: DbError| ApiError::from(failed))?;
    state.hub.publish(vec![record]);
    Ok(destination)
}

async fn must_be_active(conn: &mut Conn, project_id: Id<ids::Project>) -> Result<(), ApiError> {
    let gone = || ApiError::of(Code::NOT_FOUND);
    projects::must_be_active(&projects::store::find(conn, project_id).await?.ok_or_else(gone)?)
}

/// Checks values of fields, and that no required one is missing.
fn checked(form: &IssueForm, defaults: &BTreeMap<String, Value>) -> Result<BTreeMap<String, Value>, ApiError> {
    let at = |id: &str| Some(format!("fieldDefaults.{id}"));
    let checked = form.check(defaults).map_err(|faults| {
        let faults = faults.into_iter().map(|(id, why)| FieldError::value(Reason::InvalidValue, at(&id), why));
        ApiError::invalid(faults.collect())
    })?;
    let missing = form.missing(&checked);
    if missing.is_empty() {
        return Ok(checked);
    }
    let faults = missing.into_iter().map(|field| {
        FieldError::value(Reason::Required, at(&field.id), format!("The issue type requires “{}”.", field.name))
    });
    Err(ApiError::invalid(faults.collect()))
}
