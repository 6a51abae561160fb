//! What the people of an invitation see of the project.

use actors::ids::{self, Id};
use actors::run::Run;
use uuid::Uuid;

use super::model::{ReviewScope, SelectedItems};
use crate::analysis::dashboard::operations as dashboards;
use crate::analysis::items;
use crate::db::Conn;
use crate::http::error::ApiError;
use crate::http::reason::Reason;
use crate::reviews::baselines;
use crate::reviews::baselines::model::Baseline;

/// What is shown, with what its scope needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReviewShown {
    /// What a run found.
    Run(Id<Run>),
    /// The specification.
    All,
    Approved,
    Baseline(Id<Baseline>),
    /// These items, in the order of their ids, each once.
    Selected(Vec<Uuid>),
}

impl ReviewShown {
    /// Reads it from the fields of a request.
    ///
    /// # Errors
    /// 422 for a field that the scope does not have, or that is missing.
    pub fn of(
        run_id: Option<Id<Run>>,
        scope: Option<ReviewScope>,
        baseline_id: Option<Id<Baseline>>,
        item_ids: Option<SelectedItems>,
    ) -> Result<Self, ApiError> {
        let scope = scope.unwrap_or(ReviewScope::All);
        let invalid = |field: &str, sentence: &str| ApiError::field(field, Reason::InvalidValue, sentence);
        let required = |field: &str| ApiError::field(field, Reason::Required, Reason::Required.sentence());
        if run_id.is_some() && scope != ReviewScope::All {
            return Err(invalid("runId", "What a run found is shown as a whole: leave out this or scope."));
        }
        if baseline_id.is_some() && scope != ReviewScope::Baseline {
            return Err(invalid("baselineId", "Only the scope BASELINE has a baseline."));
        }
        if item_ids.is_some() && scope != ReviewScope::Selected {
            return Err(invalid("itemIds", "Only the scope SELECTED has items."));
        }
        match scope {
            ReviewScope::All => Ok(run_id.map_or(Self::All, Self::Run)),
            ReviewScope::Approved => Ok(Self::Approved),
            ReviewScope::Baseline => baseline_id.map(Self::Baseline).ok_or_else(|| required("baselineId")),
            ReviewScope::Selected => {
                item_ids.map(|SelectedItems(ids)| Self::Selected(ids)).ok_or_else(|| required("itemIds"))
            }
        }
    }

    #[must_use]
    pub const fn scope(&self) -> ReviewScope {
        match self {
            Self::Run(_) | Self::All => ReviewScope::All,
            Self::Approved => ReviewScope::Approved,
            Self::Baseline(_) => ReviewScope::Baseline,
            Self::Selected(_) => ReviewScope::Selected,
        }
    }

    #[must_use]
    pub const fn run_id(&self) -> Option<Id<Run>> {
        if let Self::Run(id) = self { Some(*id) } else { None }
    }

    #[must_use]
    pub const fn baseline_id(&self) -> Option<Id<Baseline>> {
        if let Self::Baseline(id) = self { Some(*id) } else { None }
    }

    #[must_use]
    pub fn selected(&self) -> Option<&[Uuid]> {
        if let Self::Selected(ids) = self { Some(ids) } else { None }
    }

    /// Checks that all of it is in the project.
    ///
    /// # Errors
    /// 422 for what is not, and for a run without a result.
    pub async fn must_be_of(&self, conn: &mut Conn, project_id: Id<ids::Project>) -> Result<(), ApiError> {
        let invalid = |field: &str, sentence: &str| Err(ApiError::field(field, Reason::InvalidValue, sentence));
        match self {
            Self::All | Self::Approved => Ok(()),
            Self::Run(id) => match dashboards::run_with_result(conn, project_id, Some(*id)).await {
                Ok(()) => Ok(()),
                Err(missing) if missing.code.status < 500 => {
                    invalid("runId", "This must be a run of the project with a result.")
                }
                Err(failed) => Err(failed),
            },
            Self::Baseline(id) => match baselines::store::find(conn, project_id, *id).await? {
                Some(_) => Ok(()),
                None => invalid("baselineId", "This must be a baseline of the project."),
            },
            Self::Selected(ids) => match items::store::count_of(conn, project_id, ids).await? == ids.len() {
                true => Ok(()),
                false => invalid("itemIds", "These must be items of the project."),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_scope_has_its_own_field_and_no_other() {
        let (run, baseline, item) = (Id::generate(), Id::generate(), Uuid::from_u128(1));
        let scopes = [ReviewScope::All, ReviewScope::Approved, ReviewScope::Baseline, ReviewScope::Selected];
        let mut accepted = Vec::new();
        for scope in scopes {
            for fields in 0..8 {
                let has = |bit: u8| fields & bit != 0;
                let shown = ReviewShown::of(
                    has(1).then_some(run),
                    Some(scope),
                    has(2).then_some(baseline),
                    has(4).then(|| SelectedItems(vec![item])),
                );
                if let Ok(shown) = shown {
                    assert_eq!(shown.scope(), scope);
                    accepted.push(shown);
                }
            }
        }
        let selected = ReviewShown::Selected(vec![item]);
        let all =
            [ReviewShown::All, ReviewShown::Run(run), ReviewShown::Approved, ReviewShown::Baseline(baseline), selected];
        assert_eq!(accepted, all);
        assert_eq!(ReviewShown::of(None, None, None, None).unwrap(), ReviewShown::All);
    }
}
