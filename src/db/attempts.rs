//! What counts against a limit that has to hold across restarts: rows of who (as a keyed hash) tried what, and when.

use std::collections::HashMap;
use std::time::Duration;

use actors::ids::Id;
use actors::time::Time;
use diesel::sql_types::{Array, BigInt};
use diesel::{ExpressionMethods, Insertable, QueryDsl};
use sha2::{Digest, Sha256};

use super::schema::attempts;
use super::sweep::Over;
use super::{At, Conn, Failed, Key, RunQueryDsl, many};

/// At most `most` attempts of a class within `window`, for one key.
#[derive(Debug, Clone, Copy)]
pub struct Rate {
    /// Names the class in the rows.
    pub class: &'static str,
    pub most: i64,
    pub window: Duration,
}

/// No window is longer: attempts older than this are [`OVER`].
pub const LONGEST: Duration = Duration::from_secs(24 * 3600);

/// How long until one more attempt of a key is allowed; zero: now.
///
/// # Errors
/// The database's own.
pub async fn wait(conn: &mut Conn, rate: Rate, key_hash: &str, now: Time) -> Result<Duration, Failed> {
    wait_for_all(conn, rate, &HashMap::from([(key_hash, 1)]), now).await
}

/// How long until so many more attempts of each of these keys are allowed; zero: now.
async fn wait_for_all(conn: &mut Conn, rate: Rate, more: &HashMap<&str, usize>, now: Time) -> Result<Duration, Failed> {
    let Some(most) = usize::try_from(rate.most).ok().filter(|most| *most > 0) else { return Ok(Duration::ZERO) };
    let keys: Vec<String> = more.keys().map(|key_hash| (*key_hash).to_owned()).collect();
    let kept: Vec<(String, At)> = attempts::table
        .filter(attempts::class.eq(rate.class))
        .filter(attempts::key_hash.eq_any(keys))
        .filter(attempts::at.gt(At(now - rate.window)))
        .order(attempts::at.desc())
        .select((attempts::key_hash, attempts::at))
        .load(conn)
        .await?;
    let mut tried: HashMap<&str, Vec<Time>> = HashMap::new();
    for (key_hash, at) in &kept {
        tried.entry(key_hash).or_default().push(at.0);
    }
    let waits = more.iter().map(|(key_hash, more)| {
        // More at once than are ever allowed.
        let Some(stay) = most.checked_sub(*more) else { return rate.window };
        // There is room once the oldest has left the window that may not stay in it.
        let leaving = tried.get(key_hash).and_then(|tried| tried.get(stay));
        leaving.map_or(Duration::ZERO, |at| (*at + rate.window).since(now))
    });
    Ok(waits.max().unwrap_or_default())
}

/// What was counted, to be taken back where it turns out not to count.
#[must_use]
#[derive(Debug, Default)]
pub struct Counted(Vec<(&'static str, Id<Attempt>)>);

/// A row of what was tried.
#[derive(Debug)]
pub struct Attempt;

#[derive(Insertable)]
#[diesel(table_name = attempts)]
struct Row {
    id: Key<Attempt>,
    class: &'static str,
    key_hash: String,
    at: At,
}

/// Counts one attempt in each class for its key, and several of one key as several, unless one of them is full: then nothing
/// is counted, and `Err` says how long to wait. A class of zero has no limit. Call it once in a transaction, with all its
/// keys: they are waited for.
///
/// # Errors
/// The database's own.
pub async fn reserve(
    conn: &mut Conn,
    rates: &[(Rate, String)],
    now: Time,
) -> Result<Result<Counted, Duration>, Failed> {
    take_turns(conn, rates).await?;
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
        id: Key(Id::draw()),
        class: rate.class,
        key_hash: key_hash.clone(),
        at: At(now),
    };
    let rows: Vec<Row> = limited.map(row).collect();
    many!(conn, &rows, |some| diesel::insert_into(attempts::table).values(some));
    Ok(Ok(Counted(rows.into_iter().map(|row| (row.class, row.id.0)).collect())))
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
    let lock = "SELECT pg_advisory_xact_lock(key) FROM (SELECT key FROM unnest($1) AS key ORDER BY key) AS keys";
    let lock = diesel::sql_query(lock).bind::<Array<BigInt>, _>(keys);
    diesel_async::RunQueryDsl::execute(lock, &mut **pg).await?;
    Ok(())
}

fn lock_key(class: &str, key_hash: &str) -> i64 {
    let digest = Sha256::new().chain_update(class).chain_update([0]).chain_update(key_hash).finalize();
    digest.first_chunk::<8>().map_or(0, |first| i64::from_be_bytes(*first))
}

/// What no window reaches any longer.
pub const OVER: Over = Over { table: "attempts", key: "id", at: "at", kept: LONGEST };
