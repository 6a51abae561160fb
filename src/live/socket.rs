//! A WebSocket connection: an actor that subscribes to topics for a client.
//!
//! The only file that uses actix-web-actors, which is deprecated upstream in favour of actix-ws. What is used of it is little: the
//! handshake, and the context that decodes frames from bytes and encodes them, with the codec of `actix_http::ws`. What it lacks
//! is here: the size of a frame ([`Inbound`]), the speed of the client ([`Window`]), and when the actor is driven.
//!
//! ```text
//!   client --> Inbound --> Socket (actor) --> body of the 101 --> client
//!                            ^   window: nothing more in flight than it holds
//!                  topic streams, one per topic; ending: session revoked, server stops
//! ```
//! The actor is driven by the task of the connection, whether the client reads or not: see `http::upgrade`.
//!
//! [`CloseReason`] lists the close codes.

use std::collections::HashMap;
use std::rc::Rc;
use std::time::Duration;

use actix::{Actor, ActorContext, ActorFutureExt, AsyncContext, SpawnHandle, StreamHandler, WrapFuture};
use actix_http::ws::Item;
use actix_web::{HttpRequest, HttpResponse};
use actix_web_actors::ws::{self, CloseCode, Message, ProtocolError};
use actors::live::Topic;
use bytes::BytesMut;
use bytestring::ByteString;
use futures_util::Stream;
use futures_util::stream::unfold;
use tokio::time::Instant;
use uuid::Uuid;

use super::close_reasons::CloseReason;
use super::end_conditions::{EndCondition, ending};
use super::frames::{self, ClientFrame};
use super::inbound::Inbound;
use super::topic_stream::{Since, StreamItem, TopicStream};
use super::window::Window;
use crate::access::principal::Principal;
use crate::http::code::Code;
use crate::http::connection_limit::ConnectionPermit;
use crate::http::error::ApiError;
use crate::http::raw_connection::RawConnection;
use crate::live::state::RealTime;

/// The maximum size of a frame, and of a message, that a client may send.
pub const MAX_FRAME_BYTES: usize = 64 * 1024;
/// The maximum number of subscriptions per socket.
pub const MAX_SUBSCRIPTIONS: usize = 100;
/// The interval between pings of an idle socket.
pub const HEARTBEAT: Duration = Duration::from_secs(20);
/// A client that has sent nothing for this long, not even a pong, is considered gone.
pub const SILENCE: Duration = Duration::from_secs(60);
/// How often the heartbeat, the silence and the window are checked.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);

struct Socket {
    state: RealTime,
    caller: Principal,
    inbound: Inbound,
    window: Rc<Window>,
    feeds: HashMap<Topic, SpawnHandle>,
    /// The parts of a fragmented message that have arrived.
    pieces: Option<BytesMut>,
    received_at: Instant,
    pinged_at: Instant,
    /// Released when the socket is dropped.
    _permit: ConnectionPermit<Uuid>,
}

/// Upgrades a request to a socket.
///
/// # Errors
/// 400 when the request is not a WebSocket handshake.
pub fn open(
    state: RealTime,
    caller: Principal,
    permit: ConnectionPermit<Uuid>,
    request: &HttpRequest,
    payload: actix_web::dev::Payload,
) -> Result<HttpResponse, ApiError> {
    let message = "Open this address as a WebSocket: Connection: Upgrade, Upgrade: websocket, version 13.";
    // A handshake with a chunked body is an HTTP request for actix, which would poll the session only while its client reads.
    if !request.conn_data::<RawConnection>().is_some_and(RawConnection::is_switched) {
        return Err(ApiError::with_message(Code::BAD_REQUEST, message));
    }
    let inbound = Inbound::of(payload, MAX_FRAME_BYTES);
    let window = Rc::new(Window::of(state.config.sockets.window_frames, state.config.sockets.window_bytes));
    let now = Instant::now();
    let socket = Socket {
        state,
        caller,
        inbound: inbound.clone(),
        window,
        feeds: HashMap::new(),
        pieces: None,
        received_at: now,
        pinged_at: now,
        _permit: permit,
    };
    let upgraded = ws::WsResponseBuilder::new(socket, request, inbound).frame_size(MAX_FRAME_BYTES).start();
    upgraded.map_err(|error| {
        let cause = Some(error.to_string().into());
        ApiError { cause, ..ApiError::with_message(Code::BAD_REQUEST, message) }
    })
}

