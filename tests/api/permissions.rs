//! Who may call what (S12), for every route of the table at once: a new route is covered by being there, and fails without
//! a row in operations.tsv.
//!
//! The order of refusals is the interface's: 401, the id's syntax 400, the parent's 404, 403, and only then the body.

use actix_web::http::Method;
use colloquy::access::policy::Who;
use colloquy::api::operation::Operation;
use colloquy::routes;
use jsonwebtoken::Header;
use serde_json::json;

use crate::accounts::tokens;
use crate::invitations::Guest;
use crate::openapi;
use crate::participants::Room;
use crate::support::client::Request;
use crate::support::{Client, Role, User, World};

/// What anyone may call. A route that is to be open must be written here too.
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
    "POST /api/auth/refresh-token",
    "GET /api/meeting-invitations/{token}",
    "POST /api/meeting-invitations/{token}/accept",
    "POST /api/meeting-invitations/{token}/decline",
    "GET /api/project-invitations/{token}",
    "GET /health/live",
    "GET /health/ready",
    "GET /api/openapi.json",
];

const NOWHERE: &str = "0189a0f0-0000-7000-8000-000000000000";

/// What each word of the table of operations gives whoever comes: `u` a 401, `f` a 403, `o` neither.
const EXPECTED: &[(&str, [&str; 4])] = &[
    // nobody, expired token, ended session; stranger, taken out, manager and owner elsewhere; the roles, rising; a guest of
    // the meeting, and of another
    ("public", ["ooo", "oooo", "oooo", "oo"]),
    ("public, signed in or not", ["ouu", "oooo", "oooo", "oo"]),
    ("user", ["uuu", "oooo", "oooo", "ff"]),
    ("user or guest", ["uuu", "oooo", "oooo", "oo"]),
    ("ticket", ["uuu", "oooo", "oooo", "oo"]),
    ("member", ["uuu", "ffff", "oooo", "ff"]),
    ("analyst", ["uuu", "ffff", "fooo", "ff"]),
    ("manager", ["uuu", "ffff", "ffoo", "ff"]),
    ("owner", ["uuu", "ffff", "fffo", "ff"]),
    ("host", ["uuu", "ffff", "ffoo", "ff"]),
    ("attendee", ["uuu", "ffff", "oooo", "of"]),
    // Of these, the owner and the guest alone are in the meeting.
    ("participant", ["uuu", "ffff", "fffo", "of"]),
    ("signed", ["uuu", "uuuu", "uuuu", "uu"]),
];

/// Open to all; but who sends a token has to send a good one, since it says whose the answer is.
const SIGNED_IN_OR_NOT: &[&str] = &["acceptInvitation", "declineInvitation"];

/// The word that a guard stands for.
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
        Who::Ticket => "ticket",
        Who::Signed => "signed",
        Who::Internal => "internal",
    }
}

/// Who may call a route, as the table of operations has it.
fn row(operation: &Operation) -> &'static str {
    let method = operation.method.as_str().to_lowercase();
    let row = openapi::table().into_iter().find(|row| row.method == method && row.path == operation.path);
    row.unwrap_or_else(|| panic!("{} has no row in operations.tsv", name(operation))).who
}

/// What somebody is to expect of a route, by their place among [`Cast::everybody`].
fn expected(who: &str) -> String {
    let found = EXPECTED.iter().find(|(word, _)| *word == who);
    found.unwrap_or_else(|| panic!("nobody has said what {who} means")).1.concat()
}

/// A project of ada's with a meeting, and everybody who may come.
struct Cast {
    ada: User,
    project: String,
    meeting: String,
    everybody: Vec<(&'static str, Client)>,
}

async fn cast(world: &World) -> Cast {
    let (room, elsewhere) = (Room::open(world.server).await, Room::open(world.server).await);
    room.joined(&room.ada).await;
    let (guest, other_guest) = (Guest::of(world.server, &room).await, Guest::of(world.server, &elsewhere).await);
    guest.join(&room).await.is(200);
    other_guest.join(&elsewhere).await.is(200);
    let meeting = room.path.rsplit('/').next().unwrap().to_owned();
    let Room { ada, project, .. } = room;
    let Room { ada: ben, project: other, .. } = elsewhere;
    let ended = world.member(&project, Role::Owner).await;
    ended.client.post("/api/auth/logout").await.is(200);
    let removed = world.member(&project, Role::Owner).await;
    let members = format!("/api/projects/{project}/members");
    let all = removed.client.get(format!("{members}?search={}", removed.email)).await.is(200);
    let own = all.data()["items"][0]["id"].as_str().unwrap().to_owned();
    removed.client.delete(format!("{members}/{own}")).await.is(200);
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
    ];
    Cast { ada, project, meeting, everybody }
}

/// An access token of somebody's that is right but for its time.
fn expired(world: &World, user: &User) -> String {
    let header = Header { typ: Some("at+jwt".to_owned()), kid: Some("access-1".to_owned()), ..Header::default() };
    let claims = tokens::part(user.client.token(), 1);
    let past = tokens::with(&claims, "exp", json!(claims["iat"].as_i64().unwrap() - 60));
    tokens::signed(&header, &past, &tokens::key(&world.server.data))
}

