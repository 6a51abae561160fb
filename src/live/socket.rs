//! One socket: an actor that listens to topics for a client. The one file that names actix-web-actors.
//!
//! ```text
//!   client --> Inbound --> Socket (actor) --> pump --> body of the 101 --> client
//!                            ^   window: nothing more in flight than it holds
//!                  feeds, one a topic; ending: session revoked, server stops
//! ```
//! The actor is driven by a task of its own, since the HTTP server does not poll a body whose client does not read: it
//! could notice nothing and never end. For the same reason the end of a connection has a limit, after which it is cut.
//!
//! Closes with 1008 (a frame that can't be read, a session that ended), 1003 (binary), 1009 (a frame too large), 1012
//! (the server stops), 1013 (the client reads too slowly, or has to begin anew), 1001 (the client is silent).

use std::collections::HashMap;
use std::convert::Infallible;
use std::rc::Rc;
use std::time::Duration;

use actix::{Actor, ActorContext, ActorFutureExt, AsyncContext, SpawnHandle, StreamHandler, WrapFuture};
use actix_http::ws::Item;
use actix_web::body::{BodyStream, BoxBody, MessageBody};
use actix_web::{HttpRequest, HttpResponse};
use actix_web_actors::ws::{self, CloseCode, Message, ProtocolError};
use actors::live::Topic;
use bytes::{Bytes, BytesMut};
use bytestring::ByteString;
use futures_util::Stream;
use futures_util::stream::{poll_fn, unfold};
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout};
use uuid::Uuid;

use super::ending::{Ending, ending};
use super::feed::{Fed, Feed, Since};
use super::frames::{self, Asked};
use super::inbound::Inbound;
use super::window::Window;
use crate::access::caller::Visitor;
use crate::http::code::Code;
use crate::http::failure::Failure;
use crate::http::line::Line;
use crate::http::places::Place;
use crate::live::state::RealTime;

/// The largest frame, and message, that a client may send.
pub const MAX_FRAME_BYTES: usize = 64 * 1024;
/// How many topics one socket may listen to.
pub const MAX_SUBSCRIPTIONS: usize = 100;
/// Between two pings of an idle socket.
const HEARTBEAT: Duration = Duration::from_secs(20);
/// A client that says nothing for so long, not even a pong, is gone.
const SILENCE: Duration = Duration::from_secs(60);
/// How often the two, and the window, are looked at.
const LOOK: Duration = Duration::from_secs(1);
/// How long a connection that was closed may take to end; then it is cut.
const END: Duration = Duration::from_secs(2);
/// What a client sends after the close is read until it pauses so long: unread bytes would make the system take back
/// what was sent, the close among it.
const QUIET: Duration = Duration::from_millis(250);

struct Socket {
    state: RealTime,
    caller: Visitor,
    inbound: Inbound,
    window: Rc<Window>,
    feeds: HashMap<Topic, SpawnHandle>,
    /// A message that comes in several frames.
    pieces: Option<BytesMut>,
    heard_at: Instant,
    pinged_at: Instant,
    /// Free again when the socket is gone.
    _place: Place<Uuid>,
}

/// Goes on with a request as a socket.
///
/// # Errors
/// 400: it does not ask for that.
pub fn open(
    state: RealTime,
    caller: Visitor,
    place: Place<Uuid>,
    request: &HttpRequest,
    payload: actix_web::dev::Payload,
) -> Result<HttpResponse, Failure> {
    let line = request.conn_data::<Line>().cloned();
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
        heard_at: now,
        pinged_at: now,
        _place: place,
    };
    let upgraded = ws::WsResponseBuilder::new(socket, request, inbound.clone()).frame_size(MAX_FRAME_BYTES).start();
    let upgraded = upgraded.map_err(|error| {
        let asked = "Open this address as a WebSocket: Connection: Upgrade, Upgrade: websocket, version 13.";
        Failure { cause: Some(error.to_string().into()), ..Failure::saying(Code::BAD_REQUEST, asked) }
    })?;
    let (head, session) = upgraded.into_parts();
    let (sender, mut sent) = mpsc::unbounded_channel::<Option<Bytes>>();
    actix_web::rt::spawn(pump(session, inbound, sender, line));
    let body = poll_fn(move |cx| sent.poll_recv(cx).map(|next| next.flatten().map(Ok::<_, Infallible>)));
    Ok(head.set_body(BoxBody::new(BodyStream::new(body))))
}

