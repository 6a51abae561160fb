//! Reads many items of a project into a spool, some megabytes at a time, as they are at one moment.

use actors::ids::{self, Id};
use actors::time::Time;

use super::spooled::{ItemSpooling, ListedItem, PIECE_BYTES, SpooledItems, pieces};
use super::store::spooling as store;
use crate::db::{Conn, Db, DbError};
use crate::http::spool::{SpoolWriter, unspooled};

/// How often items are read again that changed while others were read.
const MAX_ROUNDS: usize = 10;

/// Items that were listed, and read if they are few.
pub struct FewItems {
    project_id: Id<ids::Project>,
    then: Time,
    spooling: ItemSpooling,
    /// `None` if there are too many to be read at once.
    read: Option<Vec<ListedItem>>,
}

/// Lists a project's items that changed after a time, and reads them if a piece has them all.
///
/// # Errors
/// Only database errors; [`DbError::Busy`] too where the disk is full.
pub async fn few_since(
    conn: &mut Conn,
    project_id: Id<ids::Project>,
    then: Time,
    writer: SpoolWriter,
) -> Result<FewItems, DbError> {
    let listed = store::listed_since(conn, project_id, then).await?;
    let mut few = FewItems { project_id, then, spooling: ItemSpooling::new(writer), read: None };
    if listed.iter().map(|item| item.bytes).sum::<usize>() > PIECE_BYTES {
        return Ok(few);
    }
    let most = i64::try_from(listed.len()).unwrap_or(i64::MAX);
    let read = match most {
        0 => Vec::new(),
        // One statement sees one moment.
        most => store::items_since(conn, project_id, then, most.saturating_add(1)).await?,
    };
    if read.len() > listed.len() {
        return Ok(few);
    }
    for (item, body) in &read {
        few.spooling.add(*item, body).map_err(|error| unspooled(&error))?;
    }
    few.read = Some(read.into_iter().map(|(item, _)| item).collect());
    Ok(few)
}

impl FewItems {
    #[must_use]
    pub fn none(project_id: Id<ids::Project>, writer: SpoolWriter) -> Self {
        let then = Time::at(chrono::DateTime::UNIX_EPOCH);
        Self { project_id, then, spooling: ItemSpooling::new(writer), read: Some(Vec::new()) }
    }

    /// Reads what was too much to be read at once: piece by piece, until what was read is what a list of all says. What changed
    /// meanwhile is read again, so that the items are as they were at the moment of that list.
    ///
    /// # Errors
    /// [`DbError::Busy`] if they change all the time, or the disk is full; other database errors.
    pub async fn all(self, db: &Db) -> Result<SpooledItems, DbError> {
        let Self { project_id, then, mut spooling, read } = self;
        if let Some(read) = read {
            return spooling.finish(&read).map_err(|error| unspooled(&error));
        }
        for _ in 0..MAX_ROUNDS {
            let listed = db.read(move |conn| Box::pin(store::listed_since(conn, project_id, then))).await?;
            let missing = spooling.missing(&listed);
            if missing.is_empty() {
                return spooling.finish(&listed).map_err(|error| unspooled(&error));
            }
            for ids in pieces(&missing) {
                let read = db.read(move |conn| Box::pin(store::items_of(conn, project_id, ids))).await?;
                for (item, body) in &read {
                    spooling.add(*item, body).map_err(|error| unspooled(&error))?;
                }
            }
        }
        Err(DbError::Busy)
    }
}

/// Reads all items of a project, in the order of their numbers.
///
/// # Errors
/// As [`FewItems::all`].
pub async fn all_items(db: &Db, project_id: Id<ids::Project>, writer: SpoolWriter) -> Result<SpooledItems, DbError> {
    let first = Time::at(chrono::DateTime::UNIX_EPOCH);
    db.read(move |conn| Box::pin(few_since(conn, project_id, first, writer))).await?.all(db).await
}
