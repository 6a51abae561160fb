//! The journal of live entities on the database: loads them, and saves a batch of changes together with the events that
//! record them, in one transaction. What an area's tables look like, it says in [`Tables`].

use std::borrow::Borrow;
use std::sync::Arc;

use actors::event_kind::EventKind;
use actors::live::{Batch, Decided, EventRecord, Journal, Live, StoreUnavailable, Topic, Unsaved};
use async_trait::async_trait;

use super::at_once::in_order;
use super::conn::{AtOnce, Conn};
use super::error::DbError;
use super::events::ChosenOffsets;
use super::group_commit::GroupCommit;
use super::{Db, Fencing};

/// Loads and saves the entities of some tables for their actors.
pub struct DbJournal<T: Tables> {
    db: Db,
    tables: T,
    shared: GroupCommit<T>,
}

impl<T: Tables> DbJournal<T> {
    pub fn new(db: Db, tables: T) -> Self {
        Self { shared: GroupCommit::new(db.clone(), tables.clone()), db, tables }
    }
}

/// The key of the entities of some tables.
pub type KeyOf<T> = <<T as Tables>::Entity as Live>::Key;

/// The tables of one kind of live entity.
#[async_trait]
pub trait Tables: Clone + Send + Sync + 'static {
    type Entity: Live;
    /// What [`Self::update`] has read, in the same round trip, for [`Self::follow`].
    type Related: Send;

    async fn find(conn: &mut Conn, key: KeyOf<Self>) -> Result<Option<Self::Entity>, DbError>;

    /// Returns several entities; unknown keys are left out.
    async fn find_all(conn: &mut Conn, keys: Vec<KeyOf<Self>>) -> Result<Vec<Self::Entity>, DbError> {
        let mut found = Vec::with_capacity(keys.len());
        for key in keys {
            found.extend(Self::find(conn, key).await?);
        }
        Ok(found)
    }

    /// Returns the keys of all entities that must be awake.
    async fn awake(conn: &mut Conn) -> Result<Vec<KeyOf<Self>>, DbError>;

    /// Whether a save may share its transaction with those of other entities, see [`GroupCommit`]: if it locks no row beside
    /// the entity's own, which other transactions could lock in another order.
    fn may_share(_: &Batch<Self::Entity>) -> bool {
        false
    }

    /// Updates the row of an entity if the stored revision is still the one before the changes; events are appended in the
    /// same round trip. Returns `None` if it is not; the transaction is rolled back then.
    async fn update(conn: AtOnce<'_>, batch: &Batch<Self::Entity>) -> Result<Option<Self::Related>, DbError>;

    /// Writes what the changes entail in other rows. Returns whether a job was enqueued.
    async fn follow(
        &self,
        conn: &mut Conn,
        batch: &Batch<Self::Entity>,
        related: Self::Related,
    ) -> Result<bool, DbError>;

    /// Returns the topic of an entity's own events.
    fn topic(entity: &Self::Entity) -> Topic;

    /// Returns the kind and the payload of an event; `after` is the entity after the change.
    fn event(
        &self,
        after: &Self::Entity,
        event: &<Self::Entity as Live>::Event,
    ) -> Result<(EventKind, String), DbError>;

    /// Appends the events of other topics that follow from the changes, whose own events are `own`. Comes last, because
    /// it locks topics that other transactions write to as well.
    async fn announce(
        conn: &mut Conn,
        batch: &Batch<Self::Entity>,
        own: &[EventRecord],
    ) -> Result<Vec<EventRecord>, NotSaved>;

    /// Called after the commit of a batch that enqueued a job.
    fn wake_jobs(&self) {}
}

/// What a batch left behind: the events to publish, and whether it enqueued a job.
pub struct Saved {
    pub records: Vec<EventRecord>,
    pub has_jobs: bool,
}

/// Why a batch was not written.
pub enum NotSaved {
    /// Another writer was first.
    Conflict,
    Failed(DbError),
}

impl From<DbError> for NotSaved {
    fn from(failed: DbError) -> Self {
        Self::Failed(failed)
    }
}

impl From<NotSaved> for Unsaved {
    fn from(not: NotSaved) -> Self {
        match not {
            NotSaved::Conflict => Self::Conflict,
            NotSaved::Failed(failed) if failed.is_taken() => Self::Conflict,
            NotSaved::Failed(failed) => failed.into(),
        }
    }
}

/// Writes the changes of different entities in the caller's transaction, each entity's in one batch.
///
/// # Errors
/// `Conflict` when a stored revision is no longer the one before the changes; otherwise the database error. Then all of it
/// must be rolled back.
pub async fn write<T: Tables, B: Borrow<Batch<T::Entity>> + Sync>(
    tables: &T,
    conn: &mut Conn,
    batches: &[B],
) -> Result<Vec<Saved>, NotSaved> {
    let sent = send(tables, conn.at_once(), batches).await?;
    finish(tables, conn, batches, sent).await
}

