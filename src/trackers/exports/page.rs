//! One page of an export: stories without an issue get one, those with one go to [`super::known`].

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use actors::live::{EventRecord, RequestId};
use actors::time::Time;
use uuid::Uuid;

use super::drafting::draft;
use super::events::progress_event;
use super::halt::{Halt, limited};
use super::known::{KnownIssue, SeenIssue};
use super::model::{ItemOutcome, TrackerExportItemStatus};
use super::store::{self, StoredTrackerExport};
use crate::analysis;
use crate::analysis::changes::tracker_issues;
use crate::analysis::items::model::{UserStory, WorkflowStatus};
use crate::clients::trackers::{
    IssueDraft, IssueForm, IssueReference, IssueRefusal, IssueTarget, Tracker, TrackerAccess, TrackerError,
};
use crate::db::DbError;
use crate::trackers::connections::access::{CallError, TrackerSession};
use crate::trackers::issues::store::{self as issues, SiteOfProject, StoryIssue};
use crate::trackers::pacing::PacedAccount;
use crate::trackers::state::Trackers;

/// A call that creates issues begins within this time after its intent was committed, or not at all: a process that was
/// suspended in between must not create what another one has looked for meanwhile.
const PROMPT: Duration = Duration::from_secs(5);
/// How long before the intent an issue may have been created, by the clock of the tracker.
const CLOCKS: Duration = Duration::from_secs(10 * 60);

/// What an export needs at its tracker.
pub struct Exporter<'a> {
    pub(super) state: &'a Trackers,
    pub(super) export: &'a StoredTrackerExport,
    pub(super) request: RequestId,
    pub(super) site: SiteOfProject,
    pub(super) session: TrackerSession<'a>,
    pub(super) target: IssueTarget,
    /// The names of sources, by their ids.
    names: HashMap<Uuid, String>,
    /// Until when some stories are put off, and why.
    pub(super) deferred: Option<(Duration, String)>,
}

/// A story that is to be exported, with its draft.
pub(super) struct DraftedStory {
    pub story: UserStory,
    pub draft: IssueDraft,
}

impl<'a> Exporter<'a> {
    /// Opens the tracker, and asks it for the form of the issues.
    ///
    /// # Errors
    /// The export waits or can't go on.
    pub async fn open(state: &'a Trackers, export: &'a StoredTrackerExport, request: &RequestId) -> Result<Self, Halt> {
        let project_id = export.project_id;
        let destination = &export.destination;
        let opened =
            TrackerSession::open_site(state, project_id, export.provider, &destination.site_id, request).await?;
        let elsewhere = || Halt::Fail("The project is connected to another issue tracker now.".to_owned());
        let session = opened.ok_or_else(elsewhere)?;
        let names = state.db.read(move |conn| Box::pin(analysis::exports::store::source_names(conn, project_id))).await;
        let mut exporter = Self {
            state,
            export,
            request: request.clone(),
            site: SiteOfProject { project_id, provider: export.provider, site_id: destination.site_id.clone() },
            session,
            target: IssueTarget {
                project_id: destination.project_id.clone(),
                project_key: destination.project_key.clone(),
                form: IssueForm {
                    id: destination.issue_type_id.clone(),
                    name: destination.issue_type_name.clone(),
                    icon_url: None,
                    fields: Vec::new(),
                },
                defaults: destination.field_defaults.clone(),
                labels: destination.labels.clone(),
            },
            names: names.map_err(|error: DbError| Halt::from(error))?,
            deferred: None,
        };
        exporter.refresh_target().await?;
        Ok(exporter)
    }

    /// Brings the target up to date: a project may have been renamed, and a form changed, since the destination was saved.
    async fn refresh_target(&mut self) -> Result<(), Halt> {
        let id = self.target.project_id.clone();
        let read = |tracker: Arc<dyn Tracker>, access: TrackerAccess| {
            let id = id.clone();
            async move { Ok((tracker.project(&access, &id).await?, tracker.issue_forms(&access, &id).await?)) }
        };
        let (project, forms) = self.session.call(read).await?;
        let form = forms.into_iter().find(|form| form.id == self.target.form.id);
        let gone = || Halt::Fail(format!("The project has no issue type “{}” any more.", self.target.form.name));
        let form = form.ok_or_else(gone)?;
        let missing: Vec<&str> =
            form.missing(&self.target.defaults).into_iter().map(|field| field.name.as_str()).collect();
        if !missing.is_empty() {
            let why = format!("The issue type requires fields that have no value: {}.", missing.join(", "));
            return Err(Halt::Fail(why));
        }
        self.target.project_key = project.key;
        self.target.form = form;
        Ok(())
    }