/// Drives the actor, and sees the connection to its end. What waits in `sender` is bounded by the window.
async fn pump(
    mut session: BoxBody,
    inbound: Inbound,
    sender: mpsc::UnboundedSender<Option<Bytes>>,
    line: Option<Line>,
) {
    loop {
        let next = tokio::select! {
            next = std::future::poll_fn(|cx| Pin::new(&mut session).poll_next(cx)) => next,
            // The connection is gone, and the actor with it.
            () = sender.closed() => return,
        };
        match next {
            Some(Ok(bytes)) => {
                if sender.send(Some(bytes)).is_err() {
                    return;
                }
            }
            Some(Err(_)) | None => break,
        }
    }
    drop(session);
    let finish = async {
        while timeout(QUIET, inbound.discard()).await.is_ok_and(|more| more) {}
        // Nobody there to hear it is fine: then it is over already.
        let _ = sender.send(None);
        sender.closed().await;
    };
    if timeout(END, finish).await.is_err()
        && let Some(line) = line
    {
        line.cut();
    }
}

/// What comes from a topic.
enum Out {
    Frame(ByteString),
    /// The subscription ended, and this says why.
    Last(Topic, ByteString),
    /// The client has to begin anew.
    Behind,
}

/// What one subscription sends, as fast as the window takes it.
fn outgoing(
    state: RealTime,
    caller: Visitor,
    topic: Topic,
    since: Option<Since>,
    window: Rc<Window>,
) -> impl Stream<Item = Out> + 'static {
    enum Stage {
        Begin(RealTime, Option<Since>),
        Going(Box<Feed>),
        Over,
    }
    unfold(Stage::Begin(state, since), move |stage| {
        let window = Rc::clone(&window);
        async move {
            let (out, stage) = match stage {
                Stage::Begin(state, since) => match Feed::begin(state, caller, topic, since).await {
                    Ok((feed, beginning)) => {
                        (Out::Frame(frames::subscribed(topic, &beginning)), Stage::Going(Box::new(feed)))
                    }
                    Err(failure) => (Out::Last(topic, refusal(topic, &failure)), Stage::Over),
                },
                Stage::Going(mut feed) => match feed.next().await {
                    Fed::Told(told) => (Out::Frame(frames::event(&told)), Stage::Going(feed)),
                    Fed::Refused(failure) => (Out::Last(topic, refusal(topic, &failure)), Stage::Over),
                    Fed::Behind => (Out::Behind, Stage::Over),
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

fn refusal(topic: Topic, failure: &Failure) -> ByteString {
    if let Some(cause) = &failure.cause {
        tracing::warn!(%topic, cause, "a subscription failed");
    }
    frames::error(Some(&topic.to_string()), failure)
}

type Context = ws::WebsocketContext<Socket>;

impl Actor for Socket {
    type Context = Context;

    fn started(&mut self, context: &mut Context) {
        context.run_interval(LOOK, Self::look);
        let ending = ending(self.state.clone(), self.caller).into_actor(self);
        context.spawn(ending.map(|ending, _, context| match ending {
            Ending::Revoked => close(context, CloseCode::Policy, "the session has ended, or the place in the meeting"),
            Ending::Stopping => close(context, CloseCode::Restart, "the server restarts: resume shortly"),
        }));
    }
}

/// Says why, and stops. What was sent before is still delivered.
fn close(context: &mut Context, code: CloseCode, why: &str) {
    context.close(Some((code, why).into()));
    context.stop();
}

impl StreamHandler<Result<Message, ProtocolError>> for Socket {
    fn handle(&mut self, message: Result<Message, ProtocolError>, context: &mut Context) {
        let now = Instant::now();
        self.heard_at = now;
        match message {
            Ok(Message::Text(text)) => self.read(text.as_bytes(), context),
            Ok(Message::Continuation(item)) => self.assemble(item, context),
            Ok(Message::Binary(_)) => close(context, CloseCode::Unsupported, "frames are text"),
            Ok(Message::Ping(payload)) => {
                context.pong(&payload);
                self.answered(payload.len(), context);
            }
            Ok(Message::Pong(payload)) => {
                self.window.pong(&payload);
                self.ping(context);
            }
            Ok(Message::Close(reason)) => {
                // A code that may not be sent is not sent back.
                let code = reason.map(|reason| reason.code).filter(|code| !matches!(code, CloseCode::Abnormal));
                context.close(Some(code.unwrap_or(CloseCode::Normal).into()));
                context.stop();
            }
            Ok(Message::Nop) => {}
            Err(_) if self.inbound.was_too_large() => {
                close(context, CloseCode::Size, "a frame may have 65,536 bytes");
            }
            Err(ProtocolError::Io(_)) => context.stop(),
            Err(ProtocolError::Overflow) => close(context, CloseCode::Size, "a frame may have 65,536 bytes"),
            Err(error) => close(context, CloseCode::Protocol, &error.to_string()),
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
            Out::Behind => return close(context, CloseCode::Again, "begin anew: what was missed is not kept"),
        }
        self.ping(context);
    }

    /// The end of one subscription is not the end of the socket.
    fn finished(&mut self, _: &mut Context) {}
}

impl Socket {
    fn assemble(&mut self, item: Item, context: &mut Context) {
        let (bytes, is_last) = match item {
            Item::FirstText(bytes) => {
                self.pieces = Some(BytesMut::new());
                (bytes, false)
            }
            Item::FirstBinary(_) => return close(context, CloseCode::Unsupported, "frames are text"),
            Item::Continue(bytes) => (bytes, false),
            Item::Last(bytes) => (bytes, true),
        };
        let Some(pieces) = &mut self.pieces else {
            return close(context, CloseCode::Protocol, "a continuation of nothing");
        };
        if pieces.len() + bytes.len() > MAX_FRAME_BYTES {
            return close(context, CloseCode::Size, "a message may have 65,536 bytes");
        }
        pieces.extend_from_slice(&bytes);
        if is_last && let Some(text) = self.pieces.take() {
            self.read(&text, context);
        }
    }

    fn read(&mut self, text: &[u8], context: &mut Context) {
        match serde_json::from_slice(text) {
            Ok(Asked::Ping {}) => self.say(frames::pong(), context),
            Ok(Asked::Subscribe { topic, since }) => {
                if let Err(failure) = self.subscribe(&topic, since.and_then(|stood| stood.since()), context) {
                    self.say(frames::error(Some(&topic), &failure), context);
                }
            }
            Ok(Asked::Unsubscribe { topic }) => {
                if let Some(feed) = topic.parse().ok().and_then(|topic: Topic| self.feeds.remove(&topic)) {
                    context.cancel_future(feed);
                }
            }
            Err(error) => {
                let failure = Failure::saying(Code::BAD_REQUEST, format!("The frame can't be read: {error}."));
                self.say(frames::error(None, &failure), context);
                close(context, CloseCode::Policy, "a frame could not be read");
            }
        }
    }

    /// Listens to a topic; to one that is listened to already, anew.
    fn subscribe(&mut self, topic: &str, since: Option<Since>, context: &mut Context) -> Result<(), Failure> {
        let topic: Topic = topic.parse().map_err(|_| {
            Failure::saying(Code::VALIDATION_ERROR, "A topic is meeting:<id>, run:<id> or project:<id>.")
        })?;
        self.state.limits.calls.take(&self.caller.uuid().to_string())?;
        if let Some(former) = self.feeds.remove(&topic) {
            context.cancel_future(former);
        }
        if self.feeds.len() >= MAX_SUBSCRIPTIONS {
            let most = format!("A socket listens to {MAX_SUBSCRIPTIONS} topics at most.");
            return Err(Failure::saying(Code::TOO_MANY_REQUESTS, most));
        }
        let outgoing = outgoing(self.state.clone(), self.caller, topic, since, Rc::clone(&self.window));
        self.feeds.insert(topic, context.add_stream(outgoing));
        Ok(())
    }

    /// Answers what the client asked.
    fn say(&mut self, frame: ByteString, context: &mut Context) {
        let bytes = frame.len();
        context.text(frame);
        self.answered(bytes, context);
    }

    fn answered(&mut self, bytes: usize, context: &mut Context) {
        if self.window.answer(bytes) {
            self.ping(context);
        } else {
            close(context, CloseCode::Again, "read what you asked for");
        }
    }

    fn ping(&mut self, context: &mut Context) {
        let now = Instant::now();
        if let Some(ping) = self.window.ping(now) {
            self.pinged_at = now;
            context.ping(&ping);
        }
    }

    fn look(&mut self, context: &mut Context) {
        let now = Instant::now();
        if self.window.is_stalled(now) {
            close(context, CloseCode::Again, "too slow: resume from where you are");
        } else if now.duration_since(self.heard_at) > SILENCE {
            close(context, CloseCode::Away, "silent for too long");
        } else if now.duration_since(self.pinged_at) > HEARTBEAT
            && let Some(ping) = self.window.beat(now)
        {
            self.pinged_at = now;
            context.ping(&ping);
        }
    }
}