/// An item that a subscription sends to the socket.
enum Out {
    Frame(ByteString),
    /// The subscription ended; the frame states the reason.
    Last(Topic, ByteString),
    /// The client has missed events and must subscribe again.
    Behind,
}

/// The stream of a subscription's frames, paced by the window.
fn outgoing(
    state: RealTime,
    caller: Principal,
    topic: Topic,
    since: Option<Since>,
    window: Rc<Window>,
) -> impl Stream<Item = Out> + 'static {
    enum Stage {
        Begin(RealTime, Option<Since>),
        Going(Box<TopicStream>),
        Over,
    }
    unfold(Stage::Begin(state, since), move |stage| {
        let window = Rc::clone(&window);
        async move {
            let (out, stage) = match stage {
                Stage::Begin(state, since) => match TopicStream::begin(state, caller, topic, since).await {
                    Ok((feed, beginning)) => {
                        (Out::Frame(frames::subscribed(topic, &beginning)), Stage::Going(Box::new(feed)))
                    }
                    Err(failure) => (Out::Last(topic, refusal(topic, &failure)), Stage::Over),
                },
                Stage::Going(mut feed) => match feed.next().await {
                    StreamItem::Event(record) => (Out::Frame(frames::event(&record)), Stage::Going(feed)),
                    StreamItem::Refused(failure) => (Out::Last(topic, refusal(topic, &failure)), Stage::Over),
                    StreamItem::Behind => (Out::Behind, Stage::Over),
                },
                Stage::Over => return None,
            };
            if let Out::Frame(frame) | Out::Last(_, frame) = &out {
                window.admit(frame.len()).await;
            }
            Some((out, stage))
        }
    })
}

fn refusal(topic: Topic, failure: &ApiError) -> ByteString {
    if let Some(cause) = &failure.cause {
        tracing::warn!(%topic, cause, "subscription failed");
    }
    frames::error(Some(&topic.to_string()), failure)
}

type Context = ws::WebsocketContext<Socket>;

impl Actor for Socket {
    type Context = Context;

    fn started(&mut self, context: &mut Context) {
        context.run_interval(CHECK_INTERVAL, Self::check_liveness);
        let ending = ending(self.state.clone(), self.caller).into_actor(self);
        context.spawn(ending.map(|ending, _, context| match ending {
            EndCondition::Revoked => close(context, CloseReason::Revoked),
            EndCondition::Stopping => close(context, CloseReason::Stopping),
        }));
    }
}

fn close(context: &mut Context, reason: CloseReason) {
    close_with(context, reason, reason.text());
}

/// Sends a close frame with the reason and stops the actor. Frames sent before are still delivered.
fn close_with(context: &mut Context, reason: CloseReason, why: &str) {
    let number = reason.code();
    metrics::counter!("colloquy_sockets_closed_total", "code" => number.to_string()).increment(1);
    tracing::info!(code = number, why, "socket closed");
    context.close(Some((CloseCode::from(number), why).into()));
    context.stop();
}

impl StreamHandler<Result<Message, ProtocolError>> for Socket {
    fn handle(&mut self, message: Result<Message, ProtocolError>, context: &mut Context) {
        let now = Instant::now();
        self.received_at = now;
        self.inbound.handled();
        match message {
            Ok(Message::Text(text)) => self.read(text.as_bytes(), context),
            Ok(Message::Continuation(item)) => self.assemble(item, context),
            Ok(Message::Binary(_)) => close(context, CloseReason::Binary),
            Ok(Message::Ping(payload)) => {
                context.pong(&payload);
                self.answered(payload.len(), context);
            }
            Ok(Message::Pong(payload)) => {
                self.window.pong(&payload);
                self.ping(context);
            }
            Ok(Message::Close(reason)) => {
                // A code that must not be sent is not echoed.
                let code = reason.map(|reason| reason.code).filter(|code| !matches!(code, CloseCode::Abnormal));
                context.close(Some(code.unwrap_or(CloseCode::Normal).into()));
                context.stop();
            }
            Ok(Message::Nop) => {}
            Err(_) if self.inbound.was_too_large() => {
                close(context, CloseReason::TooLarge);
            }
            Err(ProtocolError::Io(_)) => context.stop(),
            Err(ProtocolError::Overflow) => close(context, CloseReason::TooLarge),
            Err(error) => close_with(context, CloseReason::Protocol, &error.to_string()),
        }
    }
}