    /// Puts some stories off; the shortest pause counts.
    pub(super) fn defer(&mut self, pause: Duration, why: String) {
        match &self.deferred {
            Some((shorter, _)) if *shorter <= pause => {}
            _ => self.deferred = Some((pause, why)),
        }
    }

    fn settle_time(&self) -> Duration {
        Duration::from_secs(self.state.config.trackers.settle_seconds)
    }

    /// Exports some stories. What became of them is saved even if the export can't go on.
    ///
    /// # Errors
    /// The export waits, has ended, or can't go on.
    pub async fn page(&mut self, ids: Vec<Uuid>) -> Result<(), Halt> {
        let (project_id, site, wanted) = (self.site.project_id, self.site.clone(), ids.clone());
        let read = self.state.db.read(move |conn| {
            let (site, ids) = (site.clone(), wanted.clone());
            Box::pin(async move {
                let stories = store::stories(conn, project_id, &ids).await?;
                Ok::<_, DbError>((stories, issues::of_stories(conn, &site, &ids).await?))
            })
        });
        let (stories, known) = read.await?;
        let mut stories: HashMap<Uuid, UserStory> = stories.into_iter().map(|story| (story.id, story)).collect();
        let mut issues: HashMap<Uuid, StoryIssue> = known.into_iter().map(|one| (one.user_story_id, one)).collect();
        let (mut outcomes, mut known, mut doubtful, mut new) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for id in ids {
            let story = match exportable(stories.remove(&id)) {
                Ok(story) => story,
                Err((code, why)) => {
                    outcomes.push(ItemOutcome::failed(id, code, why));
                    continue;
                }
            };
            let drafted = DraftedStory { draft: draft(&story, &self.names), story };
            match issues.remove(&id) {
                None => new.push(drafted),
                Some(StoryIssue { issue: Some(issue), tracker_project_id: created_in, fingerprint, .. }) => {
                    known.push(KnownIssue { drafted, issue, created_in, fingerprint });
                }
                Some(intent) => doubtful.push((drafted, intent)),
            }
        }
        self.save(outcomes, Vec::new()).await?;
        new.extend(self.known(known).await?);
        new.extend(self.settled(doubtful).await?);
        self.create(new).await
    }

    /// Looks for issues whose creation was not confirmed. Returns the stories that have none.
    async fn settled(&mut self, doubtful: Vec<(DraftedStory, StoryIssue)>) -> Result<Vec<DraftedStory>, Halt> {
        let now = self.state.now();
        let settle = self.settle_time();
        let mut by_project: HashMap<String, Vec<(DraftedStory, Time)>> = HashMap::new();
        for (drafted, intent) in doubtful {
            let left = (intent.intended_at + settle).since(now);
            if left.is_zero() || self.export.dry_run {
                let same = by_project.entry(intent.tracker_project_id).or_default();
                same.push((drafted, intent.intended_at));
            } else {
                self.defer(left, "The issue tracker may still be creating an issue.".to_owned());
            }
        }
        let (mut absent, mut found_outcomes, mut found_issues) = (Vec::new(), Vec::new(), Vec::new());
        for (project_id, stories) in by_project {
            let Some(since) = stories.iter().map(|(_, at)| *at).min() else { continue };
            let mut target = self.target.clone();
            if target.project_id != project_id {
                let read = |tracker: Arc<dyn Tracker>, access: TrackerAccess| {
                    let id = project_id.clone();
                    async move { tracker.project(&access, &id).await }
                };
                match self.session.call(read).await {
                    Ok(project) => (target.project_id, target.project_key) = (project.id, project.key),
                    // What was in it is gone with it.
                    Err(CallError::Tracker(TrackerError::Missing(_))) => {
                        absent.extend(stories.into_iter().map(|(drafted, _)| drafted));
                        continue;
                    }
                    Err(error) => return Err(error.into()),
                }
            }
            let look = |tracker: Arc<dyn Tracker>, access: TrackerAccess| {
                let target = target.clone();
                async move { tracker.find_marked(&access, &target, since - CLOCKS, now).await }
            };
            let marked = self.session.call(look).await?;
            let mut marked: HashMap<Uuid, IssueReference> =
                marked.into_iter().map(|one| (one.marker, one.issue)).collect();
            for (drafted, _) in stories {
                match marked.remove(&drafted.story.id) {
                    Some(issue) => {
                        found_outcomes.push(created(&drafted.story, &issue));
                        found_issues.push(SeenIssue::created(drafted.story.id, issue));
                    }
                    None => absent.push(drafted),
                }
            }
        }
        self.save(found_outcomes, found_issues).await?;
        Ok(absent)
    }

