//! Stories that have an issue: it is read before anything is changed, and what people did there is neither overwritten nor made
//! again.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use uuid::Uuid;

use super::halt::{Halt, limited};
use super::model::{ItemOutcome, TrackerExportItemStatus};
use super::page::{DraftedStory, Exporter, refused};
use super::store;
use crate::analysis::items::model::TrackerIssue;
use crate::clients::trackers::{
    CurrentIssue, IssueReference, IssueRefusal, Tracker, TrackerAccess, TrackerError, TrackerIssueState,
};
use crate::db::{Conn, DbError};
use crate::trackers::connections::access::CallError;
use crate::trackers::issues::store::{self as issues, SiteOfProject};

/// A story whose issue is known.
pub(super) struct KnownIssue {
    pub drafted: DraftedStory,
    pub issue: IssueReference,
    /// The project at the tracker in which it was created.
    pub created_in: String,
    /// Of the content that was sent last.
    pub fingerprint: String,
}

/// What is known of a story's issue after a call.
#[derive(Debug, Clone)]
pub(super) struct SeenIssue {
    pub user_story_id: Uuid,
    what: Seen,
}

#[derive(Debug, Clone)]
enum Seen {
    Created(IssueReference),
    /// It was not created.
    Refused,
    /// It is there, in this state; with the fingerprint of what it was changed to.
    There(IssueReference, TrackerIssueState, Option<String>),
    Gone,
}

impl SeenIssue {
    pub(super) const fn created(user_story_id: Uuid, issue: IssueReference) -> Self {
        Self { user_story_id, what: Seen::Created(issue) }
    }

    pub(super) const fn refused(user_story_id: Uuid) -> Self {
        Self { user_story_id, what: Seen::Refused }
    }

    fn there(user_story_id: Uuid, current: &CurrentIssue, fingerprint: Option<String>) -> Self {
        Self { user_story_id, what: Seen::There(current.issue.clone(), current.state, fingerprint) }
    }

    pub(super) async fn save(&self, conn: &mut Conn, site: &SiteOfProject) -> Result<(), DbError> {
        let story = self.user_story_id;
        match &self.what {
            Seen::Created(issue) => issues::confirm(conn, site, story, issue).await,
            Seen::Refused => issues::forget(conn, site, story).await,
            Seen::Gone => issues::save_state(conn, site, story, None).await,
            Seen::There(issue, state, fingerprint) => {
                issues::save_state(conn, site, story, Some((issue, *state))).await?;
                match fingerprint {
                    Some(print) => issues::set_fingerprint(conn, site, story, print).await,
                    None => Ok(()),
                }
            }
        }
    }

    /// The issue as the story shows it; `None` if that stays.
    pub(super) fn shown(&self) -> Option<TrackerIssue> {
        let (issue, state) = match &self.what {
            Seen::Created(issue) => (issue, Some(TrackerIssueState::Open)),
            Seen::There(issue, state, _) => (issue, Some(*state)),
            Seen::Refused | Seen::Gone => return None,
        };
        Some(TrackerIssue { key: issue.key.clone(), url: issue.url.clone(), state })
    }
}

/// What is to be done about an issue that is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum IssueVerdict {
    /// It has the story's content.
    Same,
    /// It was edited there, and the story has nothing new.
    EditedAlone,
    /// It was edited there, and the story has changed too.
    EditedBoth,
    Update,
}

/// Compares fingerprints: of the issue as it is, of what was sent last, and of the story's draft.
fn judge(current: &str, sent: &str, drafted: &str, overwrite: bool) -> IssueVerdict {
    match (current == drafted, current == sent) {
        (true, _) => IssueVerdict::Same,
        (false, true) => IssueVerdict::Update,
        (false, false) if overwrite => IssueVerdict::Update,
        (false, false) if sent == drafted => IssueVerdict::EditedAlone,
        (false, false) => IssueVerdict::EditedBoth,
    }
}

