//! Server-sent events: one topic as `text/event-stream`, from its state to its last event.

use std::convert::Infallible;
use std::fmt::Write;
use std::pin::Pin;
use std::time::Duration;

use actix_web::http::header;
use actix_web::{HttpRequest, HttpResponse};
use actors::live::{Told, Topic};
use bytes::Bytes;
use futures_util::Stream;
use futures_util::stream::unfold;
use tokio::time::{Instant, Interval, MissedTickBehavior, interval_at};
use uuid::Uuid;

use super::ending::{Ending, ending};
use super::feed::{Fed, Feed, Since};
use crate::access::caller::Caller;
use crate::http::code::Code;
use crate::http::failure::Failure;
use crate::http::input::{Input, Raw};
use crate::http::places::Place;
use crate::live::state::RealTime;

/// Between two comments on a quiet stream, so that nobody on the way takes it for dead.
const HEARTBEAT: Duration = Duration::from_secs(15);

/// Where the client of an event stream stood: `Last-Event-ID`. What is no number is not there.
pub struct LastEventId(pub Option<u64>);

impl Input for LastEventId {
    async fn take(request: &HttpRequest, _: Raw) -> Result<Self, Failure> {
        let header = request.headers().get("last-event-id").and_then(|value| value.to_str().ok());
        Ok(Self(header.and_then(|text| text.trim().parse().ok())))
    }
}

/// Streams a topic: each event as `id: <offset>`, `event: <kind>`, `data: <the whole changed resource>`.
///
/// Without `after` the present state comes first, as the event that would tell it; with it, the events that came after
/// that offset, or the present state where they are not kept. The stream ends after an event that `ends`, or when the
/// session or the server does.
///
/// # Errors
/// 403, 404: the caller may not listen to that. 429: too many streams. 503.
pub async fn stream(
    state: &RealTime,
    caller: Caller,
    topic: Topic,
    after: Option<u64>,
    ends: fn(event: &str) -> bool,
) -> Result<HttpResponse, Failure> {
    let place = state.streams.take(caller.user_id.uuid()).ok_or_else(|| Failure {
        retry_after: Some(HEARTBEAT),
        ..Failure::saying(Code::TOO_MANY_REQUESTS, "Too many open streams.")
    })?;
    let since = after.map(|offset| Since { epoch: None, offset });
    let (feed, beginning) = Feed::begin(state.clone(), caller.into(), topic, since).await?;
    let (first, is_over) = match &beginning.snapshot {
        Some(snapshot) => (Some(written(snapshot.offset, snapshot.event, &snapshot.data)), ends(snapshot.event)),
        None => (None, is_over(state, topic, beginning.offset, ends).await?),
    };
    let quiet = {
        let mut quiet = interval_at(Instant::now() + HEARTBEAT, HEARTBEAT);
        quiet.set_missed_tick_behavior(MissedTickBehavior::Delay);
        quiet
    };
    let going = Going { feed, ending: Box::pin(ending(state.clone(), caller.into())), quiet, ends, _place: place };
    let stage = Stage { first, going: (!is_over).then_some(going) };
    Ok(HttpResponse::Ok()
        .insert_header((header::CONTENT_TYPE, "text/event-stream"))
        .insert_header((header::CACHE_CONTROL, "no-store"))
        // Proxies of the nginx kind hold back what they were not told to pass on.
        .insert_header(("x-accel-buffering", "no"))
        .streaming(bodies(stage)))
}

/// Whether the last event that the client had was the end already.
async fn is_over(state: &RealTime, topic: Topic, offset: u64, ends: fn(&str) -> bool) -> Result<bool, Failure> {
    let snapshot = state.audiences.of(topic.kind)?.snapshot(topic.id).await?;
    Ok(snapshot.offset <= offset && ends(snapshot.event))
}

struct Stage {
    first: Option<Bytes>,
    /// `None`: nothing follows.
    going: Option<Going>,
}

struct Going {
    feed: Feed,
    ending: Pin<Box<dyn Future<Output = Ending>>>,
    quiet: Interval,
    ends: fn(&str) -> bool,
    _place: Place<Uuid>,
}

fn bodies(stage: Stage) -> impl Stream<Item = Result<Bytes, Infallible>> {
    unfold(stage, |Stage { first, going }| async move {
        if let Some(first) = first {
            return Some((Ok(first), Stage { first: None, going }));
        }
        let mut going = going?;
        let (bytes, goes_on) = tokio::select! {
            biased;
            _ = &mut going.ending => return None,
            fed = going.feed.next() => match fed {
                Fed::Told(told) => (event(&told), !(going.ends)(&told.kind)),
                // The client comes back with its last id and is told why, or begins anew.
                Fed::Refused(_) | Fed::Behind => return None,
            },
            _ = going.quiet.tick() => (Bytes::from_static(b":\n\n"), true),
        };
        Some((Ok(bytes), Stage { first: None, going: goes_on.then_some(going) }))
    })
}

fn event(told: &Told) -> Bytes {
    written(told.offset, &told.kind, &told.data)
}

/// JSON of ours has one line.
fn written(offset: u64, kind: &str, data: &str) -> Bytes {
    let mut event = String::with_capacity(data.len() + kind.len() + 40);
    // Writing to a string does not fail.
    let _ = write!(event, "id: {offset}\nevent: {kind}\ndata: {data}\n\n");
    event.into()
}
