//! The operation that searches a project.

use std::collections::{HashMap, HashSet};

use actors::ids::{self, Id};
use uuid::Uuid;

use super::bodies::SearchQuery;
use super::excerpts::{TextExcerpt, excerpt, marks};
use super::model::{SearchHit, SearchKind, SearchTerm};
use super::passages::SaidAt;
use super::store::finding::{self, FoundPassage, PassageQuery};
use super::store::{self, IndexedPassage};
use super::terms::terms;
use crate::access::policy::{Loaded, Resource};
use crate::access::principal::Caller;
use crate::access::role::{ProjectRole, Relation};
use crate::db::DbError;
use crate::http::code::Code;
use crate::http::envelope::List;
use crate::http::error::ApiError;
use crate::meetings::consents::may_be_transcribed;
use crate::meetings::recordings::MeetingRecording;
use crate::reviews::state::Reviews;

/// How many more hits are read than asked for, so that some may turn out to be withheld.
const SPARE_HITS: usize = 50;

/// Finds the passages of a project in which all words of the query occur, best first. Of the last word the beginning
/// is enough, and a word that the project does not have stands for those that are written nearly the same.
///
/// # Errors
/// 429 past the account's rate of costly calls, and while too many of the project's wait; otherwise only database errors.
pub async fn search(
    state: &Reviews,
    caller: Caller,
    relation: Relation,
    project_id: Id<ids::Project>,
    query: SearchQuery,
) -> Result<List<SearchHit>, ApiError> {
    let call = state.gate.limits.costly.begin(project_id, caller.user_id).await?;
    let Some(terms) = terms(&state.db, &call, project_id, &query.words).await? else { return Ok(list(Vec::new())) };
    let limit = usize::try_from(query.limit).unwrap_or_default();
    let passages = PassageQuery {
        project_id,
        caller: caller.user_id,
        hears_all: relation.is(ProjectRole::Analyst),
        terms: terms.clone(),
        code: query.words.to_uppercase(),
        kinds: query.kinds,
        limit: i64::try_from(limit + SPARE_HITS).unwrap_or(i64::MAX),
    };
    let held = call.clone();
    let found = state.db.read(move |conn| {
        Box::pin(async move {
            let found = finding::find(conn, &passages).await?;
            let texts = store::passages(conn, found.iter().map(|one| one.id).collect()).await?;
            drop(held);
            Ok::<_, DbError>((found, texts))
        })
    });
    let (found, texts) = found.await?;
    let shown = readable(state, caller, found, texts, limit).await?;
    let hits = call.compute(move || shown.into_iter().map(|one| hit(&one, &terms)).collect::<Result<_, _>>());
    hits.await?.map(list)
}

/// A passage that is shown.
struct ShownPassage {
    passage: IndexedPassage,
    /// Relative to the best one that was found.
    score: f64,
    /// The meeting of a transcript, and its title.
    said_in: Option<(Uuid, String)>,
}

/// The first of the passages that the caller may read, so many at most.
async fn readable(
    state: &Reviews,
    caller: Caller,
    found: Vec<FoundPassage>,
    texts: Vec<IndexedPassage>,
    limit: usize,
) -> Result<Vec<ShownPassage>, ApiError> {
    let best = found.iter().map(|one| one.score).fold(f64::MIN_POSITIVE, f64::max);
    let mut texts: HashMap<i64, IndexedPassage> = texts.into_iter().map(|one| (one.id, one)).collect();
    let mut shown = Vec::with_capacity(limit);
    let mut withheld = HashSet::new();
    for FoundPassage { id, score } in found {
        if shown.len() == limit {
            break;
        }
        let Some(passage) = texts.remove(&id) else { continue };
        let mut said_in = None;
        if passage.kind == SearchKind::Transcript {
            if !withheld.contains(&passage.source_id) {
                said_in = readable_recording(state, caller, passage.source_id.uuid()).await?;
            }
            if said_in.is_none() {
                withheld.insert(passage.source_id);
                continue;
            }
        }
        shown.push(ShownPassage { passage, score: (score / best).clamp(0.0, 1.0), said_in });
    }
    Ok(shown)
}

fn list(items: Vec<SearchHit>) -> List<SearchHit> {
    let total_count = i64::try_from(items.len()).unwrap_or(i64::MAX);
    List { items, next_cursor: None, total_count }
}

/// The meeting of a recording, and its title; `None` if the caller may not read the transcript, or somebody who can be
/// heard does not consent to it.
async fn readable_recording(state: &Reviews, caller: Caller, id: Uuid) -> Result<Option<(Uuid, String)>, ApiError> {
    let found = MeetingRecording::find(&state.meetings, Id::from_uuid(id), caller).await;
    let Loaded { relation, resource } = match found {
        Ok(loaded) => loaded,
        Err(error) if error.code == Code::NOT_FOUND => return Ok(None),
        Err(error) => return Err(error),
    };
    let Ok(resource) = resource else { return Ok(None) };
    let meeting = &resource.meeting.state;
    let is_heard = relation.may_listen() && may_be_transcribed(meeting, resource.recording()?);
    Ok(is_heard.then(|| (meeting.id.uuid(), meeting.title.clone())))
}

fn hit(shown: &ShownPassage, terms: &[SearchTerm]) -> Result<SearchHit, ApiError> {
    let ShownPassage { passage: found, score, said_in } = shown;
    let passage = &found.passage;
    let TextExcerpt { text, start, end, marks: in_excerpt, first } = excerpt(&passage.text, terms);
    let starts_at = passage.starts_at.and_then(|at| usize::try_from(at).ok());
    let said: Vec<SaidAt> = match &passage.times {
        Some(times) => serde_json::from_str(times).map_err(ApiError::internal)?,
        None => Vec::new(),
    };
    let said = said.iter().find(|segment| first < segment.0);
    let title = said_in.as_ref().map_or(&passage.title, |(_, title)| title);
    Ok(SearchHit {
        kind: found.kind,
        id: found.source_id.uuid(),
        meeting_id: said_in.as_ref().map(|(meeting_id, _)| *meeting_id),
        code: passage.code.clone(),
        title: title.clone(),
        title_marks: marks(title, terms),
        excerpt: text,
        marks: in_excerpt,
        start_offset: starts_at.map(|at| at + start),
        end_offset: starts_at.map(|at| at + end),
        start_ms: said.map(|segment| segment.1),
        end_ms: said.map(|segment| segment.2),
        score: *score,
    })
}
