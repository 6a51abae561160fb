//! Tests of the permissions (S12) of every route in the route table: a new route is covered automatically, and fails
//! without a row in operations.tsv.
//!
//! The order of refusals is that of the API: 401, 400 for the id's syntax, 404 for the parent, 403, and only then the
//! body.

use actix_web::http::Method;
use colloquy::access::policy::Who;
use colloquy::api::operation::Operation;
use colloquy::routes;
use jsonwebtoken::Header;
use serde_json::{Value, json};

use crate::accounts::tokens;
use crate::meetings::invitations::Guest;
use crate::meetings::participants::TestMeeting;
use crate::openapi;
use crate::reviews::stakeholders::Review;
use crate::support::client::Request;
use crate::support::{Client, Role, User, World};

/// The routes that need no token. A new public route must be listed here too.
pub const PUBLIC: &[&str] = &[
    "POST /api/auth/register",
    "POST /api/auth/confirm-account",
    "POST /api/auth/otp/resend",
    "POST /api/auth/password/forgot",
    "POST /api/auth/password/verify-otp",
    "POST /api/auth/password/reset",
    "POST /api/auth/login",
    "GET /api/auth/google-login",
    "GET /api/auth/google-login/callback",
    "POST /api/auth/google-login/exchange",
    "POST /api/auth/login-link/exchange",
    "POST /api/auth/refresh-token",
    "POST /api/auth/browser-session",
    "POST /api/auth/browser-session/refresh",
    "DELETE /api/auth/browser-session",
    "GET /api/meeting-invitations/{token}",
    "POST /api/meeting-invitations/{token}/accept",
    "POST /api/meeting-invitations/{token}/decline",
    "GET /api/project-invitations/{token}",
    "GET /api/review-invitations/{token}",
    "POST /api/review-invitations/{token}/accept",
    "GET /health/live",
    "GET /health/ready",
    "GET /api/openapi.json",
    "GET /api/asyncapi.json",
    "GET /api/tracker/callback",
];

const NOWHERE: &str = "0189a0f0-0000-7000-8000-000000000000";

/// The expected outcome of each `who` of operations.tsv, for each caller in [`Cast::everybody`]: `u` is a 401, `f` a
/// 403, `o` neither.
const EXPECTED: &[(&str, [&str; 5])] = &[
    // no token, expired token, ended session; user without a project, removed member, manager and owner of another
    // project; stakeholder, analyst, manager, owner; guest of the meeting, guest of another meeting; reviewer of
    // the project, who has no access token
    ("public", ["ooo", "oooo", "oooo", "oo", "o"]),
    ("public, signed in or not", ["ouu", "oooo", "oooo", "oo", "o"]),
    ("user", ["uuu", "oooo", "oooo", "ff", "u"]),
    ("user or guest", ["uuu", "oooo", "oooo", "oo", "u"]),
    ("ticket", ["uuu", "oooo", "oooo", "oo", "u"]),
    ("member", ["uuu", "ffff", "oooo", "ff", "u"]),
    ("analyst", ["uuu", "ffff", "fooo", "ff", "u"]),
    ("manager", ["uuu", "ffff", "ffoo", "ff", "u"]),
    ("owner", ["uuu", "ffff", "fffo", "ff", "u"]),
    ("host", ["uuu", "ffff", "ffoo", "ff", "u"]),
    ("attendee", ["uuu", "ffff", "oooo", "of", "u"]),
    // Of these callers only the owner and the guest are in the meeting.
    ("participant", ["uuu", "ffff", "fffo", "of", "u"]),
    // Of these callers only the analyst and those above may hear what was recorded; no guest ever may.
    ("listener", ["uuu", "ffff", "fooo", "ff", "u"]),
    ("signed", ["uuu", "uuuu", "uuuu", "uu", "u"]),
    // None of these callers is an operator.
    ("operator", ["uuu", "ffff", "ffff", "ff", "u"]),
    ("reviewer", ["uuu", "uuuu", "uuuu", "uu", "o"]),
];

/// Public operations where a token, if one is sent, must be valid, because it determines the account of the response.
const SIGNED_IN_OR_NOT: &[&str] = &["acceptInvitation", "declineInvitation"];

/// Returns the word of operations.tsv for a guard.
const fn word(who: Who) -> &'static str {
    match who {
        Who::Public => "public",
        Who::User => "user",
        Who::UserOrGuest => "user or guest",
        Who::Member => "member",
        Who::Analyst => "analyst",
        Who::Manager => "manager",
        Who::Owner => "owner",
        Who::Host => "host",
        Who::Attendee => "attendee",
        Who::Participant => "participant",
        Who::Listener => "listener",
        Who::Ticket => "ticket",
        Who::Signed => "signed",
        Who::Internal => "internal",
        Who::Service => "service",
        Who::Reviewer => "reviewer",
        Who::Operator => "operator",
    }
}

