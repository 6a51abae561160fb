//! Looks again at what quotes a recording: its transcript was corrected or made anew, or may not be analysed any more.
//!
//! ```text
//! quote still said ──> its offsets, times and speaker as they are now
//! not said any more ─> the item is suspect; the source stays, so that people see what it rested on
//! consent missing ───> the source goes; an item that nobody reviewed and that rests on nothing else goes with it
//! ```
//! So are the items in proposals, without a change of their versions: a proposal whose item would go, goes. What items were
//! before a run changed them is forgotten where it quotes the recording: undoing the run leaves them as they are. Idempotent, and
//! each item is written only if nobody else changed it in between.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use actors::ids::{self, Id};
use actors::run::Run;
use actors::time::Time;
use async_trait::async_trait;
use pipeline::result::Summary;
use readers::SourceText;
use serde::Serialize;
use serde::de::DeserializeOwned;
use uuid::Uuid;

use super::store as results;
use crate::analysis::dashboard::model::ResultsDashboard;
use crate::analysis::items::model::{
    ActionItem, Decision, OpenQuestion, Requirement, RevisionSource, Risk, SourceReference, UserStory, WorkflowStatus,
};
use crate::analysis::items::store::quoting::{self as store, QuotingItem};
use crate::analysis::proposals::store::quoting::{self as proposals, QuotingProposal};
use crate::analysis::state::Analysis;
use crate::db::DbError;
use crate::jobs::{Handler, Job, JobError};
use crate::meetings::transcripts::grounding::GroundItemsAgain;
use crate::meetings::transcripts::sources::{self, SpokenText};
use crate::meetings::transcripts::telling;
use crate::projects::item_kind::ItemKind;

/// How many items are read at once.
const PAGE: i64 = 200;

/// Runs [`GroundItemsAgain`].
pub struct GroundItemsAgainHandler {
    pub state: Analysis,
}

#[async_trait]
impl Handler for GroundItemsAgainHandler {
    type Payload = GroundItemsAgain;

    fn concurrency(&self) -> usize {
        1
    }

    /// It goes through the items, proposals and results of one project, each at most once. What it looks at on a blocking thread is
    /// one result, of at most 20,000 items.
    fn time_limit(&self) -> Duration {
        Duration::from_secs(30 * 60)
    }

    async fn run(&self, job: &Job, payload: GroundItemsAgain) -> Result<(), JobError> {
        let GroundItemsAgain { project_id, recording_id } = payload;
        telling::tell_changed(&self.state.meetings, recording_id, job.request.clone()).await?;
        let spoken = sources::spoken(&self.state.db, recording_id).await.map_err(|error| error.to_string())?;
        let text = match spoken {
            SpokenText::Text(text) => Some(text),
            SpokenText::Withheld => None,
            SpokenText::Missing | SpokenText::TooLong(_) => return Ok(()),
        };
        let ground = NewGround { recording_id: recording_id.uuid(), text };
        let mut is_whole = self.items(project_id, &ground).await?;
        is_whole &= self.proposals(project_id, &ground).await?;
        is_whole &= self.results(project_id, ground).await?;
        let id = recording_id.uuid();
        self.state.db.write(move |conn| Box::pin(results::forget_former(conn, project_id, id))).await?;
        if is_whole { Ok(()) } else { Err(JobError::Again("somebody else changed an item in between".to_owned())) }
    }
}

impl GroundItemsAgainHandler {
    /// Looks at the project's items. Returns false if somebody else changed one in between.
    async fn items(&self, project_id: Id<ids::Project>, ground: &NewGround) -> Result<bool, DbError> {
        let (mut after, recording_id, mut is_whole) = (Uuid::nil(), ground.recording_id, true);
        loop {
            let read = self
                .state
                .db
                .read(move |conn| Box::pin(store::quoting(conn, project_id, recording_id, Id::from_uuid(after), PAGE)));
            let page = read.await?;
            let Some(last) = page.last() else { return Ok(is_whole) };
            after = last.id.uuid();
            for item in page {
                is_whole &= self.item(item, ground).await?;
            }
        }
    }

    async fn item(&self, item: QuotingItem, ground: &NewGround) -> Result<bool, DbError> {
        let now = self.state.now();
        match seen_again_of(item.kind, &item.body, ground, Some(now))? {
            SeenAgain::Same => Ok(true),
            SeenAgain::Changed(body) => {
                self.state.db.write(move |conn| Box::pin(store::change(conn, item, body, now))).await
            }
            SeenAgain::Baseless => self.state.db.write(move |conn| Box::pin(store::remove(conn, item))).await,
        }
    }

