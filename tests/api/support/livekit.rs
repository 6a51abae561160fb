//! A fake LiveKit server for tests: the RoomService over Twirp, with rooms and participants, which can be made to fail;
//! and webhooks with LiveKit's signature.
//!
//! It accepts what LiveKit accepts: JSON, with a token that is signed with the secret and grants only the one call. A
//! separate test checks that LiveKit's own SDK works with it.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use actix_web::{HttpRequest, HttpResponse, web};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use livekit_api::access_token::{AccessToken, Claims, TokenVerifier};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::client::{Answer, Client};
use super::local_server::LocalServer;

pub const KEY: &str = "storykey";
pub const SECRET: &str = "a-secret-of-the-stories-with-32-characters";

/// How the server responds to calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Behaviour {
    Well,
    /// With 500.
    Failing,
    /// With no response at all.
    Silent,
    /// With a redirect to the same path, once; afterwards [`Behaviour::Well`].
    Astray,
}

/// A call that was received, whatever the response was.
#[derive(Debug, Clone)]
pub struct Call {
    pub method: String,
    pub body: Value,
    pub request_id: String,
}

#[derive(Debug, Clone, Default)]
pub struct Room {
    pub sid: String,
    /// The body of CreateRoom.
    pub request: Value,
    /// Identity, name of the connection, and its start in milliseconds.
    pub people: Vec<(String, String, i64)>,
}

struct Inside {
    mood: Behaviour,
    rooms: BTreeMap<String, Room>,
    calls: Vec<Call>,
}

/// A running fake server. It stops when this value is dropped.
pub struct LiveKit {
    inside: Arc<Mutex<Inside>>,
    server: LocalServer,
    pub port: u16,
    url: String,
}

impl LiveKit {
    pub fn start() -> Self {
        Self::on(0)
    }

    /// Starts on a given port, such as the one of an earlier server. Panics when the port is in use.
    pub fn on(port: u16) -> Self {
        let inside = Inside { mood: Behaviour::Well, rooms: BTreeMap::new(), calls: Vec::new() };
        let inside = Arc::new(Mutex::new(inside));
        let shared = web::Data::from(Arc::clone(&inside));
        let server = LocalServer::on(port, move |routes| {
            routes.app_data(shared.clone()).route("/twirp/livekit.RoomService/{method}", web::post().to(call));
        });
        let port = server.port;
        Self { inside, server, port, url: format!("ws://127.0.0.1:{port}") }
    }

    /// Returns the settings with which a Colloquy server uses this LiveKit.
    pub fn settings(&self) -> Vec<(&str, &str)> {
        vec![
            ("COLLOQUY__LIVEKIT__URL", &self.url),
            ("COLLOQUY__LIVEKIT__API_KEY", KEY),
            ("COLLOQUY__LIVEKIT__API_SECRET", SECRET),
            ("COLLOQUY__LIVEKIT__TIMEOUT_SECONDS", "2"),
            ("COLLOQUY__LIVEKIT__LOOK_SECONDS", "1"),
        ]
    }

    pub fn url(&self) -> &str {
        &self.url
    }

    fn inside(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().unwrap()
    }

    pub fn is(&self, mood: Behaviour) {
        self.inside().mood = mood;
    }

    /// Stops the server and returns its port, for [`LiveKit::on`].
    pub async fn stop(self) -> u16 {
        self.server.stop().await;
        self.port
    }

    pub fn room(&self, name: &str) -> Option<Room> {
        self.inside().rooms.get(name).cloned()
    }

    /// Adds a participant's connection to a room and returns it. Panics when the room does not exist.
    pub fn comes(&self, room: &str, identity: &str) -> Connection {
        let connection = Connection::fresh(identity);
        let mut inside = self.inside();
        let room = inside.rooms.get_mut(room).expect("a room that was made");
        room.people.push((connection.identity.clone(), connection.name.clone(), connection.began_at_ms));
        connection
    }

    /// Removes a connection from a room, as if it had broken.
    pub fn goes(&self, room: &str, connection: &Connection) {
        let mut inside = self.inside();
        inside.rooms.get_mut(room).unwrap().people.retain(|(_, name, _)| *name != connection.name);
    }

    /// Deletes a room, as LiveKit's operator can.
    pub fn closes(&self, room: &str) {
        self.inside().rooms.remove(room);
    }