/// Returns who may call a route according to operations.tsv.
fn row(operation: &Operation) -> &'static str {
    let method = operation.method.as_str().to_lowercase();
    let row = openapi::table().into_iter().find(|row| row.method == method && row.path == operation.path);
    row.unwrap_or_else(|| panic!("{} has no row in operations.tsv", name(operation))).who
}

/// Returns the expected outcomes of a route, in the order of [`Cast::everybody`].
fn expected(who: &str) -> String {
    let found = EXPECTED.iter().find(|(word, _)| *word == who);
    found.unwrap_or_else(|| panic!("nobody has said what {who} means")).1.concat()
}

/// A project of Ada's with a meeting, and a client for each kind of caller.
struct Cast {
    ada: User,
    project: String,
    meeting: String,
    recording: String,
    /// A client with a review token of the project.
    reviewer: Client,
    operator: Client,
    everybody: Vec<(&'static str, Client)>,
}

async fn cast(world: &World) -> Cast {
    let (room, elsewhere) = (TestMeeting::open(world.server).await, TestMeeting::open(world.server).await);
    // Before anybody is there whose consent it would need.
    let recording = json!({"uploadMode": "CHUNKED", "mimeType": "audio/webm"});
    let recording = room.ada.client.post(format!("{}/recordings/start", room.path)).json(recording).await.is(201);
    let recording = recording.text_of("id");
    room.joined(&room.ada).await;
    let (guest, other_guest) = (Guest::of(world.server, &room).await, Guest::of(world.server, &elsewhere).await);
    guest.join(&room).await.is(200);
    other_guest.join(&elsewhere).await.is(200);
    let meeting = room.path.rsplit('/').next().unwrap().to_owned();
    let TestMeeting { ada, project, .. } = room;
    let TestMeeting { ada: ben, project: other, .. } = elsewhere;
    let ended = world.member(&project, Role::Owner).await;
    ended.client.post("/api/auth/logout").await.is(200);
    let removed = world.member(&project, Role::Owner).await;
    let members = format!("/api/projects/{project}/members");
    let all = removed.client.get(format!("{members}?search={}", removed.email)).await.is(200);
    let own = all.data()["items"][0]["id"].as_str().unwrap().to_owned();
    removed.client.delete(format!("{members}/{own}")).await.is(200);
    let reviewer = Review::of(world.server, &ada, &project, "APPROVER").await.client;
    let everybody = vec![
        ("nobody", world.nobody.clone()),
        ("an expired token", world.nobody.bearing(&expired(world, &ada))),
        ("the token of an ended session", ended.client),
        ("a stranger", world.user().await.client),
        ("who was taken out", removed.client),
        ("a manager of another project", world.member(&other, Role::Manager).await.client),
        ("the owner of another project", ben.client),
        ("a stakeholder", world.member(&project, Role::Stakeholder).await.client),
        ("an analyst", world.member(&project, Role::Analyst).await.client),
        ("a manager", world.member(&project, Role::Manager).await.client),
        ("an owner", ada.client.clone()),
        ("a guest of the meeting", guest.client),
        ("a guest of another meeting", other_guest.client),
        ("a reviewer", reviewer.clone()),
    ];
    let operator = world.user().await;
    world.server.set_operator(&operator, true).await;
    Cast { ada, project, meeting, recording, reviewer, operator: operator.client, everybody }
}

/// Returns an access token of a user that is valid except for its expiry.
fn expired(world: &World, user: &User) -> String {
    let header = Header { typ: Some("at+jwt".to_owned()), kid: Some("access-1".to_owned()), ..Header::default() };
    let claims = tokens::part(user.client.token(), 1);
    let past = tokens::with(&claims, "exp", json!(claims["iat"].as_i64().unwrap() - 60));
    tokens::signed(&header, &past, &tokens::key(&world.server.data))
}

impl Cast {
    /// A client that may call an operation.
    fn authorized(&self, operation: &Operation) -> &Client {
        match operation.who {
            Who::Reviewer => &self.reviewer,
            Who::Operator => &self.operator,
            _ => &self.ada.client,
        }
    }

