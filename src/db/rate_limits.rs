//! Rate limits that hold across restarts: one row per attempt, with its class, a keyed hash of the client or subject,
//! and the time.

use std::collections::HashMap;
use std::time::Duration;

use actors::ids::Id;
use actors::time::Time;
use diesel::sql_types::{Array, BigInt};
use diesel::{ExpressionMethods, Insertable, QueryDsl};
use sha2::{Digest, Sha256};

use super::schema::attempts;
use super::sweep::Retention;
use super::{Conn, DbError, RunQueryDsl, many};

/// At most `most` attempts of a class within `window`, for one key.
#[derive(Debug, Clone, Copy)]
pub struct Rate {
    /// The name of the class in the rows.
    pub class: &'static str,
    pub most: i64,
    pub window: Duration,
}

/// No window is longer: older attempts expire, see [`RETENTION`].
pub const MAX_WINDOW: Duration = Duration::from_secs(24 * 3600);

/// Returns how long until one more attempt of a key is allowed; zero when it is allowed now.
///
/// # Errors
/// Returns the database error.
pub async fn wait(conn: &mut Conn, rate: Rate, key_hash: &str, now: Time) -> Result<Duration, DbError> {
    wait_for_all(conn, rate, &HashMap::from([(key_hash, 1)]), now).await
}

/// Returns how long until `more` further attempts of each key are allowed; zero when they are allowed now.
async fn wait_for_all(
    conn: &mut Conn,
    rate: Rate,
    more: &HashMap<&str, usize>,
    now: Time,
) -> Result<Duration, DbError> {
    let Some(most) = usize::try_from(rate.most).ok().filter(|most| *most > 0) else { return Ok(Duration::ZERO) };
    let keys: Vec<String> = more.keys().map(|key_hash| (*key_hash).to_owned()).collect();
    let rows: Vec<(String, Time)> = attempts::table
        .filter(attempts::class.eq(rate.class))
        .filter(attempts::key_hash.eq_any(keys))
        .filter(attempts::at.gt(now - rate.window))
        .order(attempts::at.desc())
        .select((attempts::key_hash, attempts::at))
        .load(conn)
        .await?;
    let mut tried: HashMap<&str, Vec<Time>> = HashMap::new();
    for (key_hash, at) in &rows {
        tried.entry(key_hash).or_default().push(*at);
    }
    let waits = more.iter().map(|(key_hash, more)| {
        // More at once than are ever allowed.
        let Some(stay) = most.checked_sub(*more) else { return rate.window };
        // They are allowed once the oldest attempt that has to leave the window has left it.
        let leaving = tried.get(key_hash).and_then(|tried| tried.get(stay));
        leaving.map_or(Duration::ZERO, |at| (*at + rate.window).since(now))
    });
    Ok(waits.max().unwrap_or_default())
}

/// Counted attempts, to be released when they turn out not to count.
#[must_use]
#[derive(Debug, Default)]
pub struct Reservation(Vec<(&'static str, Id<CountedAttempt>)>);

/// A counted attempt (a marker type for ids).
#[derive(Debug)]
pub struct CountedAttempt;

#[derive(Insertable)]
#[diesel(table_name = attempts)]
struct Row {
    id: Id<CountedAttempt>,
    class: &'static str,
    key_hash: String,
    at: Time,
}

/// Counts one attempt for each class and key, and a key given several times as several, unless one of the limits is
/// reached: then nothing is counted, and `Err` holds the time to wait. A class with `most` zero has no limit. Call it
/// once per transaction, with all its keys, because it waits for their locks.
///
/// # Errors
/// Returns the database error.
pub async fn reserve(
    conn: &mut Conn,
    rates: &[(Rate, String)],
    now: Time,
) -> Result<Result<Reservation, Duration>, DbError> {
    lock_keys(conn, rates).await?;
    let mut classes: HashMap<&'static str, (Rate, HashMap<&str, usize>)> = HashMap::new();
    for (rate, key_hash) in rates {
        let (_, more) = classes.entry(rate.class).or_insert_with(|| (*rate, HashMap::new()));
        *more.entry(key_hash).or_default() += 1;
    }
    let mut longest = Duration::ZERO;
    for (rate, more) in classes.values() {
        longest = longest.max(wait_for_all(conn, *rate, more, now).await?);
    }
    if !longest.is_zero() {
        return Ok(Err(longest));
    }
    let limited = rates.iter().filter(|(rate, _)| rate.most > 0);
    let row = |(rate, key_hash): &(Rate, String)| Row {
        id: Id::generate(),
        class: rate.class,
        key_hash: key_hash.clone(),
        at: now,
    };
    let rows: Vec<Row> = limited.map(row).collect();
    many!(conn, &rows, |some| diesel::insert_into(attempts::table).values(some));
    Ok(Ok(Reservation(rows.into_iter().map(|row| (row.class, row.id)).collect())))
}

/// [`reserve`] for attempts that count whatever their outcome; `Some` holds the time to wait.
///
/// # Errors
/// Returns the database error.
pub async fn count(conn: &mut Conn, rates: &[(Rate, String)], now: Time) -> Result<Option<Duration>, DbError> {
    Ok(reserve(conn, rates, now).await?.err())
}

/// Deletes counted attempts, except those of the classes in `but`.
///
/// # Errors
/// Returns the database error.
pub async fn release(conn: &mut Conn, counted: Reservation, but: &[&str]) -> Result<(), DbError> {
    for (_, id) in counted.0.into_iter().filter(|(class, _)| !but.contains(class)) {
        diesel::delete(attempts::table.find(id)).execute(conn).await?;
    }
    Ok(())
}

/// Deletes the attempts of a key in a class.
///
/// # Errors
/// Returns the database error.
pub async fn forget(conn: &mut Conn, class: &str, key_hash: &str) -> Result<(), DbError> {
    let tried = attempts::table.filter(attempts::class.eq(class)).filter(attempts::key_hash.eq(key_hash));
    diesel::delete(tried).execute(conn).await?;
    Ok(())
}

/// Locks the keys, so that two transactions don't count one key concurrently: neither would see the other's rows, and
/// the limit would be exceeded. SQLite has a single writer anyway.
async fn lock_keys(conn: &mut Conn, rates: &[(Rate, String)]) -> Result<(), DbError> {
    let Conn::Pg(pg) = conn else { return Ok(()) };
    let limited = rates.iter().filter(|(rate, _)| rate.most > 0);
    let mut keys: Vec<i64> = limited.map(|(rate, key_hash)| lock_key(rate.class, key_hash)).collect();
    // Always in the same order, to avoid a deadlock.
    keys.sort_unstable();
    keys.dedup();
    let lock = "SELECT pg_advisory_xact_lock(key) FROM (SELECT key FROM unnest($1) AS key ORDER BY key) AS keys";
    let lock = diesel::sql_query(lock).bind::<Array<BigInt>, _>(keys);
    diesel_async::RunQueryDsl::execute(lock, &mut **pg).await?;
    Ok(())
}

fn lock_key(class: &str, key_hash: &str) -> i64 {
    let digest = Sha256::new().chain_update(class).chain_update([0]).chain_update(key_hash).finalize();
    digest.first_chunk::<8>().map_or(0, |first| i64::from_be_bytes(*first))
}

/// Attempts that no window reaches any longer.
pub const RETENTION: Retention = Retention { table: "attempts", key: "id", at: "at", period: MAX_WINDOW };
