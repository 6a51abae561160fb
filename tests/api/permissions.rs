//! Who may call what, for every route of the table at once: a new route is covered by being there.
//!
//! The order of refusals is the interface's: 401, the id's syntax 400, the parent's 404, 403, and only then the body.

use actix_web::http::Method;
use colloquy::access::guard::Who;
use colloquy::http::operation::Operation;
use colloquy::routes;
use serde_json::json;

use crate::invitations::Guest;
use crate::participants::Room;
use crate::support::client::Request;
use crate::support::{Client, Role, User, World};

/// What anyone may call. A route that is to be open must be written here too.
pub const PUBLIC: &[&str] = &[
    "POST /api/auth/register",
    "POST /api/auth/confirm-account",
    "POST /api/auth/otp/resend",
    "POST /api/auth/login",
    "POST /api/auth/refresh-token",
    "GET /api/meeting-invitations/{token}",
    "POST /api/meeting-invitations/{token}/accept",
    "POST /api/meeting-invitations/{token}/decline",
    "GET /health/live",
    "GET /health/ready",
    "GET /api/openapi.json",
];

const NOWHERE: &str = "0189a0f0-0000-7000-8000-000000000000";

/// A project of ada's with a meeting, and somebody of each role.
struct Cast {
    ada: User,
    stranger: User,
    stakeholder: User,
    analyst: User,
    manager: User,
    project: String,
    meeting: String,
}

async fn cast(world: &World) -> Cast {
    let ada = world.user().await;
    let project = ada.project().await;
    let meeting = ada.meeting(&project).await["id"].as_str().unwrap().to_owned();
    for step in ["start", "join"] {
        ada.client.post(format!("/api/meetings/{meeting}/{step}")).await.is(200);
    }
    Cast {
        stranger: world.user().await,
        stakeholder: world.member(&project, Role::Stakeholder).await,
        analyst: world.member(&project, Role::Analyst).await,
        manager: world.member(&project, Role::Manager).await,
        ada,
        project,
        meeting,
    }
}

impl Cast {
    /// Those who see the thing that a route is about and still may not call it.
    fn too_weak(&self, who: Who) -> Vec<&User> {
        match who {
            Who::Analyst => vec![&self.stakeholder],
            Who::Manager | Who::Host => vec![&self.stakeholder, &self.analyst],
            Who::Owner | Who::Participant => vec![&self.stakeholder, &self.analyst, &self.manager],
            _ => vec![],
        }
    }

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
        for operation in guarded().iter().filter(|operation| operation.path.contains("Id}")) {
            let path = filled(operation.path, |_| NOWHERE.to_owned());
            let code = if operation.path.starts_with("/api/meetings/") { "MeetingNotFound" } else { "NotFound" };
            badly(&stranger.client, operation, &path).await.refused(404, code);
        }
    }

    async fn a_stranger_is_403_before_the_body_is_read(world: World) {
        let cast = cast(&world).await;
        for operation in guarded().iter().filter(|operation| operation.path.contains("Id}")) {
            badly(&cast.stranger.client, operation, &cast.path(operation)).await.refused(403, "Forbidden");
        }
    }

    async fn a_role_that_is_too_weak_is_403_before_the_body_is_read(world: World) {
        let cast = cast(&world).await;
        for operation in guarded() {
            for member in cast.too_weak(operation.who) {
                badly(&member.client, &operation, &cast.path(&operation)).await.refused(403, "Forbidden");
            }
        }
        let meeting = format!("/api/meetings/{}", cast.meeting);
        assert_eq!(cast.ada.client.get(meeting).await.is(200).etag(), "\"2\"", "nothing changed");
    }

    /// A guest is let through to what is open, and to their own meeting; nothing else of it all is theirs.
    async fn a_guest_gets_of_every_route_what_is_a_guests(world: World) {
        let room = Room::open(world.server).await;
        let other = Room::open(world.server).await;
        let guest = Guest::of(world.server, &room).await;
        guest.join(&room).await.is(200);
        let at = |room: &Room, operation: &Operation| {
            filled(operation.path, |name| match name {
                "projectId" => room.project.clone(),
                "meetingId" => room.path.rsplit('/').next().unwrap().to_owned(),
                _ => NOWHERE.to_owned(),
            })
        };
        let mut cells = 0;
        for operation in guarded() {
            let theirs = matches!(operation.who, Who::Attendee | Who::Participant | Who::UserOrGuest | Who::Ticket);
            let own = badly(&guest.client, &operation, &at(&room, &operation)).await;
            let refused = own.codes() == ["Forbidden"] || own.status == 401;
            assert_eq!(refused, !theirs, "{}: {}", name(&operation), own.text());
            assert_eq!(own.status == 403, !theirs, "{}: {}", name(&operation), own.text());
            if operation.path.contains("Id}") {
                badly(&guest.client, &operation, &at(&other, &operation)).await.refused(403, "Forbidden");
                let nowhere = filled(operation.path, |_| NOWHERE.to_owned());
                let missing = badly(&guest.client, &operation, &nowhere).await;
                assert_eq!(missing.status, 404, "{}: {}", name(&operation), missing.text());
            }
            cells += 1;
        }
        assert!(cells > 30, "{cells}");
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

#[test]
fn the_list_of_open_routes_names_no_route_that_is_gone() {
    let all: Vec<String> = routes::public().iter().map(name).collect();
    for open in PUBLIC {
        assert!(all.iter().any(|name| name == open), "{open}");
    }
}
