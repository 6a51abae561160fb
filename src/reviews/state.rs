//! The state of the reviews area.

use std::ops::Deref;
use std::sync::Arc;

use super::known_reviewers::KnownReviewers;
use super::stakeholder_dashboard::cache::ReviewContents;
use crate::analysis::state::Analysis;
use crate::http::mounted::Mounted;

/// The state of this area, with the state of the areas it depends on. Clones share the same state.
#[derive(Clone)]
pub struct Reviews(Arc<ReviewsParts>);

pub struct ReviewsParts {
    pub analysis: Analysis,
    pub known_reviewers: KnownReviewers,
    pub review_contents: ReviewContents,
}

impl Reviews {
    #[must_use]
    pub fn new(parts: ReviewsParts) -> Self {
        Self(Arc::new(parts))
    }
}

impl Deref for Reviews {
    type Target = ReviewsParts;
    fn deref(&self) -> &ReviewsParts {
        &self.0
    }
}

impl Deref for ReviewsParts {
    type Target = Analysis;
    fn deref(&self) -> &Analysis {
        &self.analysis
    }
}

impl Mounted for Reviews {}
