//! Deletes the files of imports that have been read, or that are gone with their project.

use futures_util::FutureExt;

use super::store;
use crate::analysis::state::Analysis;
use crate::clients::files::SETTLED;

/// Deletes the files that no import has to read any more; returns their number.
///
/// # Errors
/// Returns the reason why some files were not deleted.
pub async fn sweep(state: &Analysis) -> Result<usize, String> {
    let db = state.db.clone();
    let kept = move |contents| {
        let db = db.clone();
        async move {
            let kept = db.read(move |conn| Box::pin(store::kept(conn, contents))).await;
            Ok(kept?)
        }
        .boxed()
    };
    state.imports.files.sweep((state.now() - SETTLED).utc().into(), kept, &state.tasks.stopping()).await
}