    /// Returns the calls of a method, in order.
    pub fn calls(&self, method: &str) -> Vec<Call> {
        self.inside().calls.iter().filter(|call| call.method == method).cloned().collect()
    }

    /// Waits until a method was called at least `count` times and returns its calls. Panics after 30 s.
    pub async fn wait_for(&self, method: &str, count: usize) -> Vec<Call> {
        let deadline = Instant::now() + Duration::from_secs(30);
        loop {
            let calls = self.calls(method);
            if calls.len() >= count {
                return calls;
            }
            assert!(Instant::now() < deadline, "{method}: {:?}", self.inside().calls);
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}

fn refusal(status: u16, code: &str, why: &str) -> HttpResponse {
    let status = actix_web::http::StatusCode::from_u16(status).unwrap();
    HttpResponse::build(status).json(json!({"code": code, "msg": why}))
}

/// Returns whether a token grants this call and nothing else, for at most 600 s.
fn grants(claims: &Claims, method: &str, body: &Value) -> bool {
    let video = &claims.video;
    let no_more = !video.room_join && !video.room_record && !video.ingress_admin && claims.exp - claims.nbf <= 600;
    let is_for_room = video.room_admin && !video.room.is_empty() && body["room"] == video.room.as_str();
    no_more
        && match method {
            "CreateRoom" | "DeleteRoom" => video.room_create && !video.room_admin && !video.room_list,
            "ListRooms" => video.room_list && !video.room_create && !video.room_admin,
            _ => is_for_room && !video.room_create && !video.room_list,
        }
}

async fn call(
    request: HttpRequest,
    method: web::Path<String>,
    bytes: web::Bytes,
    inside: web::Data<Mutex<Inside>>,
) -> HttpResponse {
    let header =
        |name: &str| request.headers().get(name).and_then(|value| value.to_str().ok()).unwrap_or("").to_owned();
    if !header("content-type").starts_with("application/json") {
        return refusal(404, "bad_route", "unexpected Content-Type");
    }
    let Ok(body) = serde_json::from_slice::<Value>(&bytes) else {
        return refusal(400, "malformed", "the json request could not be decoded");
    };
    let call = Call { method: method.into_inner(), body, request_id: header("x-request-id") };
    let mood = inside.lock().unwrap().take(call, &header("authorization"));
    match mood {
        Ok(answer) => answer,
        Err(Behaviour::Astray) => {
            HttpResponse::TemporaryRedirect().insert_header(("location", request.path())).finish()
        }
        Err(Behaviour::Silent) => std::future::pending().await,
        Err(Behaviour::Failing | Behaviour::Well) => refusal(500, "internal", "it is not well"),
    }
}

impl Inside {
    /// Records a call and applies it under the same lock: a test that sees the call also sees its effect. Returns the
    /// mood where that prevents a regular response.
    fn take(&mut self, call: Call, authorization: &str) -> Result<HttpResponse, Behaviour> {
        let Call { method, body, .. } = call.clone();
        self.calls.push(call);
        match self.mood {
            Behaviour::Well => {}
            Behaviour::Astray => {
                self.mood = Behaviour::Well;
                return Err(Behaviour::Astray);
            }
            mood => return Err(mood),
        }
        let token = authorization.strip_prefix("Bearer ").unwrap_or_default();
        let Ok(claims) = TokenVerifier::with_api_key(KEY, SECRET).verify(token) else {
            return Ok(refusal(401, "unauthenticated", "invalid token"));
        };
        if !grants(&claims, &method, &body) {
            return Ok(refusal(403, "permission_denied", "permissions denied"));
        }
        Ok(answer(&mut self.rooms, &method, &body))
    }
}

fn answer(rooms: &mut BTreeMap<String, Room>, method: &str, body: &Value) -> HttpResponse {
    static LAST: AtomicU64 = AtomicU64::new(0);
    let text = |name: &str| body[name].as_str().unwrap_or_default().to_owned();
    let listed = |name: &str, room: &Room| json!({"sid": room.sid, "name": name, "numParticipants": room.people.len()});
    match method {
        "CreateRoom" => {
            let sid = format!("RM_{}", LAST.fetch_add(1, Ordering::Relaxed));
            let new = Room { sid, request: body.clone(), people: Vec::new() };
            let room = rooms.entry(text("name")).or_insert(new);
            HttpResponse::Ok().json(listed(&text("name"), room))
        }
        "DeleteRoom" => match rooms.remove(&text("room")) {
            Some(_) => HttpResponse::Ok().json(json!({})),
            None => refusal(404, "not_found", "could not find object"),
        },
        "ListRooms" => {
            let names: Vec<&str> = body["names"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
            let found = rooms.iter().filter(|(name, _)| names.is_empty() || names.contains(&name.as_str()));
            HttpResponse::Ok().json(json!({"rooms": found.map(|(name, room)| listed(name, room)).collect::<Vec<_>>()}))
        }
        "ListParticipants" => {
            let people = rooms.get(&text("room")).map(|room| room.people.clone()).unwrap_or_default();
            let people = people.iter().map(|(identity, sid, at)| {
                json!({"identity": identity, "sid": sid, "state": "ACTIVE", "joinedAtMs": at.to_string()})
            });
            HttpResponse::Ok().json(json!({"participants": people.collect::<Vec<_>>()}))
        }
        "UpdateParticipant" => {
            let people = rooms.get(&text("room")).map(|room| &room.people);
            if people.is_some_and(|people| people.iter().any(|(identity, ..)| *identity == text("identity"))) {
                HttpResponse::Ok().json(json!({"identity": text("identity"), "permission": body["permission"]}))
            } else {
                refusal(404, "not_found", "participant does not exist")
            }
        }
        "RemoveParticipant" => {
            let people = rooms.get_mut(&text("room")).map(|room| &mut room.people);
            let Some(people) = people else { return refusal(404, "not_found", "could not find object") };
            let before = people.len();
            people.retain(|(identity, ..)| *identity != text("identity"));
            if people.len() < before {
                HttpResponse::Ok().json(json!({}))
            } else {
                refusal(404, "not_found", "participant does not exist")
            }
        }
        _ => refusal(404, "bad_route", "no handler"),
    }
}

/// A participant's connection to a room.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Connection {
    pub identity: String,
    pub name: String,
    pub began_at_ms: i64,
}

impl Connection {
    /// Creates a connection that starts now.
    pub fn fresh(identity: &str) -> Self {
        static LAST: AtomicU64 = AtomicU64::new(0);
        let name = format!("PA_{}", LAST.fetch_add(1, Ordering::Relaxed));
        Self { identity: identity.to_owned(), name, began_at_ms: now_ms() }
    }
}

pub fn now_ms() -> i64 {
    i64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis()).unwrap()
}

/// A webhook event in LiveKit's format, with an id of its own.
#[derive(Debug, Clone)]
pub struct Event(pub Value);

impl Event {
    pub fn of(kind: &str, room: &str, sid: &str) -> Self {
        static LAST: AtomicU64 = AtomicU64::new(0);
        Self(json!({
            "event": kind, "id": format!("EV_{}", LAST.fetch_add(1, Ordering::Relaxed)),
            "createdAt": (now_ms() / 1000).to_string(), "room": {"sid": sid, "name": room},
        }))
    }

    pub fn about(kind: &str, room: &str, connection: &Connection) -> Self {
        let mut event = Self::of(kind, room, "RM_1");
        event.0["participant"] = json!({
            "sid": connection.name, "identity": connection.identity, "state": "ACTIVE",
            "joinedAt": (connection.began_at_ms / 1000).to_string(), "joinedAtMs": connection.began_at_ms.to_string(),
        });
        event
    }

    /// Sets the time of the event.
    pub fn at(mut self, millis: i64) -> Self {
        self.0["createdAt"] = json!((millis / 1000).to_string());
        self
    }

    /// Sends the event to the webhook endpoint, signed as LiveKit does.
    pub async fn send_to(&self, to: &Client) -> Answer {
        let body = self.0.to_string();
        let signature = signature(SECRET, &body, Duration::from_secs(300));
        to.post("/api/webhooks/livekit").header("authorization", signature).body("application/webhook+json", body).await
    }
}

/// Returns the `Authorization` header of a webhook with this body, valid for `life`.
pub fn signature(secret: &str, body: &str, life: Duration) -> String {
    let hash = STANDARD.encode(Sha256::digest(body));
    AccessToken::with_api_key(KEY, secret).with_ttl(life).with_sha256(&hash).to_jwt().unwrap()
}
