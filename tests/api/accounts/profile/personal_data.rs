//! Deleting an account leaves none of its marker strings in tables, files or indices (S24).

use std::fs;
use std::io::Cursor;
use std::path::Path;
use std::time::{Duration, Instant};

use actors::event_kind::EventKind;
use actors::ids::{self, Id};
use actors::live::{RequestId, Topic, TopicKind};
use actors::time::Time;
use actors::time::{Clock, SystemClock};
use colloquy::db::schema::{external_logins, idempotency_keys, login_codes, project_invitations, reset_tokens};
use colloquy::db::{DbError, RunQueryDsl, events};
use diesel::ExpressionMethods;
use image::{DynamicImage, ImageFormat, Rgb, RgbImage};
use serde_json::{Value, json};

use super::deletion::delete;
use crate::meetings::invitations::{accept, mailed};
use crate::reviews::stakeholders as reviews;
use crate::support::builders::{PASSWORD, fresh_email};
use crate::support::tables::tables;
use crate::support::{Kind, Role, Server, ServerSetup, User, outbox};

/// Contained in everything that the user fills in; in lower case, as addresses are.
const MARKER: &str = "zyxmarker";

/// Registers a user whose every text contains the marker.
async fn marked(server: &Server) -> User {
    let email = format!("{MARKER}.person@example.org");
    let client = server.client();
    let body = json!({"email": email, "password": PASSWORD, "fullName": format!("{MARKER} \"Name\" \\ \u{639}\u{644}\u{64a}")});
    let registration_id = client.post("/api/auth/register").json(body).await.is(201).text_of("registrationId");
    let code = outbox::code_in(&outbox::wait_for(&server.data, &email, 1).await).unwrap();
    let body = json!({"registrationId": registration_id, "email": email, "code": code});
    let device = format!("{MARKER}-device/1.0");
    let answer = client.post("/api/auth/confirm-account").header("user-agent", &device).json(body).await.is(200);
    let login = json!({"email": email, "password": PASSWORD});
    client.post("/api/auth/login").header("user-agent", device).json(login).await.is(200);
    User {
        id: answer.data()["user"]["id"].as_str().unwrap().to_owned(),
        client: client.bearing(&answer.text_of("accessToken")),
        refresh_token: answer.text_of("refreshToken"),
        email,
    }
}

/// Inserts rows with the marker, as other operations write them.
async fn plant(server: &Server, eve: &User, ben: &User, project: &str) {
    let (user, inviter): (Id<ids::User>, Id<ids::User>) = (eve.id.parse().unwrap(), ben.id.parse().unwrap());
    let project: Id<ids::Project> = project.parse().unwrap();
    let (email, id) = (eve.email.clone(), eve.id.clone());
    let now = SystemClock.now();
    let later = SystemClock.now() + Duration::from_secs(3600);
    let db = server.db().await;
    let planted = db.write(move |conn| {
        Box::pin(async move {
            diesel::insert_into(reset_tokens::table)
                .values((reset_tokens::user_id.eq(user), reset_tokens::token_hash.eq(MARKER), reset_tokens::expires_at.eq(later)))
                .execute(conn)
                .await?;
            diesel::insert_into(external_logins::table)
                .values((
                    external_logins::issuer.eq("https://issuer.example"),
                    external_logins::subject.eq(format!("{MARKER}-subject")),
                    external_logins::user_id.eq(user),
                    external_logins::linked_at.eq(now),
                ))
                .execute(conn)
                .await?;
            diesel::insert_into(login_codes::table)
                .values((
                    login_codes::code_hash.eq(format!("{MARKER}-code")),
                    login_codes::user_id.eq(user),
                    login_codes::code_challenge.eq(format!("{MARKER}-challenge")),
                    login_codes::expires_at.eq(later),
                ))
                .execute(conn)
                .await?;
            diesel::insert_into(project_invitations::table)
                .values((
                    project_invitations::id.eq(Id::<()>::generate()),
                    project_invitations::project_id.eq(project),
                    project_invitations::email.eq(email.clone()),
                    project_invitations::role.eq("ANALYST"),
                    project_invitations::token_hash.eq(format!("{MARKER}-token")),
                    project_invitations::invited_by_id.eq(inviter),
                    project_invitations::created_at.eq(now),
                    project_invitations::expires_at.eq(later),
                    project_invitations::accepted_at.eq(None::<Time>),
                    project_invitations::revoked_at.eq(None::<Time>),
                ))
                .execute(conn)
                .await?;
            // A stored response to another user, who invited this one.
            let answer = json!({"data": {"email": email, "role": "ANALYST", "status": "PENDING"}, "isSuccess": true});
            diesel::insert_into(idempotency_keys::table)
                .values((
                    idempotency_keys::scope.eq("of somebody else"),
                    idempotency_keys::body_hash.eq("x"),
                    idempotency_keys::resource_id.eq(Id::<()>::generate()),
                    idempotency_keys::lease_until.eq(now),
                    idempotency_keys::status.eq(Some(201)),
                    idempotency_keys::etag.eq(None::<String>),
                    idempotency_keys::body.eq(Some(answer.to_string())),
                    idempotency_keys::created_at.eq(now),
                    idempotency_keys::user_id.eq(Some(inviter)),
                ))
                .execute(conn)
                .await?;
            let topic = Topic { kind: TopicKind::Project, id: project.uuid() };
            let payloads = [
                json!({"id": Id::<()>::generate(), "userId": id, "fullName": format!("{MARKER} Name"), "email": email, "role": "ANALYST"}),
                json!({"items": [{"email": email, "displayName": format!("{MARKER} by address")}]}),
                json!({"actor": {"id": id, "name": format!("{MARKER} Actor")}, "comment": "stays"}),
            ];
            for data in payloads {
                let request: RequestId = "story".into();
                events::append(conn, topic, EventKind::MemberChanged, &data.to_string(), now, &request).await?;
            }
            Ok::<_, DbError>(())
        })
    });
    planted.await.unwrap();
}