    /// Creates issues, as many with one call as the tracker takes.
    async fn create(&mut self, stories: Vec<DraftedStory>) -> Result<(), Halt> {
        let (mut outcomes, mut valid) = (Vec::new(), Vec::new());
        for drafted in stories {
            match self.session.tracker().check(self.session.access(), &self.target, &drafted.draft) {
                Err(refusal) => outcomes.push(refused(&drafted.story, refusal)),
                Ok(()) if self.export.dry_run => outcomes.push(ItemOutcome {
                    user_story_id: drafted.story.id,
                    version: Some(drafted.story.version),
                    status: TrackerExportItemStatus::Created,
                    issue: None,
                    note: None,
                }),
                Ok(()) => valid.push(drafted),
            }
        }
        self.save(outcomes, Vec::new()).await?;
        let size = self.session.tracker().batch().max(1);
        for batch in valid.chunks(size) {
            self.create_batch(batch).await?;
        }
        Ok(())
    }

    async fn create_batch(&mut self, batch: &[DraftedStory]) -> Result<(), Halt> {
        if let Some(wait) = self.pace() {
            return Err(Halt::Wait(wait, limited("")));
        }
        let drafts: Vec<IssueDraft> = batch.iter().map(|drafted| drafted.draft.clone()).collect();
        for is_last in [false, true] {
            self.intend(batch).await?;
            let asked = self.session.tracker().create(self.session.access(), &self.target, &drafts).await;
            match asked {
                Ok(results) if results.len() == drafts.len() => return self.confirm(batch, results).await,
                Ok(_) => return Err(self.in_doubt("it did not say what became of each issue")),
                Err(TrackerError::InDoubt(why)) => return Err(self.in_doubt(&why)),
                // Nothing was created.
                Err(error) => {
                    self.forget(batch).await?;
                    match error {
                        TrackerError::Unauthorized(_) if !is_last => self.session.reopen().await?,
                        TrackerError::Unauthorized(why) => {
                            self.session.need_reauth().await;
                            return Err(TrackerError::Unauthorized(why).into());
                        }
                        error => return Err(error.into()),
                    }
                }
            }
        }
        Ok(())
    }

    /// Counts a call that the tracker limits; returns how long to wait if it may not be made now.
    pub(super) fn pace(&self) -> Option<Duration> {
        let account = PacedAccount {
            provider: self.site.provider,
            site_id: self.site.site_id.clone(),
            account: self.session.connection().account_name.clone().unwrap_or_default(),
        };
        self.state.creation_paces.take(&account, self.session.tracker().pace(), self.state.now())
    }

    fn in_doubt(&self, why: &str) -> Halt {
        tracing::warn!(export = %self.export.id, why, "it is not known whether a tracker has created issues");
        Halt::Wait(self.settle_time(), "The issue tracker did not confirm what it created.".to_owned())
    }

    /// Commits the intent to create the issues of stories. Returns soon after the commit, or fails.
    async fn intend(&self, batch: &[DraftedStory]) -> Result<(), Halt> {
        let (tracker, access) = (self.session.tracker(), self.session.access());
        let print = |one: &DraftedStory| (one.story.id, tracker.fingerprint(access, &self.target, &one.draft));
        let intents: Vec<(Uuid, String)> = batch.iter().map(print).collect();
        let (id, site, now) = (self.export.id, self.site.clone(), self.state.now());
        let project_id = self.target.project_id.clone();
        let begun = Instant::now();
        let intended = self.state.db.write(move |conn| {
            let (site, intents, project_id) = (site.clone(), intents.clone(), project_id.clone());
            Box::pin(async move {
                if !store::hold_running(conn, id).await? {
                    return Ok::<_, DbError>(false);
                }
                let stories: Vec<Uuid> = intents.iter().map(|(story, _)| *story).collect();
                store::count_attempts(conn, id, &stories).await?;
                issues::intend(conn, &site, &project_id, &intents, now).await?;
                Ok(true)
            })
        });
        if !intended.await? {
            return Err(Halt::Ended);
        }
        if begun.elapsed() > PROMPT {
            return Err(Halt::Again("the database was slow; what was intended is looked for first".to_owned()));
        }
        Ok(())
    }

