//! What counts against a limit that has to hold across restarts: rows of who (as a keyed hash) tried what, and when.

use std::time::Duration;

use actors::ids::Id;
use actors::time::Time;
use diesel::{ExpressionMethods, QueryDsl};

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

/// Counts one attempt in each class for its key, unless one of them is full: then nothing is counted, and `Some` says
/// how long to wait. A class of zero has no limit.
///
/// # Errors
/// The database's own.
pub async fn count(conn: &mut Conn, rates: &[(Rate, String)], now: Time) -> Result<Option<Duration>, Failed> {
    let mut longest = Duration::ZERO;
    for (rate, key_hash) in rates {
        longest = longest.max(wait(conn, *rate, key_hash, now).await?);
    }
    if !longest.is_zero() {
        return Ok(Some(longest));
    }
    for (rate, key_hash) in rates.iter().filter(|(rate, _)| rate.most > 0) {
        let counted = (
            attempts::id.eq(Key(Id::<()>::draw())),
            attempts::class.eq(rate.class),
            attempts::key_hash.eq(key_hash.clone()),
            attempts::at.eq(At(now)),
        );
        diesel::insert_into(attempts::table).values(counted).execute(conn).await?;
    }
    Ok(None)
}

/// Forgets what no window reaches any longer; gives how many rows.
///
/// # Errors
/// The database's own.
pub async fn sweep(conn: &mut Conn, now: Time) -> Result<usize, Failed> {
    Ok(diesel::delete(attempts::table.filter(attempts::at.le(At(now - LONGEST)))).execute(conn).await?)
}
