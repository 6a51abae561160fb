//! What requests find mounted beside their operation: the state of each area, put there by wiring.

use std::any::{TypeId, type_name};

use actix_web::HttpRequest;

use super::failure::Failure;

/// A state that wiring mounts as app data. Clones are the same one.
pub trait Mounted: Clone + 'static {
    /// The one that serves this request.
    ///
    /// # Errors
    /// 500: it is not mounted, which wiring looks for at start.
    fn of(request: &HttpRequest) -> Result<Self, Failure> {
        request.app_data::<Self>().cloned().ok_or_else(|| Failure::internal(format!("no {}", type_name::<Self>())))
    }
}

/// Names a state that has to be mounted.
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