    /// Takes the intent back: the tracker said that it created nothing.
    async fn forget(&self, batch: &[DraftedStory]) -> Result<(), Halt> {
        let stories: Vec<Uuid> = batch.iter().map(|one| one.story.id).collect();
        let site = self.site.clone();
        let forgotten = self.state.db.write(move |conn| {
            let (site, stories) = (site.clone(), stories.clone());
            Box::pin(async move {
                for story in stories {
                    issues::forget(conn, &site, story).await?;
                }
                Ok::<_, DbError>(())
            })
        });
        forgotten.await.map_err(Halt::from)
    }

    /// Saves what a tracker has created. Nothing after this call may be tried again as a creation.
    async fn confirm(
        &self,
        batch: &[DraftedStory],
        results: Vec<Result<IssueReference, IssueRefusal>>,
    ) -> Result<(), Halt> {
        let (mut outcomes, mut seen) = (Vec::new(), Vec::new());
        for (DraftedStory { story, .. }, result) in batch.iter().zip(results) {
            match result {
                Ok(issue) => {
                    outcomes.push(created(story, &issue));
                    seen.push(SeenIssue::created(story.id, issue));
                }
                Err(refusal) => {
                    outcomes.push(refused(story, refusal));
                    seen.push(SeenIssue::refused(story.id));
                }
            }
        }
        self.save(outcomes, seen).await
    }

    /// Saves what became of stories and what is known of their issues, with the events.
    pub(super) async fn save(&self, outcomes: Vec<ItemOutcome>, seen: Vec<SeenIssue>) -> Result<(), Halt> {
        if outcomes.is_empty() && seen.is_empty() {
            return Ok(());
        }
        let (id, site, now, request) = (self.export.id, self.site.clone(), self.state.now(), self.request.clone());
        let saved = self.state.db.write(move |conn| {
            let (outcomes, seen) = (outcomes.clone(), seen.clone());
            let (site, request) = (site.clone(), request.clone());
            Box::pin(async move {
                let mut records: Vec<EventRecord> = Vec::new();
                for one in &seen {
                    one.save(conn, &site).await?;
                    if let Some(shown) = one.shown() {
                        let story = one.user_story_id;
                        let record = tracker_issues::set(conn, site.project_id, story, &shown, now, &request).await?;
                        records.extend(record);
                    }
                }
                store::save_outcomes(conn, id, &outcomes).await?;
                if let Some(export) = store::counted(conn, id).await?
                    && export.status.is_active()
                {
                    records.push(progress_event(conn, &export, now, &request).await?);
                }
                Ok::<_, DbError>(records)
            })
        });
        self.state.hub.publish(saved.await?);
        Ok(())
    }
}

/// Returns the story if it can be exported now, else a code and why.
fn exportable(story: Option<UserStory>) -> Result<UserStory, (&'static str, &'static str)> {
    match story {
        None => Err(("StoryMissing", "The story was deleted.")),
        Some(story) if story.workflow_status != WorkflowStatus::Approved => {
            Err(("StoryNotApproved", "Only approved stories are exported."))
        }
        Some(story) if story.suspect => {
            Err(("StorySuspect", "What the story rests on has changed since it was approved. Approve it again."))
        }
        Some(story) => Ok(story),
    }
}

fn created(story: &UserStory, issue: &IssueReference) -> ItemOutcome {
    ItemOutcome {
        user_story_id: story.id,
        version: Some(story.version),
        status: TrackerExportItemStatus::Created,
        issue: Some((issue.key.clone(), issue.url.clone())),
        note: None,
    }
}

pub(super) fn refused(story: &UserStory, refusal: IssueRefusal) -> ItemOutcome {
    let IssueRefusal { code, message } = refusal;
    ItemOutcome { version: Some(story.version), ..ItemOutcome::failed(story.id, code, message) }
}