impl Exporter<'_> {
    /// Brings issues up to date. Returns the stories whose issues are gone and are to be created anew.
    pub(super) async fn known(&mut self, known: Vec<KnownIssue>) -> Result<Vec<DraftedStory>, Halt> {
        if known.is_empty() {
            return Ok(Vec::new());
        }
        let ids: Vec<String> = known.iter().map(|one| one.issue.id.clone()).collect();
        let read = |tracker: Arc<dyn Tracker>, access: TrackerAccess| {
            let ids = ids.clone();
            async move { tracker.read(&access, &ids).await }
        };
        let current = self.session.call(read).await?;
        let current: HashMap<String, CurrentIssue> =
            current.into_iter().map(|one| (one.issue.id.clone(), one)).collect();
        let (mut outcomes, mut seen, mut anew) = (Vec::new(), Vec::new(), Vec::new());
        let mut halted = Ok(());
        for one in known {
            let Some(current) = current.get(&one.issue.id) else {
                if self.export.options.recreate_missing {
                    anew.push(one.drafted);
                } else {
                    outcomes.push(missing(&one));
                    seen.push(SeenIssue { user_story_id: one.drafted.story.id, what: Seen::Gone });
                }
                continue;
            };
            match self.bring_up_to_date(&one, current).await {
                Ok(Some((outcome, there))) => {
                    outcomes.push(outcome);
                    seen.extend(there);
                }
                Ok(None) => {}
                Err(halt) => {
                    halted = Err(halt);
                    break;
                }
            }
        }
        self.save(outcomes, if self.export.dry_run { Vec::new() } else { seen }).await?;
        halted.map(|()| anew)
    }

    /// Returns what became of one story; `None` if it is put off.
    async fn bring_up_to_date(
        &mut self,
        one: &KnownIssue,
        current: &CurrentIssue,
    ) -> Result<Option<(ItemOutcome, Option<SeenIssue>)>, Halt> {
        let DraftedStory { story, draft } = &one.drafted;
        let drafted = self.session.tracker().fingerprint(self.session.access(), &self.target, draft);
        let moved = (current.project_id != one.created_in).then(|| {
            ("IssueMoved", format!("The issue is {} now, in another project. It stays there.", current.issue.key))
        });
        let done = |status, note| ItemOutcome {
            user_story_id: story.id,
            version: Some(story.version),
            status,
            issue: Some((current.issue.key.clone(), current.issue.url.clone())),
            note,
        };
        let there = |print| Some(SeenIssue::there(story.id, current, print));
        let verdict = judge(&current.fingerprint, &one.fingerprint, &drafted, self.export.options.overwrite_edited);
        match verdict {
            IssueVerdict::Same => {
                return Ok(Some((done(TrackerExportItemStatus::SkippedUnchanged, moved), there(Some(drafted)))));
            }
            IssueVerdict::EditedAlone => {
                let note = ("IssueEdited", "The issue was edited in the tracker. It was left as it is.".to_owned());
                return Ok(Some((done(TrackerExportItemStatus::SkippedUnchanged, Some(note)), there(None))));
            }
            IssueVerdict::EditedBoth => {
                let why = "The issue was edited in the tracker, and the story here. Nothing was overwritten.";
                let note = ("IssueEdited", why.to_owned());
                return Ok(Some((done(TrackerExportItemStatus::Failed, Some(note)), there(None))));
            }
            IssueVerdict::Update => {}
        }
        if let Err(refusal) = self.session.tracker().check(self.session.access(), &self.target, draft) {
            return Ok(Some((refused(story, refusal), there(None))));
        }
        if self.export.dry_run {
            return Ok(Some((done(TrackerExportItemStatus::Updated, moved), None)));
        }
        // Trackers that limit how fast issues are created count their changes as well.
        if let Some(wait) = self.pace() {
            self.defer(wait, limited(""));
            return Ok(None);
        }
        self.count_attempt(story.id).await?;
        let target = self.target.clone();
        let change = |tracker: Arc<dyn Tracker>, access: TrackerAccess| {
            let (target, id, draft) = (target.clone(), one.issue.id.clone(), draft.clone());
            async move { tracker.update(&access, &target, &id, &draft).await }
        };
        match self.session.call(change).await {
            Ok(Ok(())) => Ok(Some((done(TrackerExportItemStatus::Updated, moved), there(Some(drafted))))),
            Ok(Err(IssueRefusal { code: "Missing", .. })) => {
                let gone = SeenIssue { user_story_id: story.id, what: Seen::Gone };
                Ok(Some((missing(one), Some(gone))))
            }
            Ok(Err(refusal)) => Ok(Some((refused(story, refusal), there(None)))),
            // Of this issue alone: the others go on.
            Err(CallError::Tracker(TrackerError::Limited { pause, reason, is_of_issue: true })) => {
                self.defer(pause.max(Duration::from_secs(1)), limited(&reason));
                Ok(None)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Counts an attempt, if the export is still RUNNING.
    async fn count_attempt(&self, story: Uuid) -> Result<(), Halt> {
        let id = self.export.id;
        let counted = self.state.db.write(move |conn| {
            Box::pin(async move {
                if !store::hold_running(conn, id).await? {
                    return Ok::<_, DbError>(false);
                }
                store::count_attempts(conn, id, &[story]).await?;
                Ok(true)
            })
        });
        if counted.await? { Ok(()) } else { Err(Halt::Ended) }
    }
}

fn missing(one: &KnownIssue) -> ItemOutcome {
    let why = format!(
        "The issue {} was deleted in the tracker, or the account may not see it any more. It was not created again.",
        one.issue.key
    );
    let story = &one.drafted.story;
    ItemOutcome {
        version: Some(story.version),
        issue: Some((one.issue.key.clone(), one.issue.url.clone())),
        ..ItemOutcome::failed(story.id, "IssueMissing", why)
    }
}

#[cfg(test)]
mod tests {
    use super::{IssueVerdict, judge};

    #[test]
    fn what_people_edited_in_the_tracker_is_not_overwritten() {
        // The issue as it is, what was sent last, the story as it is.
        assert_eq!(judge("a", "a", "a", false), IssueVerdict::Same);
        assert_eq!(judge("a", "a", "b", false), IssueVerdict::Update);
        assert_eq!(judge("x", "a", "a", false), IssueVerdict::EditedAlone);
        assert_eq!(judge("x", "a", "b", false), IssueVerdict::EditedBoth);
        assert_eq!(judge("b", "a", "b", false), IssueVerdict::Same, "both made the same change");
        assert_eq!(judge("x", "a", "a", true), IssueVerdict::Update);
        assert_eq!(judge("x", "a", "b", true), IssueVerdict::Update);
    }
}
