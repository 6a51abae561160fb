//! The queries of the lists of requirements and user stories.

use pipeline::result::{Priority, RequirementType};
use utoipa::PartialSchema;
use utoipa::openapi::path::Parameter;

use super::model::WorkflowStatus;
use crate::http::fields::{Fields, Rejected};
use crate::http::input::{Query, query_parameter};
use crate::http::list::Search;

/// The filter of the list of items.
#[derive(Debug, Clone, Query)]
pub struct Filter {
    /// Of requirements alone: see [`RequirementFilter`].
    #[query(skip)]
    pub item_type: Option<RequirementType>,
    /// Return only items with this priority.
    pub priority: Option<Priority>,
    /// Return only items with this workflow status.
    pub status: Option<WorkflowStatus>,
    /// Return only items whose text contains this text.
    pub search: Option<Search>,
}

/// The filter of the list of requirements: that of the user stories, and the type.
pub struct RequirementFilter(pub Filter);

/// By hand, because the type is first in an error and last in the document.
impl Query for RequirementFilter {
    fn has(key: &str) -> bool {
        key == "type" || Filter::has(key)
    }
    fn read(fields: &mut Fields) -> Result<Self, Rejected> {
        let item_type = fields.optional("type");
        let filter = Filter::read(fields)?;
        Ok(Self(Filter { item_type: item_type?, ..filter }))
    }
    fn parameters() -> Vec<Parameter> {
        let mut parameters = Filter::parameters();
        parameters.push(query_parameter("type", "Return only requirements of this type.", RequirementType::schema()));
        parameters
    }
}
