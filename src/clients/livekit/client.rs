//! A client of the RoomService of LiveKit.
//!
//! The protocol is Twirp: one POST of JSON per request. Requests go to the configured host only, without following
//! redirects, each with a timeout and a token of its own that grants nothing else.

use std::fmt::Display;
use std::time::Duration;

use actors::time::Time;
use async_trait::async_trait;
use livekit_api::access_token::VideoGrants;
use reqwest::StatusCode;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use super::token::Signer;
use super::webhook::{WireParticipant, WireRoom};
use super::{MediaConnection, MediaServer, MediaServerError, Pass, RoomSpec, SOURCES, Seal, Token};

/// Maximum number of concurrent requests; further ones wait, within their timeout.
const AT_ONCE: usize = 64;
/// Maximum size of a response. The list of a full room has about 1 KiB per participant.
const MAX_ANSWER_BYTES: usize = 8 * 1024 * 1024;

pub struct LiveKitSettings {
    /// The URL that clients connect to: ws, wss, http or https.
    pub url: String,
    /// The URL that this server connects to; empty means the same as `url`.
    pub api_url: String,
    pub key: String,
    pub secret: String,
    /// Timeout of a whole request, including the wait for a permit.
    pub limit: Duration,
}

pub struct LiveKit {
    url: String,
    api: String,
    signer: Signer,
    http: reqwest::Client,
    permits: Semaphore,
    limit: Duration,
}

/// The Twirp error of a failed request.
#[derive(Deserialize, Default)]
#[serde(default)]
struct Refusal {
    code: String,
    msg: String,
}

impl LiveKit {
    /// # Errors
    /// Returns a message when no HTTP client can be created.
    pub fn new(settings: LiveKitSettings) -> Result<Self, String> {
        let LiveKitSettings { url, api_url, key, secret, limit } = settings;
        let http = reqwest::Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .timeout(limit)
            .connect_timeout(limit)
            // Requests and jobs call from different threads; a pooled connection would close with the thread that
            // opened it.
            .pool_max_idle_per_host(0)
            .user_agent("Colloquy")
            .build()
            .map_err(|error| format!("the media server's client can't be created: {error}"))?;
        let api = with_scheme(if api_url.is_empty() { &url } else { &api_url }, ["http", "https"]);
        let url = with_scheme(&url, ["ws", "wss"]);
        Ok(Self { url, api, signer: Signer::new(key, secret), http, permits: Semaphore::new(AT_ONCE), limit })
    }

    /// Sends one request. Returns `None` when the room or participant does not exist.
    async fn call<A: DeserializeOwned>(
        &self,
        method: &str,
        grants: VideoGrants,
        body: &Value,
        request: &str,
    ) -> Result<Option<A>, MediaServerError> {
        let answer = async {
            let _permit = self.permits.acquire().await.map_err(|closed| away(method, closed))?;
            self.answer(method, grants, body, request).await
        };
        let answered = tokio::time::timeout(self.limit, answer).await;
        answered.unwrap_or_else(|_late| Err(away(method, format!("no answer within {:?}", self.limit))))
    }

    async fn answer<A: DeserializeOwned>(
        &self,
        method: &str,
        grants: VideoGrants,
        body: &Value,
        request: &str,
    ) -> Result<Option<A>, MediaServerError> {
        let token = self.signer.own(grants).map_err(|error| away(method, error))?;
        let calling = self
            .http
            .post(format!("{}/twirp/livekit.RoomService/{method}", self.api))
            .bearer_auth(token)
            .header("x-request-id", request)
            .json(body);
        let mut answer = calling.send().await.map_err(|error| away(method, causes(&error)))?;
        let status = answer.status();
        let mut bytes = Vec::new();
        while let Some(piece) = answer.chunk().await.map_err(|error| away(method, causes(&error)))? {
            if bytes.len() + piece.len() > MAX_ANSWER_BYTES {
                return Err(away(method, "the response is too long"));
            }
            bytes.extend_from_slice(&piece);
        }
        if status == StatusCode::OK {
            return serde_json::from_slice(&bytes).map(Some).map_err(|error| away(method, error));
        }
        let Refusal { code, msg } = serde_json::from_slice(&bytes).unwrap_or_default();
        let why = format!("{} {code} {msg}", status.as_u16());
        match (status, code.as_str()) {
            (StatusCode::NOT_FOUND, "not_found") => Ok(None),
            // Wrong credentials, a server that is not LiveKit, or an overloaded one: every request would fail alike.
            (StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN | StatusCode::NOT_FOUND, _)
            | (StatusCode::TOO_MANY_REQUESTS, _) => Err(away(method, why)),
            (status, _) if status.is_client_error() => Err(MediaServerError::Refused(one_line(method, why))),
            _ => Err(away(method, why)),
        }
    }
}

#[derive(Deserialize)]
struct Done {}

