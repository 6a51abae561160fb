//! Access to the states that `wiring` mounts as app data.

use std::any::{TypeId, type_name};

use actix_web::HttpRequest;

use super::error::ApiError;
use crate::tasks::Tasks;

/// A state that is mounted as app data. Clones share one state.
pub trait Mounted: Clone + 'static {
    /// Returns the state that is mounted for this request.
    ///
    /// # Errors
    /// 500 if it is not mounted; `wiring` checks this at start.
    fn of(request: &HttpRequest) -> Result<Self, ApiError> {
        request.app_data::<Self>().cloned().ok_or_else(|| ApiError::internal(format!("no {}", type_name::<Self>())))
    }
}

/// A state that an operation needs to be mounted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Need {
    pub id: TypeId,
    pub name: &'static str,
}

impl Need {
    #[must_use]
    pub fn of<M: Mounted>() -> Self {
        Self { id: TypeId::of::<M>(), name: type_name::<M>() }
    }
}

impl Mounted for Tasks {}
