//! The state of the reviews area.

use super::known_reviewers::KnownReviewers;
use super::stakeholder_dashboard::cache::ReviewContents;
use crate::access::state::Gate;
use crate::accounts::state::Accounts;
use crate::analysis::state::Analysis;
use crate::core::Core;
use crate::http::mounted::Mounted;
use crate::meetings::state::Meetings;
use crate::projects::state::Projects;
use crate::shared_state::shared_state;

shared_state! {
    /// The state of this area, with the state of the areas it depends on.
    Reviews(ReviewsParts) and core: Core
}

pub struct ReviewsParts {
    pub core: Core,
    pub gate: Gate,
    pub accounts: Accounts,
    pub projects: Projects,
    pub meetings: Meetings,
    pub analysis: Analysis,
    pub known_reviewers: KnownReviewers,
    pub review_contents: ReviewContents,
}

impl Mounted for Reviews {}