    fn path(&self, operation: &Operation) -> String {
        filled(operation.path, |name| match name {
            "projectId" => self.project.clone(),
            "meetingId" => self.meeting.clone(),
            "recordingId" => self.recording.clone(),
            _ => NOWHERE.to_owned(),
        })
    }
}

/// Returns the path with each parameter replaced by a value. The index of a chunk is no id and always the first.
fn filled(template: &str, value: impl Fn(&str) -> String) -> String {
    let template = &template.replace("{chunkIndex}", "0").replace("{segmentIndex}", "0");
    let segments = template.split('/').map(|segment| {
        segment.strip_prefix('{').and_then(|name| name.strip_suffix('}')).map_or(segment.to_owned(), &value)
    });
    segments.collect::<Vec<_>>().join("/")
}

fn name(operation: &Operation) -> String {
    format!("{} {}", operation.method, operation.path)
}

/// Returns a request with a body that no operation accepts.
fn badly(client: &Client, operation: &Operation, path: &str) -> Request {
    let request = client.request(operation.method.as_str().parse().unwrap(), path);
    if operation.method == Method::GET {
        return request;
    }
    match &operation.input.schema {
        Some(_) => request.body(operation.input.content_type, "{"),
        None => request,
    }
}

fn guarded() -> Vec<Operation> {
    let open = |operation: &Operation| PUBLIC.contains(&name(operation).as_str());
    routes::public().into_iter().filter(|operation| !open(operation)).collect()
}

on_both! {
    async fn every_route_that_is_not_public_is_401_without_a_token(world: World) {
        for operation in routes::public() {
            let id = filled(operation.path, |_| NOWHERE.to_owned());
            let answer = badly(&world.nobody, &operation, &id).await;
            let open = PUBLIC.contains(&name(&operation).as_str());
            // A failed log-in is a 401 with another code.
            let refused = answer.codes().contains(&"Unauthorized");
            assert_eq!(refused, !open, "{}: {}", name(&operation), answer.text());
            assert_eq!(open, matches!(operation.who, Who::Public), "{}", name(&operation));
        }
    }

    async fn a_missing_token_is_401_before_anything_else_is_checked(world: World) {
        for operation in guarded() {
            let path = filled(operation.path, |_| "no-uuid".to_owned());
            badly(&world.nobody, &operation, &path).await.refused(401, "Unauthorized");
            badly(&world.nobody.bearing("x.y.z"), &operation, &path).await.refused(401, "Unauthorized");
        }
    }

    async fn an_id_that_is_no_uuid_is_400_before_anything_is_looked_for(world: World) {
        let stranger = world.user().await;
        for operation in guarded().iter().filter(|operation| operation.path.contains("Id}")) {
            let path = filled(operation.path, |_| "no-uuid".to_owned());
            badly(&stranger.client, operation, &path).await.refused(400, "BadRequest");
            // Also where only the last of several ids is no UUID.
            // The id of a project at a tracker is the last one, and whatever the tracker likes.
            let count = operation.path.matches("Id}").count() - operation.path.matches("{trackerProjectId}").count();
            let seen = std::cell::Cell::new(0);
            let path = filled(operation.path, |_| {
                seen.set(seen.get() + 1);
                if seen.get() == count { "no-uuid".to_owned() } else { NOWHERE.to_owned() }
            });
            badly(&stranger.client, operation, &path).await.refused(400, "BadRequest");
        }
    }

    async fn a_parent_that_is_missing_is_404_before_the_permission_and_the_body(world: World) {
        let stranger = world.user().await;
        let guest = Guest::of(world.server, &TestMeeting::open(world.server).await).await;
        for operation in guarded().iter().filter(|operation| operation.path.contains("Id}")) {
            let path = filled(operation.path, |_| NOWHERE.to_owned());
            let code = if operation.path.starts_with("/api/meetings/") { "MeetingNotFound" } else { "NotFound" };
            if operation.who == Who::Operator {
                // What there is in the whole installation is for operators alone.
                badly(&stranger.client, operation, &path).await.refused(403, "Forbidden");
                badly(&guest.client, operation, &path).await.refused(403, "Forbidden");
                continue;
            }
            badly(&stranger.client, operation, &path).await.refused(404, code);
            let answer = badly(&guest.client, operation, &path).await;
            // A route that only needs an account is 403 to a guest, whether or not the parent exists.
            if operation.who == Who::User { answer.refused(403, "Forbidden") } else { answer.refused(404, code) };
        }
    }

    /// The bodies are invalid: a missing permission is reported before the body is read.
    async fn every_caller_gets_of_every_route_the_outcome_of_the_table(world: World) {
        let cast = cast(&world).await;
        let mut operations = routes::public();
        // The operations that delete the resource of others come last.
        operations.sort_by_key(|operation| match operation.id {
            "deleteProject" => 2,
            "deleteRecording" => 1,
            _ => 0,
        });
        let mut faults = Vec::new();
        let mut cells = 0;
        for operation in &operations {
            let is_either = SIGNED_IN_OR_NOT.contains(&operation.id);
            let expected = expected(if is_either { "public, signed in or not" } else { row(operation) });
            assert_eq!(expected.len(), cast.everybody.len());
            let path = cast.path(operation);
            // Whoever may do it comes after those who may not: it can be done once.
            let mut everybody: Vec<_> = cast.everybody.iter().zip(expected.chars()).collect();
            everybody.sort_by_key(|(_, expected)| *expected == 'o');
            for ((who, client), expected) in everybody {
                let answer = badly(client, operation, &path).await;
                let got = match answer.status {
                    401 if answer.codes() == ["Unauthorized"] => 'u',
                    403 if answer.codes() == ["Forbidden"] => 'f',
                    500 => '!',
                    _ => 'o',
                };
                if got != expected {
                    faults.push(format!("{who}, {}: {} instead of {expected}", name(operation), answer.text()));
                }
                cells += 1;
            }
        }
        assert!(faults.is_empty(), "{faults:#?}");
        println!("{cells} cells of {} routes", operations.len());
    }

    async fn an_authorized_caller_gets_the_errors_of_the_body(world: World) {
        let cast = cast(&world).await;
        let writes = |operation: &&Operation| {
            operation.input.schema.is_some() && operation.input.content_type == "application/json"
        };
        let with_json: Vec<Operation> = routes::public().into_iter().filter(|operation| writes(&operation)).collect();
        assert!(with_json.len() > 10);
        for operation in with_json {
            let path = cast.path(&operation);
            // A request about a missing child is 404, whatever its body.
            if path.contains(NOWHERE) {
                badly(cast.authorized(&operation), &operation, &path).await.refused(404, "NotFound");
                continue;
            }
            badly(cast.authorized(&operation), &operation, &path).await.refused(400, "BadRequest");
            let call = || cast.authorized(&operation).request(operation.method.as_str().parse().unwrap(), &path);
            call().body("application/json", "[1]").await.refused(400, "BadRequest");
            call().body("text/plain", "{}").body("text/plain", "{\"a\":1}").await.refused(400, "BadRequest");
            let unknown = call().json(json!({"aKeyOfNobody": 1})).await.refused(422, "UnknownKey");
            assert!(unknown.faults().contains(&("aKeyOfNobody".to_owned(), "UnknownKey".to_owned())), "{}", unknown.text());
        }
    }
}

/// Returns the schema that a reference names, also where the value may be null; any other schema unchanged.
fn resolved<'a>(schemas: &'a Value, schema: &'a Value) -> &'a Value {
    let named = |one: &'a Value| one["$ref"].as_str().map(|name| &schemas[name.rsplit('/').next().unwrap()]);
    let either = schema["oneOf"].as_array().into_iter().flatten();
    named(schema).or_else(|| either.filter_map(named).next()).unwrap_or(schema)
}

on_both! {
    /// The document gives a pattern for exactly the strings that accept no control characters, or no line breaks.
    async fn the_character_patterns_of_the_document_match_what_is_accepted(world: World) {
        let cast = cast(&world).await;
        let document = world.nobody.get("/api/openapi.json").await.is(200).body;
        let mut strings = 0;
        for operation in routes::public() {
            let Some((name, _)) = operation.input.schema.as_ref().filter(|_| operation.input.content_type == "application/json")
            else {
                continue;
            };
            let path = cast.path(&operation);
            if path.contains(NOWHERE) {
                continue;
            }
            let schemas = &document["components"]["schemas"];
            for (field, schema) in schemas[name]["properties"].as_object().unwrap() {
                let schema = resolved(schemas, schema);
                let is_string = schema["type"] == "string" || schema["type"] == json!(["string", "null"]);
                if !is_string || schema["format"].is_string() || schema["enum"].is_array() {
                    continue;
                }
                let pattern = schema["pattern"].as_str().unwrap_or_else(|| panic!("{name}.{field} says nothing of its form"));
                let pattern = regex::Regex::new(pattern).unwrap();
                for text in ["a bell\u{7}", "a bell\u{7} within", "a\u{85}b", "two\nlines", "a\ttab"] {
                    let call = cast.authorized(&operation).request(operation.method.as_str().parse().unwrap(), &path);
                    // Always with an unknown key, so that nothing is done.
                    let answer = call.json(json!({field: text, "aKeyOfNobody": 1})).await.is(422);
                    let refused = answer.faults().contains(&(field.clone(), "InvalidValue".to_owned()));
                    assert_eq!(refused, !pattern.is_match(text), "{name}.{field}: {text:?}: {}", answer.text());
                }
                strings += 1;
            }
        }
        assert!(strings >= 10, "{strings}");
    }
}

#[test]
fn the_list_of_open_routes_names_no_route_that_is_gone() {
    let all: Vec<String> = routes::public().iter().map(name).collect();
    for open in PUBLIC {
        assert!(all.iter().any(|name| name == open), "{open}");
    }
}

#[test]
fn every_route_has_a_row_and_the_guard_that_the_row_names() {
    for operation in routes::all() {
        assert_eq!(word(operation.who), row(&operation), "{}", name(&operation));
        if !matches!(operation.who, Who::Internal | Who::Service) {
            expected(row(&operation));
        }
    }
}
