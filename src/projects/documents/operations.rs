//! Documents, one function an operation.

use crate::app::App;

/// Drops contents that no document has any more.
pub async fn forget_contents(_: &App, _: Vec<String>) {}