#[derive(Deserialize)]
struct RoomList {
    #[serde(default)]
    rooms: Vec<WireRoom>,
}

#[derive(Deserialize)]
struct ParticipantList {
    #[serde(default)]
    participants: Vec<WireParticipant>,
}

#[async_trait]
impl MediaServer for LiveKit {
    fn url(&self) -> &str {
        &self.url
    }

    fn token(&self, pass: &Pass<'_>) -> Result<Token, String> {
        self.signer.pass(pass)
    }

    fn seal(&self, authorization: &str) -> Option<Seal> {
        Seal::of(&self.signer.verified(authorization)?.sha256)
    }

    async fn make_room(&self, room: &RoomSpec<'_>, request: &str) -> Result<(), MediaServerError> {
        let grants = VideoGrants { room_create: true, ..VideoGrants::default() };
        let idle = room.idle.as_secs();
        let body = json!({
            "name": room.name, "emptyTimeout": idle, "departureTimeout": idle, "maxParticipants": room.most,
            "metadata": room.metadata,
        });
        let made: Option<Done> = self.call("CreateRoom", grants, &body, request).await?;
        made.map(|_| ()).ok_or_else(|| away("CreateRoom", "the method was not found"))
    }

    async fn delete_room(&self, room: &str, request: &str) -> Result<(), MediaServerError> {
        let grants = VideoGrants { room_create: true, ..VideoGrants::default() };
        let done: Result<Option<Done>, _> = self.call("DeleteRoom", grants, &json!({"room": room}), request).await;
        done.map(|_| ())
    }

    async fn remove(&self, room: &str, identity: &str, since: Time, request: &str) -> Result<(), MediaServerError> {
        let body = json!({"room": room, "identity": identity, "revokeTokenTs": (since.millis() / 1000).to_string()});
        let done: Result<Option<Done>, _> = self.call("RemoveParticipant", admin(room), &body, request).await;
        done.map(|_| ())
    }

    async fn permit(
        &self,
        room: &str,
        identity: &str,
        may_publish: bool,
        request: &str,
    ) -> Result<(), MediaServerError> {
        let sources = if may_publish { SOURCES.map(str::to_uppercase).to_vec() } else { Vec::new() };
        let permission = json!({
            "canPublish": may_publish, "canSubscribe": true, "canPublishData": may_publish, "canPublishSources": sources,
        });
        let body = json!({"room": room, "identity": identity, "permission": permission});
        let done: Result<Option<Done>, _> = self.call("UpdateParticipant", admin(room), &body, request).await;
        done.map(|_| ())
    }

    async fn instance(&self, room: &str, request: &str) -> Result<Option<String>, MediaServerError> {
        let grants = VideoGrants { room_list: true, ..VideoGrants::default() };
        let found: Option<RoomList> = self.call("ListRooms", grants, &json!({"names": [room]}), request).await?;
        let mut rooms = found.into_iter().flat_map(|found| found.rooms);
        Ok(rooms.find(|listed| listed.name == room).map(|listed| listed.sid))
    }

    async fn connections(&self, room: &str, request: &str) -> Result<Vec<MediaConnection>, MediaServerError> {
        let found: Option<ParticipantList> =
            self.call("ListParticipants", admin(room), &json!({"room": room}), request).await?;
        Ok(found.into_iter().flat_map(|found| found.participants).map(WireParticipant::connection).collect())
    }
}

fn admin(room: &str) -> VideoGrants {
    VideoGrants { room_admin: true, room: room.to_owned(), ..VideoGrants::default() }
}

fn away(method: &str, why: impl Display) -> MediaServerError {
    MediaServerError::Unavailable(one_line(method, why))
}

/// Makes a text of the media server fit for the log: one line of at most 300 characters.
fn one_line(method: &str, why: impl Display) -> String {
    let text = format!("{method}: {why}");
    text.chars().map(|sign| if sign.is_control() { ' ' } else { sign }).take(300).collect()
}

/// Describes an error with all its causes: the top-level message of reqwest only says that a request failed.
fn causes(error: &reqwest::Error) -> String {
    let mut why = String::from("no answer");
    let mut cause = std::error::Error::source(error);
    while let Some(one) = cause {
        why = format!("{why}: {one}");
        cause = one.source();
    }
    if error.is_timeout() { format!("{why}: timed out") } else { why }
}

/// Replaces the scheme of a URL by the clear-text or TLS one of a pair, and removes the trailing slash.
fn with_scheme(url: &str, [clear, secured]: [&str; 2]) -> String {
    let url = url.trim_end_matches('/');
    match url.split_once("://") {
        Some(("ws" | "http", rest)) => format!("{clear}://{rest}"),
        Some(("wss" | "https", rest)) => format!("{secured}://{rest}"),
        _ => url.to_owned(),
    }
}