    /// Looks at the project's proposals. Returns false if somebody else changed one in between.
    async fn proposals(&self, project_id: Id<ids::Project>, ground: &NewGround) -> Result<bool, DbError> {
        let (mut after, recording_id, mut is_whole) = (Uuid::nil(), ground.recording_id, true);
        loop {
            let read = self.state.db.read(move |conn| {
                Box::pin(proposals::quoting(conn, project_id, recording_id, Id::from_uuid(after), PAGE))
            });
            let page = read.await?;
            let Some(last) = page.last() else { return Ok(is_whole) };
            after = last.id.uuid();
            for proposal in page {
                is_whole &= self.proposal(proposal, ground).await?;
            }
        }
    }

    /// Looks at the items before and after a proposal, which goes with either of them.
    async fn proposal(&self, was: QuotingProposal, ground: &NewGround) -> Result<bool, DbError> {
        let mut is = was.clone();
        for body in [&mut is.before, &mut is.after].into_iter().flatten() {
            match seen_again_of(was.kind, body, ground, None)? {
                SeenAgain::Same => {}
                SeenAgain::Changed(changed) => *body = changed,
                SeenAgain::Baseless => {
                    self.state.db.write(move |conn| Box::pin(proposals::delete(conn, was.id))).await?;
                    return Ok(true);
                }
            }
        }
        if is == was {
            return Ok(true);
        }
        self.state.db.write(move |conn| Box::pin(proposals::replace(conn, was, is))).await
    }

    /// Looks at the results of the project's runs, one after the other: each may be large. Returns false if somebody else
    /// changed one in between.
    async fn results(&self, project_id: Id<ids::Project>, ground: NewGround) -> Result<bool, DbError> {
        let (mut after, recording_id) = (Id::<Run>::from_uuid(Uuid::nil()), ground.recording_id);
        let (ground, mut is_whole) = (Arc::new(ground), true);
        loop {
            let read = self
                .state
                .db
                .read(move |conn| Box::pin(results::result_quoting(conn, project_id, recording_id, after)));
            let Some((run_id, result)) = read.await? else { return Ok(is_whole) };
            after = run_id;
            let (ground, before) = (Arc::clone(&ground), result.clone());
            let looked = tokio::task::spawn_blocking(move || result_again(&before, &ground)).await;
            let changed = looked.map_err(|error| DbError::Broken(error.to_string()))?;
            let Some(changed) = changed.map_err(|error| DbError::Broken(error.to_string()))? else { continue };
            let now = self.state.now();
            is_whole &= self
                .state
                .db
                .write(move |conn| Box::pin(results::change_result(conn, run_id, result, changed, now)))
                .await?;
        }
    }
}

/// A recording, and what is said in it now; no text if it may not be analysed.
struct NewGround {
    recording_id: Uuid,
    text: Option<SourceText>,
}

/// An item that may be suspect.
trait GroundedItem: Serialize + DeserializeOwned {
    fn parts(&mut self) -> (&mut Vec<SourceReference>, &mut bool);
    fn is_reviewed(&self) -> bool;
    /// Gives it another version.
    fn change(&mut self, now: Time);
}

macro_rules! grounded {
    ($($kind:ident)*) => {
        $(impl GroundedItem for $kind {
            fn parts(&mut self) -> (&mut Vec<SourceReference>, &mut bool) {
                (&mut self.sources, &mut self.suspect)
            }
            fn is_reviewed(&self) -> bool {
                self.workflow_status != WorkflowStatus::NeedsReview
                    || self.revision_source != RevisionSource::AiGenerated
            }
            fn change(&mut self, now: Time) {
                (self.version, self.updated_at) = (self.version + 1, now);
            }
        })*
    };
}

grounded! { Requirement UserStory Risk OpenQuestion ActionItem Decision }

enum SeenAgain {
    Same,
    Changed(String),
    /// Nothing is left that the item rests on.
    Baseless,
}