impl StreamHandler<Out> for Socket {
    fn handle(&mut self, out: Out, context: &mut Context) {
        match out {
            Out::Frame(frame) => context.text(frame),
            Out::Last(topic, frame) => {
                self.feeds.remove(&topic);
                context.text(frame);
            }
            Out::Behind => {
                return close(context, CloseReason::Behind);
            }
        }
        self.ping(context);
    }

    /// Overridden because the default stops the actor: the end of one subscription does not end the socket.
    fn finished(&mut self, _: &mut Context) {}
}

impl Socket {
    fn assemble(&mut self, item: Item, context: &mut Context) {
        let (bytes, is_last) = match item {
            Item::FirstText(bytes) => {
                self.pieces = Some(BytesMut::new());
                (bytes, false)
            }
            Item::FirstBinary(_) => return close(context, CloseReason::Binary),
            Item::Continue(bytes) => (bytes, false),
            Item::Last(bytes) => (bytes, true),
        };
        let Some(pieces) = &mut self.pieces else {
            return close_with(context, CloseReason::Protocol, "a continuation without a first frame");
        };
        if pieces.len() + bytes.len() > MAX_FRAME_BYTES {
            return close(context, CloseReason::TooLarge);
        }
        pieces.extend_from_slice(&bytes);
        if is_last && let Some(text) = self.pieces.take() {
            self.read(&text, context);
        }
    }

    fn read(&mut self, text: &[u8], context: &mut Context) {
        match serde_json::from_slice(text) {
            Ok(ClientFrame::Ping {}) => self.reply(frames::pong(), context),
            Ok(ClientFrame::Subscribe { topic, since }) => {
                if let Err(failure) = self.subscribe(&topic, since.and_then(|position| position.since()), context) {
                    self.reply(frames::error(Some(&topic), &failure), context);
                }
            }
            Ok(ClientFrame::Unsubscribe { topic }) => {
                if let Some(feed) = topic.parse().ok().and_then(|topic: Topic| self.feeds.remove(&topic)) {
                    context.cancel_future(feed);
                }
            }
            Err(error) => {
                let failure = ApiError::with_message(Code::BAD_REQUEST, format!("The frame can't be read: {error}."));
                self.reply(frames::error(None, &failure), context);
                close(context, CloseReason::InvalidFrame);
            }
        }
    }

    /// Subscribes to a topic; an existing subscription to the same topic is replaced.
    fn subscribe(&mut self, topic: &str, since: Option<Since>, context: &mut Context) -> Result<(), ApiError> {
        let topic: Topic = topic.parse().map_err(|_| {
            ApiError::with_message(Code::VALIDATION_ERROR, "A topic must be meeting:<id>, run:<id> or project:<id>.")
        })?;
        self.state.gate.limits.calls.take(&self.caller.uuid().to_string())?;
        if let Some(former) = self.feeds.remove(&topic) {
            context.cancel_future(former);
        }
        if self.feeds.len() >= MAX_SUBSCRIPTIONS {
            let most = format!("A socket may subscribe to at most {MAX_SUBSCRIPTIONS} topics.");
            return Err(ApiError::with_message(Code::TOO_MANY_REQUESTS, most));
        }
        let outgoing = outgoing(self.state.clone(), self.caller, topic, since, Rc::clone(&self.window));
        self.feeds.insert(topic, context.add_stream(outgoing));
        Ok(())
    }

    /// Sends a reply to a client's frame.
    fn reply(&mut self, frame: ByteString, context: &mut Context) {
        let bytes = frame.len();
        context.text(frame);
        self.answered(bytes, context);
    }

    fn answered(&mut self, bytes: usize, context: &mut Context) {
        if self.window.answer(bytes) {
            self.ping(context);
        } else {
            close(context, CloseReason::Unread);
        }
    }

    fn ping(&mut self, context: &mut Context) {
        let now = Instant::now();
        if let Some(ping) = self.window.ping(now) {
            self.pinged_at = now;
            context.ping(&ping);
        }
    }

    fn check_liveness(&mut self, context: &mut Context) {
        let now = Instant::now();
        if self.window.is_stalled(now) {
            close(context, CloseReason::TooSlow);
        } else if now.duration_since(self.received_at) > SILENCE {
            close(context, CloseReason::Silent);
        } else if (self.window.is_in_use() || now.duration_since(self.pinged_at) > HEARTBEAT)
            && let Some(ping) = self.window.beat(now)
        {
            self.pinged_at = now;
            context.ping(&ping);
        }
    }
}