impl Cast {
    fn path(&self, operation: &Operation) -> String {
        filled(operation.path, |name| match name {
            "projectId" => self.project.clone(),
            "meetingId" => self.meeting.clone(),
            _ => NOWHERE.to_owned(),
        })
    }
}

/// The path with a value for each of its parameters.
fn filled(template: &str, value: impl Fn(&str) -> String) -> String {
    let segments = template.split('/').map(|segment| {
        segment.strip_prefix('{').and_then(|name| name.strip_suffix('}')).map_or(segment.to_owned(), &value)
    });
    segments.collect::<Vec<_>>().join("/")
}

fn name(operation: &Operation) -> String {
    format!("{} {}", operation.method, operation.path)
}

/// A call with a body that no operation takes.
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
    async fn every_route_that_is_not_open_to_all_is_401_to_nobody(world: World) {
        for operation in routes::public() {
            let id = filled(operation.path, |_| NOWHERE.to_owned());
            let answer = badly(&world.nobody, &operation, &id).await;
            let open = PUBLIC.contains(&name(&operation).as_str());
            // A log-in that fails is a 401 of another kind.
            let refused = answer.codes().contains(&"Unauthorized");
            assert_eq!(refused, !open, "{}: {}", name(&operation), answer.text());
            assert_eq!(open, matches!(operation.who, Who::Public), "{}", name(&operation));
        }
    }

    async fn nobody_is_401_before_anything_else_is_looked_at(world: World) {
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
            // Also where only the last of several is none.
            let count = operation.path.matches('{').count();
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
        let guest = Guest::of(world.server, &Room::open(world.server).await).await;
        for operation in guarded().iter().filter(|operation| operation.path.contains("Id}")) {
            let path = filled(operation.path, |_| NOWHERE.to_owned());
            let code = if operation.path.starts_with("/api/meetings/") { "MeetingNotFound" } else { "NotFound" };
            badly(&stranger.client, operation, &path).await.refused(404, code);
            let answer = badly(&guest.client, operation, &path).await;
            // What needs an account and nothing else is nothing to a guest, whatever is there.
            if operation.who == Who::User { answer.refused(403, "Forbidden") } else { answer.refused(404, code) };
        }
    }

    /// With bodies that nobody takes: a permission that is missing is told before they are looked at.
    async fn everybody_gets_of_every_route_what_the_table_says(world: World) {
        let cast = cast(&world).await;
        let mut operations = routes::public();
        // What takes all others their thing comes last.
        operations.sort_by_key(|operation| operation.id == "deleteProject");
        let mut faults = Vec::new();
        let mut cells = 0;
        for operation in &operations {
            let is_either = SIGNED_IN_OR_NOT.contains(&operation.id);
            let expected = expected(if is_either { "public, signed in or not" } else { row(operation) });
            assert_eq!(expected.len(), cast.everybody.len());
            let path = cast.path(operation);
            for ((who, client), expected) in cast.everybody.iter().zip(expected.chars()) {
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

    async fn who_may_is_told_what_is_wrong_with_the_body(world: World) {
        let cast = cast(&world).await;
        let writes = |operation: &&Operation| {
            operation.input.schema.is_some() && operation.input.content_type == "application/json"
        };
        let with_json: Vec<Operation> = routes::public().into_iter().filter(|operation| writes(&operation)).collect();
        assert!(with_json.len() > 10);
        for operation in with_json {
            let path = cast.path(&operation);
            // What is about a child that isn't there is 404 whatever its body.
            if path.contains(NOWHERE) {
                badly(&cast.ada.client, &operation, &path).await.refused(404, "NotFound");
                continue;
            }
            badly(&cast.ada.client, &operation, &path).await.refused(400, "BadRequest");
            let call = || cast.ada.client.request(operation.method.as_str().parse().unwrap(), &path);
            call().body("application/json", "[1]").await.refused(400, "BadRequest");
            call().body("text/plain", "{}").body("text/plain", "{\"a\":1}").await.refused(400, "BadRequest");
            let unknown = call().json(json!({"aKeyOfNobody": 1})).await.refused(422, "UnknownKey");
            assert!(unknown.faults().contains(&("aKeyOfNobody".to_owned(), "UnknownKey".to_owned())), "{}", unknown.text());
        }
    }
}

on_both! {
    /// Strings that take no control characters, or no line breaks, say so in the document, and no others.
    async fn what_the_document_says_of_characters_is_what_is_taken(world: World) {
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
            let properties = document["components"]["schemas"][name]["properties"].as_object().unwrap();
            for (field, schema) in properties {
                let is_string = schema["type"] == "string" || schema["type"] == json!(["string", "null"]);
                if !is_string || schema["format"].is_string() || schema["enum"].is_array() {
                    continue;
                }
                let pattern = schema["pattern"].as_str().unwrap_or_else(|| panic!("{name}.{field} says nothing of its form"));
                let pattern = regex::Regex::new(pattern).unwrap();
                for text in ["a bell\u{7}", "a bell\u{7} within", "a\u{85}b", "two\nlines", "a\ttab"] {
                    let call = cast.ada.client.request(operation.method.as_str().parse().unwrap(), &path);
                    // Never whole, so that nothing is done.
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
        if operation.who != Who::Internal {
            expected(row(&operation));
        }
    }
}