/// With a time, the item has another version if anything changed.
fn seen_again_of(kind: ItemKind, body: &str, ground: &NewGround, now: Option<Time>) -> Result<SeenAgain, DbError> {
    let seen = match kind {
        ItemKind::Requirement => seen_again::<Requirement>(body, ground, now),
        ItemKind::UserStory => seen_again::<UserStory>(body, ground, now),
        ItemKind::Risk => seen_again::<Risk>(body, ground, now),
        ItemKind::OpenQuestion => seen_again::<OpenQuestion>(body, ground, now),
        ItemKind::ActionItem => seen_again::<ActionItem>(body, ground, now),
        ItemKind::Decision => seen_again::<Decision>(body, ground, now),
    };
    seen.map_err(|error| DbError::Broken(format!("an item is invalid: {error}")))
}

fn seen_again<T: GroundedItem>(
    body: &str,
    ground: &NewGround,
    now: Option<Time>,
) -> Result<SeenAgain, serde_json::Error> {
    let mut item: T = serde_json::from_str(body)?;
    let change = ground.look_at(&mut item);
    if !change {
        return Ok(SeenAgain::Same);
    }
    if item.parts().0.is_empty() && !item.is_reviewed() {
        return Ok(SeenAgain::Baseless);
    }
    if let Some(now) = now {
        item.change(now);
    }
    serde_json::to_string(&item).map(SeenAgain::Changed)
}

/// Returns the result with what changed, and its summary; `None` if nothing did.
fn result_again(result: &str, ground: &NewGround) -> Result<Option<(String, String)>, serde_json::Error> {
    let mut result: ResultsDashboard = serde_json::from_str(result)?;
    let mut is_changed = ground.look_at_all(&mut result.requirements);
    is_changed |= ground.look_at_all(&mut result.user_stories);
    is_changed |= ground.look_at_all(&mut result.risks);
    is_changed |= ground.look_at_all(&mut result.open_questions);
    is_changed |= ground.look_at_all(&mut result.action_items);
    is_changed |= ground.look_at_all(&mut result.decisions);
    if is_changed && ground.text.is_none() {
        // Its sentences don't say where they come from.
        result.summary = Summary::default();
        let left: HashSet<Uuid> = result.requirements.iter().map(|one| one.id).collect();
        for one in &mut result.requirements {
            one.duplicate_of = one.duplicate_of.filter(|id| left.contains(id));
            one.conflicts_with.retain(|id| left.contains(id));
        }
        for story in &mut result.user_stories {
            story.requirement_ids.retain(|id| left.contains(id));
        }
    }
    let texts = || Ok((serde_json::to_string(&result)?, serde_json::to_string(&result.summary)?));
    is_changed.then(texts).transpose()
}

impl NewGround {
    /// Looks at a requirement or a story. Returns whether it changed.
    fn look_at(&self, item: &mut impl GroundedItem) -> bool {
        let (sources, suspect) = item.parts();
        let (is_changed, is_suspect) = self.reground(sources);
        let becomes_suspect = is_suspect && !*suspect;
        *suspect |= is_suspect;
        is_changed || becomes_suspect
    }

    fn look_at_all(&self, items: &mut Vec<impl GroundedItem>) -> bool {
        let mut is_any = false;
        items.retain_mut(|item| {
            let is_changed = self.look_at(item);
            is_any |= is_changed;
            !(is_changed && item.parts().0.is_empty() && !item.is_reviewed())
        });
        is_any
    }

    /// Moves sources to the new text. Returns whether they changed, and whether one of them does not hold any more.
    fn reground(&self, sources: &mut Vec<SourceReference>) -> (bool, bool) {
        let (mut is_changed, mut is_suspect) = (false, false);
        let Some(text) = &self.text else {
            let before = sources.len();
            sources.retain(|source| source.recording_id != Some(self.recording_id));
            let is_less = sources.len() < before;
            return (is_less, is_less);
        };
        for source in sources.iter_mut().filter(|source| source.recording_id == Some(self.recording_id)) {
            let Some(place) = text.place_of(&source.quote, source.start_offset) else {
                is_suspect = true;
                continue;
            };
            let now = SourceReference {
                start_offset: place.start_offset,
                end_offset: place.end_offset,
                start_ms: place.start_ms,
                end_ms: place.end_ms,
                speaker: place.speaker,
                ..source.clone()
            };
            is_changed |= now != *source;
            *source = now;
        }
        (is_changed, is_suspect)
    }
}

#[cfg(test)]
mod tests {
    use pipeline::SourceKind;
    use pipeline::result::{Priority, RequirementType};
    use readers::{CueText, written};

    use super::*;