/// Adds to `found` the files below a folder that contain the marker, in upper or lower case.
fn marked_files(folder: &Path, found: &mut Vec<String>) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            // E-mails that were sent to the user are the user's own.
            if entry.file_name() != "outbox" {
                marked_files(&path, found);
            }
        } else if fs::read(&path).is_ok_and(|bytes| has_marker(&bytes)) {
            found.push(path.strip_prefix(folder).unwrap().display().to_string());
        }
    }
}

fn has_marker(bytes: &[u8]) -> bool {
    bytes.to_ascii_lowercase().windows(MARKER.len()).any(|window| window == MARKER.as_bytes())
}

/// Returns the tables and files that still contain the marker.
async fn left(server: &Server) -> Vec<String> {
    let mut left: Vec<String> = tables(server)
        .await
        .into_iter()
        .filter(|(_, rows)| has_marker(rows.as_bytes()))
        .map(|(table, rows)| format!("{table}: {rows}"))
        .collect();
    marked_files(&server.data, &mut left);
    left
}

async fn none_is_left(server: &Server) {
    let deadline = Instant::now() + Duration::from_secs(40);
    loop {
        let left = left(server).await;
        if left.is_empty() {
            return;
        }
        assert!(Instant::now() < deadline, "{left:#?}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// Invites the user to meetings: as a guest who accepts without signing in, as a guest who does not accept, as a
/// project member, and by an address that is not the account's.
async fn invited_to_meetings(server: &Server, ben: &User, eve: &User, project: &str) {
    let name = format!("{MARKER} guest");
    let ask = async |whom: &str, invitees: Value| {
        let meeting = ben.meeting(project).await;
        let path = format!("/api/meetings/{}/invitations/{whom}", meeting["id"].as_str().unwrap());
        ben.client.post(&path).key(&path).json(json!({"invitees": invitees})).await.is(201);
    };
    ask("guests", json!([{"email": eve.email, "displayName": name}])).await;
    let came = mailed(server, &eve.email, 1).await;
    accept(&server.client(), &came).await.is(200);
    ask("guests", json!([{"email": eve.email, "displayName": name}])).await;
    ask("participants", json!([{"userId": eve.id}])).await;
    let other = fresh_email();
    ask("guests", json!([{"email": other, "displayName": name}])).await;
    accept(&eve.client, &mailed(server, &other, 1).await).await.is(200);
}

/// Invites the user to review a project, and leaves the feedback of the user as a reviewer and as a member.
async fn reviewed(server: &Server, ben: &User, eve: &User, project: &str) {
    let invitee =
        json!({"email": eve.email, "fullName": format!("{MARKER} invited"), "organisation": format!("{MARKER} Ltd")});
    let body = json!({"invitees": [invitee], "permission": "COMMENTER"});
    let before = outbox::mails(&server.data, &eve.email).len();
    ben.client.post(reviews::invitations(project)).key("reviewers").json(body).await.is(201);
    let mail = outbox::wait_for(&server.data, &eve.email, before + 1).await;
    let accept = format!("{}/accept", reviews::link(&outbox::token_in(&mail).unwrap()));
    let body = json!({"fullName": format!("{MARKER} reviewer")});
    let token = server.client().post(accept).json(body).await.is(200).text_of("reviewToken");
    let comment = json!({"targetType": "SUMMARY", "comment": "It is well."});
    let reviewer = server.client().reviewing(&token);
    reviewer.post(reviews::OWN_FEEDBACK).key("comment").json(comment.clone()).await.is(201);
    eve.client.post(reviews::feedback_of(project)).key("comment").json(comment).await.is(201);
}

/// Fills in everything that a user can, and what other users do with it. Returns the user, another user and the hash
/// of the user's avatar.
async fn everything(server: &Server) -> (User, User, String) {
    let ben = server.user().await;
    let shared = ben.project().await;
    let eve = marked(server).await;
    server.join(&shared, &eve, Role::Analyst).await;
    let profile = json!({"fullName": format!("{MARKER} Name"), "jobTitle": format!("{MARKER} title")});
    eve.client.put("/api/profile").json(profile).await.is(200);
    let mut picture = Vec::new();
    let shade = |x: u32, y: u32| Rgb([(x * 7 % 251) as u8, (y * 5 % 241) as u8, 33]);
    DynamicImage::from(RgbImage::from_fn(64, 64, shade))
        .write_to(&mut Cursor::new(&mut picture), ImageFormat::Png)
        .unwrap();
    let (kind, form) = crate::support::documents::form(&[("file", Some(&format!("{MARKER}.png")), &picture)]);
    let uploaded = eve.client.post("/api/profile/avatar").key("a-key").body(&kind, form).await.is(200);
    let face = eve.client.get(uploaded.text_of("avatarUrl")).await.is(200).etag();
    // The user's own: a project, a document, a meeting. In another user's project: a meeting that the user hosts.
    let body = json!({"name": format!("{MARKER} project"), "description": MARKER});
    let own = eve.client.post("/api/projects").key("another-key").json(body).await.is(201).text_of("id");
    eve.read(&own, &format!("{MARKER}.md"), format!("# {MARKER}\n\nThe system must keep {MARKER}.\n").as_bytes()).await;
    eve.meeting(&own).await;
    eve.meeting(&shared).await;
    // A code that was requested.
    let resend = json!({"email": eve.email, "purpose": "RESET_PASSWORD"});
    server.client().post("/api/auth/otp/resend").json(resend).await.is(200);
    plant(server, &eve, &ben, &shared).await;
    invited_to_meetings(server, &ben, &eve, &shared).await;
    reviewed(server, &ben, &eve, &shared).await;
    (eve, ben, face.trim_matches('"').to_owned())
}

on_both! {
    async fn nothing_that_a_person_filled_in_is_found_after_the_account_is_deleted(setup: ServerSetup) {
        let server = setup.start(&[("COLLOQUY__LOG__FILTER", "debug")]);
        let (eve, ben, face) = everything(&server).await;
        let before = tables(&server).await;
        let marked: Vec<&str> = before.iter().filter(|(_, rows)| has_marker(rows.as_bytes())).map(|(table, _)| table.as_str()).collect();
        for table in [
            "codes", "document_texts", "documents", "events", "external_logins", "feedback", "idempotency_keys",
            "login_codes", "meeting_invitations", "participants", "project_invitations", "projects", "reset_tokens",
            "review_invitations", "sessions", "users",
        ] {
            assert!(marked.contains(&table), "{table} has no marker: {marked:?}");
        }
        assert!(server.data.join("avatars").join(&face[..2]).join(&face).exists());
        delete(&eve).await.is(200);
        none_is_left(&server).await;
        assert!(!server.data.join("avatars").join(&face[..2]).join(&face).exists());
        let after = tables(&server).await;
        assert!(
            after["users"].contains("Deleted account")
                && after["users"].to_lowercase().contains(&id_as_stored(&server, &eve.id)),
            "{}",
            after["users"]
        );
        assert!(after["events"].contains("stays"), "what others said stays");
        ben.client.get("/api/projects").await.is(200);
    }

    /// Killed right after the response: what remains to be erased is erased after the next start.
    async fn a_kill_right_after_the_answer_leaves_nothing_either(setup: ServerSetup) {
        let server = setup.start(&[]);
        let (eve, _, face) = everything(&server).await;
        delete(&eve).await.is(200);
        server.kill();
        let server = setup.start(&[]);
        eve.at(&server).client.get("/api/profile").await.refused(401, "Unauthorized");
        none_is_left(&server).await;
        assert!(!server.data.join("avatars").join(&face[..2]).join(&face).exists());
    }
}

fn id_as_stored(server: &Server, id: &str) -> String {
    if server.kind == Kind::Sqlite { id.replace('-', "") } else { id.to_owned() }
}
