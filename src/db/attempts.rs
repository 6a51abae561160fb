//! What counts against a limit that has to hold across restarts: rows of who (as a keyed hash) tried what, and when.

use std::time::Duration;

use actors::ids::Id;
use actors::time::Time;
use diesel::sql_types::BigInt;
use diesel::{ExpressionMethods, QueryDsl};
use sha2::{Digest, Sha256};

use super::schema::attempts;
use super::{At, Conn, Failed, Key, RunQueryDsl};

/// At most `most` attempts of a class within `window`, for one key.
#[derive(Debug, Clone, Copy)]
pub struct Rate {
    /// Names the class in the rows.
    pub class: &'static str,
    pub most: i64,
    pub window: Duration,
}

/// No window is longer: attempts older than this are forgotten by [`sweep`].
pub const LONGEST: Duration = Duration::from_secs(24 * 3600);

/// How long until one more attempt of a key is allowed; zero: now.
///
/// # Errors
/// The database's own.
pub async fn wait(conn: &mut Conn, rate: Rate, key_hash: &str, now: Time) -> Result<Duration, Failed> {
    if rate.most <= 0 {
        return Ok(Duration::ZERO);
    }
    // The window is free again once the oldest of the last `most` has left it.
    let oldest: Vec<At> = attempts::table
        .filter(attempts::class.eq(rate.class))
        .filter(attempts::key_hash.eq(key_hash))
        .filter(attempts::at.gt(At(now - rate.window)))
        .order(attempts::at.desc())
        .offset(rate.most - 1)
        .limit(1)
        .select(attempts::at)
        .load(conn)
        .await?;
    Ok(oldest.as_slice().first().map_or(Duration::ZERO, |oldest| (oldest.0 + rate.window).since(now)))
}

/// What was counted, to be taken back where it turns out not to count.
#[must_use]
#[derive(Debug, Default)]
pub struct Counted(Vec<(&'static str, Id<Attempt>)>);

/// A row of what was tried.
#[derive(Debug)]
pub struct Attempt;

/// Counts one attempt in each class for its key, unless one of them is full: then nothing is counted, and `Err` says how
/// long to wait. A class of zero has no limit. Call it once in a transaction, with all its keys: they are waited for.
///
/// # Errors
/// The database's own.
pub async fn reserve(
    conn: &mut Conn,
    rates: &[(Rate, String)],
    now: Time,
) -> Result<Result<Counted, Duration>, Failed> {
    take_turns(conn, rates).await?;
    let mut longest = Duration::ZERO;
    for (rate, key_hash) in rates {
        longest = longest.max(wait(conn, *rate, key_hash, now).await?);
    }
    if !longest.is_zero() {
        return Ok(Err(longest));
    }
    let mut counted = Counted::default();
    for (rate, key_hash) in rates.iter().filter(|(rate, _)| rate.most > 0) {
        let id = Id::draw();
        let row = (
            attempts::id.eq(Key(id)),
            attempts::class.eq(rate.class),
            attempts::key_hash.eq(key_hash.clone()),
            attempts::at.eq(At(now)),
        );
        diesel::insert_into(attempts::table).values(row).execute(conn).await?;
        counted.0.push((rate.class, id));
    }
    Ok(Ok(counted))
}

/// As [`reserve`], for what counts whatever becomes of it; `Some` says how long to wait.
///
/// # Errors
/// The database's own.
pub async fn count(conn: &mut Conn, rates: &[(Rate, String)], now: Time) -> Result<Option<Duration>, Failed> {
    Ok(reserve(conn, rates, now).await?.err())
}

/// Takes back what was counted, the classes in `but` excepted.
///
/// # Errors
/// The database's own.
pub async fn release(conn: &mut Conn, counted: Counted, but: &[&str]) -> Result<(), Failed> {
    for (_, id) in counted.0.into_iter().filter(|(class, _)| !but.contains(class)) {
        diesel::delete(attempts::table.find(Key(id))).execute(conn).await?;
    }
    Ok(())
}

/// Forgets what a key tried in a class.
///
/// # Errors
/// The database's own.
pub async fn forget(conn: &mut Conn, class: &str, key_hash: &str) -> Result<(), Failed> {
    let tried = attempts::table.filter(attempts::class.eq(class)).filter(attempts::key_hash.eq(key_hash));
    diesel::delete(tried).execute(conn).await?;
    Ok(())
}

/// Keeps two transactions from counting one key at once: each would not see the other's rows, and the limit would be
/// passed. On SQLite there is one writer anyway.
async fn take_turns(conn: &mut Conn, rates: &[(Rate, String)]) -> Result<(), Failed> {
    let Conn::Pg(pg) = conn else { return Ok(()) };
    let limited = rates.iter().filter(|(rate, _)| rate.most > 0);
    let mut keys: Vec<i64> = limited.map(|(rate, key_hash)| lock_key(rate.class, key_hash)).collect();
    // Always in the same order, so that no two wait for each other.
    keys.sort_unstable();
    keys.dedup();
    for key in keys {
        let lock = diesel::sql_query("SELECT pg_advisory_xact_lock($1)").bind::<BigInt, _>(key);
        diesel_async::RunQueryDsl::execute(lock, &mut **pg).await?;
    }
    Ok(())
}

fn lock_key(class: &str, key_hash: &str) -> i64 {
    let digest = Sha256::new().chain_update(class).chain_update([0]).chain_update(key_hash).finalize();
    digest.first_chunk::<8>().map_or(0, |first| i64::from_be_bytes(*first))
}

/// Forgets what no window reaches any longer; gives how many rows.
///
/// # Errors
/// The database's own.
pub async fn sweep(conn: &mut Conn, now: Time) -> Result<usize, Failed> {
    Ok(diesel::delete(attempts::table.filter(attempts::at.le(At(now - LONGEST)))).execute(conn).await?)
}
