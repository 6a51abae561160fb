//! Server-sent events: one topic as `text/event-stream`, from its present state to its last event.

use std::convert::Infallible;
use std::fmt::Write;
use std::pin::Pin;
use std::time::Duration;

use actix_web::http::header;
use actix_web::{HttpRequest, HttpResponse};
use actors::event_kind::EventKind;
use actors::live::{EventRecord, Topic};
use bytes::Bytes;
use futures_util::Stream;
use futures_util::stream::unfold;
use tokio::time::{Instant, Interval, MissedTickBehavior, interval_at};
use utoipa::openapi::schema::{ObjectBuilder, Type};
use uuid::Uuid;

use super::end_conditions::{EndCondition, ending};
use super::topic_stream::{Since, StreamItem, TopicStream};
use crate::access::principal::Caller;
use crate::http::code::Code;
use crate::http::connection_limit::ConnectionPermit;
use crate::http::error::ApiError;
use crate::http::input::{Described, Input, Raw, header_parameter};
use crate::live::state::RealTime;

/// The interval of comment lines on an idle stream, so that intermediaries do not consider it dead.
const HEARTBEAT: Duration = Duration::from_secs(15);

/// The position a client resumes from: the header `Last-Event-ID`. A value that is not a number is ignored.
pub struct LastEventId(pub Option<u64>);

impl Input for LastEventId {
    async fn take(request: &HttpRequest, _: Raw) -> Result<Self, ApiError> {
        let header = request.headers().get("last-event-id").and_then(|value| value.to_str().ok());
        Ok(Self(header.and_then(|text| text.trim().parse().ok())))
    }

    fn describe() -> Described {
        let about = "The `id` of the last event that the client received: the stream resumes after it. Absent, or no \
                     number: it begins with the present state.";
        let text = ObjectBuilder::new().schema_type(Type::String);
        Described { parameters: vec![header_parameter("Last-Event-ID", about, text)], ..Described::default() }
    }
}

/// Streams a topic, each event as `id: <offset>`, `event: <kind>` and `data: <the whole changed resource>`.
///
/// Without `after` the stream starts with the present state, sent as the event that matches it; with `after`, it starts
/// with the events after that offset, or with the present state if those are no longer stored. It ends after an event
/// for which `ends` is true, or when the session ends or the server shuts down.
///
/// # Errors
/// 403 or 404 when the caller may not subscribe to the topic; 429 for too many streams; 503 when the store is
/// unavailable.
pub async fn stream(
    state: &RealTime,
    caller: Caller,
    topic: Topic,
    after: Option<u64>,
    ends: fn(EventKind) -> bool,
) -> Result<HttpResponse, ApiError> {
    let permit = state.streams.acquire(caller.user_id.uuid()).ok_or_else(|| ApiError {
        retry_after: Some(HEARTBEAT),
        ..ApiError::with_message(Code::TOO_MANY_REQUESTS, "Too many open streams.")
    })?;
    let since = after.map(|offset| Since { epoch: None, offset });
    let (feed, beginning) = TopicStream::begin(state.clone(), caller.into(), topic, since).await?;
    let (first, is_over) = match &beginning.snapshot {
        Some(snapshot) => (Some(written(snapshot.offset, snapshot.event, &snapshot.data)), ends(snapshot.event)),
        None => (None, is_over(state, topic, beginning.offset, ends).await?),
    };
    let quiet = {
        let mut quiet = interval_at(Instant::now() + HEARTBEAT, HEARTBEAT);
        quiet.set_missed_tick_behavior(MissedTickBehavior::Delay);
        quiet
    };
    let going =
        SseStream { feed, ending: Box::pin(ending(state.clone(), caller.into())), quiet, ends, _permit: permit };
    let stage = SseStage { first, going: (!is_over).then_some(going) };
    Ok(HttpResponse::Ok()
        .insert_header((header::CONTENT_TYPE, "text/event-stream"))
        .insert_header((header::CACHE_CONTROL, "no-store"))
        // Proxies such as nginx buffer a response unless this header forbids it.
        .insert_header(("x-accel-buffering", "no"))
        .streaming(bodies(stage)))
}

/// Whether the last event that the client received was already the final one.
async fn is_over(state: &RealTime, topic: Topic, offset: u64, ends: fn(EventKind) -> bool) -> Result<bool, ApiError> {
    let snapshot = state.audiences.of(topic.kind)?.snapshot(topic.id).await?;
    Ok(snapshot.offset <= offset && ends(snapshot.event))
}

struct SseStage {
    first: Option<Bytes>,
    /// `None` if nothing follows.
    going: Option<SseStream>,
}

struct SseStream {
    feed: TopicStream,
    ending: Pin<Box<dyn Future<Output = EndCondition>>>,
    quiet: Interval,
    ends: fn(EventKind) -> bool,
    _permit: ConnectionPermit<Uuid>,
}

fn bodies(stage: SseStage) -> impl Stream<Item = Result<Bytes, Infallible>> {
    unfold(stage, |SseStage { first, going }| async move {
        if let Some(first) = first {
            return Some((Ok(first), SseStage { first: None, going }));
        }
        let mut going = going?;
        let (bytes, goes_on) = tokio::select! {
            biased;
            _ = &mut going.ending => return None,
            fed = going.feed.next() => match fed {
                StreamItem::Event(record) => (event(&record), !(going.ends)(record.kind)),
                // The client reconnects with its last id, and is then refused or starts again.
                StreamItem::Refused(_) | StreamItem::Behind => return None,
            },
            _ = going.quiet.tick() => (Bytes::from_static(b":\n\n"), true),
        };
        Some((Ok(bytes), SseStage { first: None, going: goes_on.then_some(going) }))
    })
}

fn event(record: &EventRecord) -> Bytes {
    written(record.offset, record.kind, &record.data)
}

/// Formats an event. The JSON is on a single line, as all serialized data of this server.
fn written(offset: u64, kind: EventKind, data: &str) -> Bytes {
    let mut event = String::with_capacity(data.len() + kind.as_str().len() + 40);
    // Writing to a string does not fail.
    let _ = write!(event, "id: {offset}\nevent: {kind}\ndata: {data}\n\n");
    event.into()
}