/// Changes whose rows and events were written, and which [`finish`] has to look at.
pub(super) struct Sent<T: Tables> {
    records: Vec<Vec<EventRecord>>,
    updated: Vec<Result<Option<T::Related>, DbError>>,
    appended: Result<(), DbError>,
}

/// Begins [`write`]: writes the rows of the entities and their events, on PostgreSQL in one round trip. The error of a
/// statement is returned by [`finish`].
pub(super) async fn send<T: Tables, B: Borrow<Batch<T::Entity>> + Sync>(
    tables: &T,
    conn: AtOnce<'_>,
    batches: &[B],
) -> Result<Sent<T>, DbError> {
    let records = batches.iter().map(|batch| {
        let Batch { before, changes } = batch.borrow();
        records_of(tables, before.revision(), changes)
    });
    let records = records.collect::<Result<Vec<_>, _>>()?;
    let own = ChosenOffsets::of(records.iter().flatten())?;
    let (updated, appended) = match conn {
        AtOnce::Pg(pg) => {
            let updates = batches.iter().map(|batch| T::update(AtOnce::Pg(pg), batch.borrow()));
            tokio::join!(biased; in_order(updates), own.append(AtOnce::Pg(pg)))
        }
        AtOnce::Sqlite(lite) => {
            let mut updated = Vec::with_capacity(batches.len());
            for batch in batches {
                updated.push(T::update(AtOnce::Sqlite(lite), batch.borrow()).await);
            }
            // After a failed statement SQLite may have no transaction any more.
            let appends = updated.iter().all(Result::is_ok);
            (updated, if appends { own.append(AtOnce::Sqlite(lite)).await } else { Ok(()) })
        }
    };
    Ok(Sent { records, updated, appended })
}

/// Ends [`write`]: writes what the changes entail.
pub(super) async fn finish<T: Tables, B: Borrow<Batch<T::Entity>> + Sync>(
    tables: &T,
    conn: &mut Conn,
    batches: &[B],
    Sent { records, updated, appended }: Sent<T>,
) -> Result<Vec<Saved>, NotSaved> {
    let related = updated.into_iter().map(|related| related?.ok_or(NotSaved::Conflict));
    let related = related.collect::<Result<Vec<T::Related>, _>>()?;
    appended?;
    let mut saved = Vec::with_capacity(batches.len());
    for ((batch, mut records), related) in batches.iter().zip(records).zip(related) {
        let has_jobs = tables.follow(conn, batch.borrow(), related).await?;
        let others = T::announce(conn, batch.borrow(), &records).await?;
        records.extend(others);
        saved.push(Saved { records, has_jobs });
    }
    Ok(saved)
}

/// Returns the events of changes for the topic of their entity, which had the revision `before`.
///
/// # Errors
/// `Broken` when an event can't be written as JSON.
pub fn records_of<T: Tables>(
    tables: &T,
    before: u64,
    changes: &[Decided<T::Entity>],
) -> Result<Vec<EventRecord>, DbError> {
    let mut records = Vec::new();
    for Decided { change, request, at } in changes {
        let topic = T::topic(&change.next);
        for event in &change.events {
            let (kind, data) = tables.event(&change.next, event)?;
            let offset = before + records.len() as u64 + 1;
            let (data, request) = (data.into(), Arc::clone(request));
            records.push(EventRecord { topic, offset, kind, data, at: *at, request });
        }
    }
    Ok(records)
}

#[async_trait]
impl<T: Tables> Journal<T::Entity> for DbJournal<T> {
    async fn load(&self, key: KeyOf<T>) -> Result<Option<T::Entity>, StoreUnavailable> {
        Ok(self.db.read(move |conn| T::find(conn, key)).await?)
    }

    async fn load_all(&self, keys: Vec<KeyOf<T>>) -> Result<Vec<T::Entity>, StoreUnavailable> {
        Ok(self.db.read(move |conn| T::find_all(conn, keys)).await?)
    }

    async fn save(&self, group: Arc<Batch<T::Entity>>) -> Result<Vec<EventRecord>, Unsaved> {
        let deadline = self.db.deadline();
        let Saved { records, has_jobs } = match self.shared.save(&group, deadline).await.map_err(NotSaved::from)? {
            Some(saved) => saved,
            None => {
                let tables = self.tables.clone();
                let alone = self.db.write_as(Fencing::ByTheLease, deadline, move |conn| {
                    Box::pin(async move { write(&tables, conn, &[group]).await })
                });
                let saved = alone.await.map_err(Unsaved::from)?.pop();
                saved.ok_or_else(|| Unsaved::Unknown("the save of a batch said nothing about it".to_owned()))?
            }
        };
        if has_jobs {
            self.tables.wake_jobs();
        }
        Ok(records)
    }

    async fn wait_for_outcomes(&self, _: KeyOf<T>) -> Result<(), StoreUnavailable> {
        self.db.wait_for_outcomes().await;
        Ok(())
    }

    async fn awake(&self) -> Result<Vec<KeyOf<T>>, StoreUnavailable> {
        Ok(self.db.read(|conn| T::awake(conn)).await?)
    }
}
