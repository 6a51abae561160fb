//! What the words of a query stand for in a project: themselves, or those that they may be a misspelling of.

use std::collections::HashSet;

use actors::ids::{self, Id};

use super::folding;
use super::model::SearchTerm;
use super::spelling::{self, NearWords, WordRange};
use super::store::finding;
use crate::db::{Conn, Db, DbError};
use crate::http::costly_calls::CostlyCall;
use crate::http::error::ApiError;

/// How many words of a query are looked for.
const WORDS: usize = 16;
/// How many misspelt words of a query are corrected. Nothing is found with more of them.
const CORRECTED: usize = 4;
/// How many words are read at once to be compared with a misspelt one.
const PAGE: usize = 256;
/// How many such pages are read for a query. They hold all that can be near in a list of some hundred thousand words; of
/// a longer one, first of all those that begin as the misspelt word does.
const PAGES: usize = 96;

/// A word of a query.
#[derive(Debug, Clone)]
struct TypedWord {
    text: String,
    /// It is still being typed, so that it may be the beginning of a word.
    is_beginning: bool,
}

impl TypedWord {
    fn known(&self) -> SearchTerm {
        let text = self.text.clone();
        match self.begun() {
            Some(begun) => SearchTerm { words: Vec::new(), beginnings: begun.into_iter().chain([text]).collect() },
            None => SearchTerm { words: vec![text], beginnings: Vec::new() },
        }
    }

    fn corrected(&self, words: Vec<String>) -> SearchTerm {
        SearchTerm { words, beginnings: self.begun().unwrap_or_default() }
    }

    /// The beginnings that it may stand for besides itself, if it is one.
    fn begun(&self) -> Option<Vec<String>> {
        self.is_beginning.then(|| folding::begun(&self.text).map(str::to_owned).into_iter().collect())
    }
}

/// What the words of a query stand for in a project. `None` if nothing can be found.
///
/// # Errors
/// Only database errors.
pub async fn terms(
    db: &Db,
    call: &CostlyCall,
    project_id: Id<ids::Project>,
    words: &str,
) -> Result<Option<Vec<SearchTerm>>, ApiError> {
    let typed = typed(words);
    let (held, asked) = (call.clone(), typed.clone());
    let unknown = db.read(move |conn| {
        Box::pin(async move {
            let unknown = unknown(conn, project_id, &asked).await;
            drop(held);
            unknown
        })
    });
    let unknown: HashSet<usize> = unknown.await.map_err(ApiError::from)?;
    if typed.is_empty() || unknown.len() > CORRECTED {
        return Ok(None);
    }
    let misspelt = typed.iter().enumerate().filter(|(index, _)| unknown.contains(index));
    let misspelt = misspelt.map(|(_, word)| NearWords::of(&word.text)).collect();
    let mut near = corrections(db, call, project_id, misspelt).await?.into_iter();
    let term = |(index, word): (usize, &TypedWord)| match unknown.contains(&index) {
        true => word.corrected(near.next().unwrap_or_default()),
        false => word.known(),
    };
    let terms: Vec<SearchTerm> = typed.iter().enumerate().map(term).collect();
    let can_be_met = |term: &SearchTerm| !(term.words.is_empty() && term.beginnings.is_empty());
    Ok(terms.iter().all(can_be_met).then_some(terms))
}

fn typed(words: &str) -> Vec<TypedWord> {
    let is_open = words.chars().next_back().is_some_and(char::is_alphanumeric);
    let mut typed = folding::words(words);
    typed.truncate(WORDS);
    let last = typed.len().saturating_sub(1);
    let word = |(index, word): (usize, folding::FoldedWord)| TypedWord {
        text: word.text,
        is_beginning: is_open && index == last,
    };
    typed.into_iter().enumerate().map(word).collect()
}

/// Which of the words a project does not have, as far as it lists such words.
async fn unknown(
    conn: &mut Conn,
    project_id: Id<ids::Project>,
    typed: &[TypedWord],
) -> Result<HashSet<usize>, DbError> {
    let listed = || typed.iter().enumerate().filter(|(_, word)| spelling::is_listed(&word.text));
    let whole = listed().filter(|(_, word)| !word.is_beginning).map(|(_, word)| word.text.clone()).collect();
    let known = finding::known(conn, project_id, whole).await?;
    let mut unknown = HashSet::new();
    for (index, word) in listed() {
        let is_known = match word.is_beginning {
            true => finding::is_begun(conn, project_id, &word.text).await?,
            false => known.contains(&word.text),
        };
        if !is_known {
            unknown.insert(index);
        }
    }
    Ok(unknown)
}

/// The words of a project that each misspelt word may stand for. They are read in pages, one for each word at a time, and
/// compared between the reads.
async fn corrections(
    db: &Db,
    call: &CostlyCall,
    project_id: Id<ids::Project>,
    mut misspelt: Vec<NearWords>,
) -> Result<Vec<Vec<String>>, ApiError> {
    let mut left = PAGES;
    loop {
        let ranges: Vec<(usize, WordRange)> = misspelt
            .iter()
            .enumerate()
            .filter_map(|(index, word)| Some((index, word.next()?.clone())))
            .take(left)
            .collect();
        if ranges.is_empty() {
            return Ok(misspelt.into_iter().map(NearWords::found).collect());
        }
        left -= ranges.len();
        let held = call.clone();
        let pages = db.read(move |conn| {
            Box::pin(async move {
                let mut pages = Vec::with_capacity(ranges.len());
                for (index, range) in ranges {
                    let most = i64::try_from(PAGE).unwrap_or(i64::MAX);
                    pages.push((index, finding::words_in(conn, project_id, &range, most).await?));
                }
                drop(held);
                Ok::<_, DbError>(pages)
            })
        });
        let pages = pages.await.map_err(ApiError::from)?;
        let compared = call.compute(move || {
            for (index, page) in pages {
                let is_end = page.len() < PAGE;
                if let Some(word) = misspelt.get_mut(index) {
                    word.take(page, is_end);
                }
            }
            misspelt
        });
        misspelt = compared.await?;
    }
}