    fn source(recording: Uuid, quote: &str) -> SourceReference {
        SourceReference {
            kind: SourceKind::Recording,
            document_id: None,
            recording_id: Some(recording),
            version: 1,
            quote: quote.to_owned(),
            page: None,
            section: None,
            start_offset: 0,
            end_offset: quote.chars().count(),
            start_ms: Some(0),
            end_ms: Some(1_000),
            speaker: Some("Speaker 1".to_owned()),
        }
    }

    fn requirement(workflow_status: WorkflowStatus, sources: Vec<SourceReference>) -> Requirement {
        let now = actors::time::Time::from_millis(1).unwrap();
        Requirement {
            id: Uuid::now_v7(),
            code: "REQ-001".to_owned(),
            kind: RequirementType::Functional,
            category: None,
            title: "t".to_owned(),
            statement: "s".to_owned(),
            priority: Priority::High,
            confidence: 0.9,
            workflow_status,
            quality_issues: Vec::new(),
            sources,
            duplicate_of: None,
            conflicts_with: Vec::new(),
            version: 1,
            revision_source: RevisionSource::AiGenerated,
            suspect: false,
            run_id: Id::generate(),
            created_at: now,
            updated_at: now,
            pattern: None,
            original: None,
            deferred_until: None,
        }
    }

    fn ground(recording_id: Uuid, said: Option<&str>) -> NewGround {
        let cue = |words: &str| {
            let speaker = Some("Grace".to_owned());
            let words = words.to_owned();
            written(vec![CueText { start_ms: 5_000, end_ms: 6_000, speaker, words, origin: None }]).unwrap()
        };
        NewGround { recording_id, text: said.map(cue) }
    }

    fn again(item: &Requirement, ground: &NewGround) -> SeenAgain {
        let now = actors::time::Time::from_millis(2).unwrap();
        seen_again::<Requirement>(&serde_json::to_string(item).unwrap(), ground, Some(now)).unwrap()
    }

    fn changed(seen: SeenAgain) -> Requirement {
        let SeenAgain::Changed(body) = seen else { panic!("it did not change") };
        serde_json::from_str(&body).unwrap()
    }

    #[test]
    fn a_quote_that_is_still_said_is_where_it_is_now() {
        let recording = Uuid::now_v7();
        let item = requirement(WorkflowStatus::Approved, vec![source(recording, "It must ring.")]);
        let now = changed(again(&item, &ground(recording, Some("Well. It must ring."))));
        let place = &now.sources[0];
        assert_eq!((place.start_offset, place.end_offset, place.start_ms), (6, 19, Some(5_000)));
        assert_eq!((place.speaker.as_deref(), now.suspect, now.version), (Some("Grace"), false, 2));
        assert!(matches!(again(&now, &ground(recording, Some("Well. It must ring."))), SeenAgain::Same));
        assert!(matches!(again(&now, &ground(Uuid::now_v7(), None)), SeenAgain::Same), "another recording");
    }

    #[test]
    fn what_is_not_said_any_more_makes_suspect_once_and_its_source_stays() {
        let recording = Uuid::now_v7();
        let item = requirement(WorkflowStatus::NeedsReview, vec![source(recording, "It must ring.")]);
        let now = changed(again(&item, &ground(recording, Some("It must sing."))));
        assert_eq!((now.suspect, &now.sources), (true, &item.sources));
        assert!(matches!(again(&now, &ground(recording, Some("It must sing."))), SeenAgain::Same));
    }

    #[test]
    fn without_consent_the_source_goes_and_with_the_last_one_what_nobody_reviewed() {
        let (hers, his) = (Uuid::now_v7(), Uuid::now_v7());
        let both = requirement(WorkflowStatus::NeedsReview, vec![source(hers, "a"), source(his, "a")]);
        let now = changed(again(&both, &ground(hers, None)));
        assert_eq!((now.suspect, now.sources.len(), now.sources[0].recording_id), (true, 1, Some(his)));
        let alone = requirement(WorkflowStatus::NeedsReview, vec![source(hers, "a")]);
        assert!(matches!(again(&alone, &ground(hers, None)), SeenAgain::Baseless));
        let approved = requirement(WorkflowStatus::Approved, vec![source(hers, "a")]);
        let now = changed(again(&approved, &ground(hers, None)));
        assert_eq!((now.suspect, now.sources.len()), (true, 0));
    }
}
