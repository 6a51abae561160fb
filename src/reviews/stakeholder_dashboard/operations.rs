//! Builds the dashboard of reviewers.
//!
//! A dashboard is parsed, and the texts of its documents are read, once for each state of the results and of the names
//! of sources: both are in its ETag, and texts never change. What was built is kept while there is room for it, so that
//! polls and feedback cost a look at the database and no more.

use std::collections::HashMap;
use std::sync::Arc;

use actors::ids::{self, Id};
use sha2::{Digest, Sha256};
use tokio::task::spawn_blocking;
use tokio::time::timeout;
use uuid::Uuid;

use super::cache::BuiltReview;
use super::context::{self, QuoteSpan};
use super::model::{ReviewContent, ReviewDashboard, ReviewQuote, SharedContent};
use super::scope::{self, StoredReview};
use crate::analysis::dashboard::model::ResultsDashboard;
use crate::analysis::exports::store::source_names;
use crate::analysis::items::model::SourceReference;
use crate::analysis::large_reads::memory::{PATIENCE, WorkMemory};
use crate::db::DbError;
use crate::http::error::ApiError;
use crate::projects::documents::operations as documents;
use crate::reviews::access::Reviewer;
use crate::reviews::invitations::model::ReviewInvitation;
use crate::reviews::invitations::shown::ReviewShown;
use crate::reviews::state::Reviews;

/// For so many quotes of one dashboard the text around them is looked up; the ones after them stand alone.
const QUOTES: usize = 5_000;

/// A dashboard for reviewers, and what changes with all that it shows.
pub struct Review {
    pub built: Arc<BuiltReview>,
    pub etag: String,
}

/// Returns what a reviewer sees, with its ETag: what their invitation shows.
///
/// # Errors
/// Only database errors, or 500 for a stored result that can't be parsed.
pub async fn dashboard(state: &Reviews, reviewer: Reviewer) -> Result<(ReviewDashboard, String), ApiError> {
    let Reviewer { invitation, project } = reviewer;
    let (shown, baseline_name) = scope::shown(state, &invitation).await?;
    let review = review(state, project.id, shown).await?;
    let frame = (project.name.as_str(), invitation.permission.into_str(), invitation.expires_at.millis());
    let etag = format!("{}-{}", review.etag, short_hash([format!("{frame:?}")]));
    let dashboard = ReviewDashboard {
        project_name: project.name,
        permission: invitation.permission,
        scope: invitation.scope,
        baseline_name,
        expires_at: invitation.expires_at,
        content: SharedContent(Arc::clone(&review.built.content)),
    };
    Ok((dashboard, etag))
}

/// Returns what a reviewer with this invitation sees.
///
/// # Errors
/// Only database errors, or 500 for a stored result that can't be parsed.
pub async fn review_of(state: &Reviews, invitation: &ReviewInvitation) -> Result<Review, ApiError> {
    let (shown, _) = scope::shown(state, invitation).await?;
    review(state, invitation.project_id, shown).await
}

/// Returns what reviewers see of a project.
///
/// # Errors
/// Only database errors, or 500 for a stored result that can't be parsed.
pub async fn review(state: &Reviews, project_id: Id<ids::Project>, shown: ReviewShown) -> Result<Review, ApiError> {
    let stored = StoredReview::find(state, project_id, &shown).await?;
    let names = state.db.read(move |conn| Box::pin(source_names(conn, project_id))).await;
    let names = names.map_err(|failed: DbError| ApiError::from(failed))?;
    let mut named: Vec<String> = names.iter().map(|(id, name)| format!("{id} {name}")).collect();
    named.sort_unstable();
    let etag = format!("{}-{}-{}", stored.etag(), short_hash([format!("{shown:?}")]), short_hash(named));
    if let Some(built) = state.review_contents.get(&etag) {
        return Ok(Review { built, etag });
    }
    let contents = &state.review_contents;
    let shared = contents.under_way.share(etag.clone(), || async {
        // Somebody else may have built it meanwhile.
        if let Some(built) = contents.get(&etag) {
            return Ok(built);
        }
        let built = Arc::new(build(state, project_id, stored, shown, names).await?);
        contents.keep(etag.clone(), Arc::clone(&built));
        Ok(built)
    });
    let built = shared.await?;
    Ok(Review { built, etag })
}

