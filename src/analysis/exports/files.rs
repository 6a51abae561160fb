//! Deletes the files of exports that have expired, or that are gone with their project.

use futures_util::FutureExt;

use super::store::{self, KEPT};
use crate::analysis::state::Analysis;

/// Deletes the files that no export keeps any more; returns their number. A file is as old as its export at least, so that those
/// which are younger than [`KEPT`] need not be looked up.
///
/// # Errors
/// Returns the reason why some files were not deleted.
pub async fn sweep(state: &Analysis) -> Result<usize, String> {
    let (db, now) = (state.db.clone(), state.now());
    let kept = move |contents| {
        let db = db.clone();
        async move {
            let kept = db.read(move |conn| Box::pin(store::kept(conn, contents, now))).await;
            Ok(kept?)
        }
        .boxed()
    };
    state.exports.files.sweep((now - KEPT).utc().into(), kept, &state.tasks.stopping()).await
}
