//! The operation that searches a project.

use std::collections::HashSet;

use actors::ids::{self, Id};
use uuid::Uuid;

use super::excerpts::{TextExcerpt, excerpt, marks};
use super::folding;
use super::model::{SearchHit, SearchKind, SearchTerm};
use super::passages::SaidAt;
use super::routes::SearchQuery;
use super::spelling;
use super::store::finding::{self, FoundPassage, PassageQuery};
use super::store::{self, IndexedPassage};
use crate::access::policy::{Loaded, Resource};
use crate::access::principal::Caller;
use crate::access::role::{ProjectRole, Relation};
use crate::db::{Conn, DbError};
use crate::http::code::Code;
use crate::http::envelope::List;
use crate::http::error::ApiError;
use crate::meetings::recordings::MeetingRecording;
use crate::meetings::transcripts::making::is_consented;
use crate::reviews::state::Reviews;

/// How many more hits are read than asked for, so that some may turn out to be withheld.
const SPARE: usize = 50;
/// How many words of a query are looked for.
const WORDS: usize = 16;

/// Finds the passages of a project in which all words of the query occur, best first. Of the last word the beginning
/// is enough, and a word that the project does not have stands for those that are written nearly the same.
///
/// # Errors
/// Only database errors.
pub async fn search(
    state: &Reviews,
    caller: Caller,
    relation: Relation,
    project_id: Id<ids::Project>,
    query: SearchQuery,
) -> Result<List<SearchHit>, ApiError> {
    let limit = query.limit;
    let found = state.db.read(move |conn| {
        Box::pin(async move {
            let Some(terms) = terms(conn, project_id, &query.words).await? else { return Ok(None) };
            let passages = PassageQuery {
                project_id,
                caller: caller.user_id,
                hears_all: relation.is(ProjectRole::Analyst),
                terms: terms.clone(),
                code: query.words.to_uppercase(),
                kinds: query.kinds,
                limit: i64::try_from(limit + SPARE).unwrap_or(i64::MAX),
            };
            let found = finding::find(conn, &passages).await?;
            let texts = store::passages(conn, found.iter().map(|one| one.id).collect()).await?;
            Ok::<_, DbError>(Some((terms, found, texts)))
        })
    });
    let Some((terms, found, texts)) = found.await? else { return Ok(list(Vec::new())) };
    let mut hits = Vec::with_capacity(limit);
    let best = found.iter().map(|one| one.score).fold(f64::MIN_POSITIVE, f64::max);
    let mut withheld = HashSet::new();
    for FoundPassage { id, score } in found {
        if hits.len() == limit {
            break;
        }
        let Some(passage) = texts.iter().find(|one| one.id == id) else { continue };
        let mut hit = hit(passage, &terms, (score / best).clamp(0.0, 1.0))?;
        if hit.kind == SearchKind::Transcript {
            let said_in = match withheld.contains(&hit.id) {
                true => None,
                false => heard(state, caller, hit.id).await?,
            };
            let Some((meeting_id, title)) = said_in else {
                withheld.insert(hit.id);
                continue;
            };
            hit.meeting_id = Some(meeting_id);
            hit.title_marks = marks(&title, &terms);
            hit.title = title;
        }
        hits.push(hit);
    }
    Ok(list(hits))
}

fn list(items: Vec<SearchHit>) -> List<SearchHit> {
    let total_count = i64::try_from(items.len()).unwrap_or(i64::MAX);
    List { items, next_cursor: None, total_count }
}

/// The meeting of a recording, and its title; `None` if the caller may not read the transcript, or somebody who can be
/// heard does not consent to it.
async fn heard(state: &Reviews, caller: Caller, id: Uuid) -> Result<Option<(Uuid, String)>, ApiError> {
    let found = MeetingRecording::find(state, Id::from_uuid(id), caller).await;
    let Loaded { relation, resource } = match found {
        Ok(loaded) => loaded,
        Err(error) if error.code == Code::NOT_FOUND => return Ok(None),
        Err(error) => return Err(error),
    };
    let Ok(resource) = resource else { return Ok(None) };
    let meeting = &resource.meeting.state;
    let is_heard = relation.may_listen() && is_consented(meeting, resource.recording()?);
    Ok(is_heard.then(|| (meeting.id.uuid(), meeting.title.clone())))
}

/// What the words of a query stand for in this project. `None` if nothing can be found.
async fn terms(conn: &mut Conn, project_id: Id<ids::Project>, words: &str) -> Result<Option<Vec<SearchTerm>>, DbError> {
    let is_open = words.chars().next_back().is_some_and(char::is_alphanumeric);
    let mut typed = folding::words(words);
    typed.truncate(WORDS);
    let last = typed.len().saturating_sub(1);
    let mut terms = Vec::with_capacity(typed.len());
    for (index, word) in typed.into_iter().map(|word| word.text).enumerate() {
        let is_beginning = index == last && is_open;
        let known = !spelling::is_listed(&word) || finding::is_known(conn, project_id, &word, is_beginning).await?;
        let mut term = SearchTerm { words: Vec::new(), beginnings: Vec::new() };
        if is_beginning {
            term.beginnings.extend(folding::begun(&word).map(str::to_owned));
        }
        if known {
            if is_beginning { &mut term.beginnings } else { &mut term.words }.push(word);
        } else {
            let mut listed = Vec::new();
            for initial in spelling::initials(&word) {
                listed.extend(finding::words_from(conn, project_id, &initial).await?);
            }
            term.words = spelling::near(&word, listed);
        }
        if term.words.is_empty() && term.beginnings.is_empty() {
            return Ok(None);
        }
        terms.push(term);
    }
    Ok(Some(terms).filter(|terms| !terms.is_empty()))
}

fn hit(found: &IndexedPassage, terms: &[SearchTerm], score: f64) -> Result<SearchHit, ApiError> {
    let unknown = || ApiError::internal(format!("a {} is searched", found.kind));
    let kind: SearchKind = found.kind.parse().map_err(|_| unknown())?;
    let passage = &found.passage;
    let TextExcerpt { text, start, end, marks: in_excerpt, first } = excerpt(&passage.text, terms);
    let starts_at = passage.starts_at.and_then(|at| usize::try_from(at).ok());
    let said: Vec<SaidAt> = match &passage.times {
        Some(times) => serde_json::from_str(times).map_err(ApiError::internal)?,
        None => Vec::new(),
    };
    let said = said.iter().find(|segment| first < segment.0);
    Ok(SearchHit {
        kind,
        id: found.source_id,
        meeting_id: None,
        code: passage.code.clone(),
        title: passage.title.clone(),
        title_marks: marks(&passage.title, terms),
        excerpt: text,
        marks: in_excerpt,
        start_offset: starts_at.map(|at| at + start),
        end_offset: starts_at.map(|at| at + end),
        start_ms: said.map(|segment| segment.1),
        end_ms: said.map(|segment| segment.2),
        score,
    })
}
