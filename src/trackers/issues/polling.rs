//! Brings the states of issues back from the trackers: open, in progress, done. Issues that are gone are noted, and reported by
//! the next export.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use actors::ids::{self, Id};
use actors::live::{EventRecord, RequestId};
use uuid::Uuid;

use super::store::{self, SiteOfProject, StoryIssue};
use crate::analysis::changes::tracker_issues;
use crate::analysis::items::model::TrackerIssue;
use crate::clients::trackers::{CurrentIssue, Tracker, TrackerAccess};
use crate::db::DbError;
use crate::trackers::connections::access::TrackerSession;
use crate::trackers::state::Trackers;
use crate::trackers::{connections, destinations};

/// How many projects are looked after before it is checked again which are due.
const AT_ONCE: i64 = 20;
/// The longest pause between two checks which projects are due.
const CHECK_INTERVAL: Duration = Duration::from_secs(60);

/// Looks after the issues of all connected projects until the server stops, each once per `trackers.poll_seconds`.
pub async fn watch(state: Trackers) {
    let stopping = state.tasks.stopping();
    let period = Duration::from_secs(state.config.trackers.poll_seconds);
    loop {
        tokio::select! {
            () = tokio::time::sleep(period.min(CHECK_INTERVAL)) => {}
            () = stopping.cancelled() => return,
        }
        let now = state.now();
        let due =
            state.db.write(move |conn| Box::pin(connections::store::claim_polls(conn, now - period, now, AT_ONCE)));
        match due.await {
            Ok(due) => {
                for project_id in due {
                    if stopping.is_cancelled() {
                        return;
                    }
                    if let Err(why) = poll(&state, project_id).await {
                        tracing::info!(project = %project_id, why, "the states of issues could not be asked for");
                    }
                }
            }
            Err(error) => {
                let error: DbError = error;
                tracing::warn!(%error, "due polls of trackers could not be read");
            }
        }
    }
}

/// Looks after the issues of one project.
async fn poll(state: &Trackers, project_id: Id<ids::Project>) -> Result<(), String> {
    let request: RequestId = Id::<()>::generate().to_string().into();
    let found = state.db.read(move |conn| Box::pin(destinations::store::find(conn, project_id))).await;
    let Some(stored) = found? else { return Ok(()) };
    let site = SiteOfProject { project_id, provider: stored.provider, site_id: stored.destination.site_id };
    let mut after = Uuid::nil();
    loop {
        let from = site.clone();
        let page = state.db.read(move |conn| Box::pin(async move { store::created(conn, &from, after).await })).await;
        let page: Vec<StoryIssue> = page?;
        let Some(last) = page.last() else { return Ok(()) };
        after = last.user_story_id;
        let ids: Vec<String> = page.iter().filter_map(|one| one.issue.as_ref()).map(|issue| issue.id.clone()).collect();
        let read = |tracker: Arc<dyn Tracker>, access: TrackerAccess| {
            let ids = ids.clone();
            async move { tracker.read(&access, &ids).await }
        };
        // Anew for each page: a connection that has ended meanwhile is used no more.
        let open = TrackerSession::open_site(state, project_id, site.provider, &site.site_id, &request);
        let Some(mut session) = open.await.map_err(|error| error.message)? else { return Ok(()) };
        let current = session.call(read).await;
        save(state, &site, page, current.map_err(|error| format!("{error:?}"))?, &request).await?;
    }
}

/// Saves what has changed.
async fn save(
    state: &Trackers,
    site: &SiteOfProject,
    page: Vec<StoryIssue>,
    current: Vec<CurrentIssue>,
    request: &RequestId,
) -> Result<(), String> {
    let current: HashMap<String, CurrentIssue> = current.into_iter().map(|one| (one.issue.id.clone(), one)).collect();
    let is_changed = |one: &StoryIssue| {
        let known = one.issue.as_ref();
        match known.and_then(|issue| current.get(&issue.id)) {
            Some(now) => one.is_gone || one.state != Some(now.state) || known != Some(&now.issue),
            None => !one.is_gone,
        }
    };
    let changed: Vec<StoryIssue> = page.into_iter().filter(is_changed).collect();
    if changed.is_empty() {
        return Ok(());
    }
    let (now, site, request) = (state.now(), site.clone(), request.clone());
    let saved = state.db.write(move |conn| {
        let (site, changed, current, request) = (site.clone(), changed.clone(), current.clone(), request.clone());
        Box::pin(async move {
            let mut records: Vec<EventRecord> = Vec::new();
            for one in changed {
                let Some(issue) = &one.issue else { continue };
                let found = current.get(&issue.id);
                store::save_state(conn, &site, one.user_story_id, found.map(|now| (&now.issue, now.state))).await?;
                let shown = found.map_or(issue, |now| &now.issue);
                let shown = TrackerIssue {
                    key: shown.key.clone(),
                    url: shown.url.clone(),
                    state: found.map(|found| found.state),
                };
                let set = tracker_issues::set(conn, site.project_id, one.user_story_id, &shown, now, &request).await?;
                records.extend(set);
            }
            Ok::<_, DbError>(records)
        })
    });
    let records = saved.await.map_err(|error| error.to_string())?;
    state.hub.publish(records);
    Ok(())
}