fn short_hash(texts: impl IntoIterator<Item = String>) -> String {
    let mut hash = Sha256::new();
    for text in texts {
        hash.update(text.len().to_be_bytes());
        hash.update(text);
    }
    hex::encode(hash.finalize()).chars().take(16).collect()
}

async fn build(
    state: &Reviews,
    project_id: Id<ids::Project>,
    stored: StoredReview,
    shown: ReviewShown,
    names: HashMap<Uuid, String>,
) -> Result<BuiltReview, ApiError> {
    let bytes = stored.bytes();
    let memory = WorkMemory::soon(state.analysis.large_reads.memory.for_parsed(project_id, bytes)).await?;
    let permit = timeout(PATIENCE, Arc::clone(&state.review_contents.building).acquire_owned()).await;
    let permit = permit.map_err(|_late| ApiError::unavailable("too many dashboards of reviewers are being built"))?;
    let permit = Arc::new(permit.map_err(ApiError::internal)?);
    let held = (memory.clone(), Arc::clone(&permit));
    let dashboard = stored.parse(state, project_id, &memory).await?;
    let described = spawn_blocking(move || {
        let _held = held;
        let dashboard = scope::restricted(dashboard, &shown);
        let places = places(&dashboard);
        (ReviewContent::of(dashboard, &names), places)
    });
    let (mut content, places) = described.await.map_err(ApiError::internal)?;
    let mut context_bytes = 0;
    for ((document, version), quoted) in places {
        // One text at a time: each may have millions of characters.
        let text = documents::stored_text(&state.db, Id::from_uuid(document), version).await.map_err(ApiError::from)?;
        let Some(text) = text else { continue };
        let around = spawn_blocking(move || {
            let places: Vec<QuoteSpan> = quoted.iter().map(|one| one.place).collect();
            context::around(&text, &places).map(|around| (quoted, around))
        });
        let (quoted, around) = around.await.map_err(ApiError::internal)?.map_err(ApiError::internal)?;
        for (one, context) in quoted.into_iter().zip(around) {
            let (Some(quote), Some(context)) = (one.item.quote(&mut content, one.index), context) else { continue };
            context_bytes += context.before.len() + context.after.len();
            (quote.before, quote.after) = (Some(context.before), Some(context.after));
        }
    }
    let targets = content.targets();
    Ok(BuiltReview { content: Arc::new(content), targets, bytes: bytes + context_bytes })
}

/// An item of a dashboard, by its position.
#[derive(Clone, Copy)]
enum QuotingPosition {
    Requirement(usize),
    UserStory(usize),
}

impl QuotingPosition {
    fn quote(self, content: &mut ReviewContent, index: usize) -> Option<&mut ReviewQuote> {
        let quotes = match self {
            Self::Requirement(at) => &mut content.requirements.get_mut(at)?.quotes,
            Self::UserStory(at) => &mut content.user_stories.get_mut(at)?.quotes,
        };
        quotes.get_mut(index)
    }
}

/// A quote of a document.
struct QuoteOfDocument {
    item: QuotingPosition,
    /// Which of the item's quotes it is.
    index: usize,
    place: QuoteSpan,
}

/// The quotes of each version of a document, up to [`QUOTES`] in all.
fn places(dashboard: &ResultsDashboard) -> HashMap<(Uuid, i64), Vec<QuoteOfDocument>> {
    let requirements = dashboard.requirements.iter().enumerate();
    let requirements = requirements.map(|(at, one)| (QuotingPosition::Requirement(at), &one.sources));
    let stories = dashboard.user_stories.iter().enumerate();
    let stories = stories.map(|(at, one)| (QuotingPosition::UserStory(at), &one.sources));
    let quotes = requirements.chain(stories).flat_map(|(item, sources)| {
        sources.iter().enumerate().filter_map(move |(index, source)| quote_of_document(item, index, source))
    });
    let mut places: HashMap<_, Vec<QuoteOfDocument>> = HashMap::new();
    for (document, quote) in quotes.take(QUOTES) {
        places.entry(document).or_default().push(quote);
    }
    places
}

fn quote_of_document(
    item: QuotingPosition,
    index: usize,
    source: &SourceReference,
) -> Option<((Uuid, i64), QuoteOfDocument)> {
    let place = QuoteSpan { start: source.start_offset, end: source.end_offset };
    Some(((source.document_id?, source.version), QuoteOfDocument { item, index, place }))
}
