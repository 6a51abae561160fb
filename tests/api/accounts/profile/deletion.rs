//! Tests of deleteAccount.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::builders::PASSWORD;
use crate::support::client::Request;
use crate::support::documents::documents;
use crate::support::{Role, Server, ServerSetup, Socket, User, World, outbox};

/// A deletion of the user's account, with their password.
pub fn delete(user: &User) -> Request {
    user.client.delete("/api/profile").json(json!({"password": PASSWORD}))
}

/// Returns the display names of the participants of a meeting.
async fn names(reader: &User, meeting: &str) -> Vec<Value> {
    let mut socket = Socket::open(&reader.client).await;
    let subscribed = socket.subscribe(&format!("meeting:{meeting}")).await;
    let people = subscribed["snapshot"]["participants"].as_array().unwrap();
    people.iter().map(|person| person["displayName"].clone()).collect()
}

async fn names_become(reader: &User, meeting: &str, expected: &[&str]) {
    let deadline = Instant::now() + Duration::from_secs(20);
    loop {
        let names = names(reader, meeting).await;
        if names == expected {
            return;
        }
        assert!(Instant::now() < deadline, "{names:?}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

async fn registers_anew(server: &Server, email: &str) -> User {
    let before = outbox::mails(&server.data, email).len();
    let client = server.client();
    let body = json!({"email": email, "password": PASSWORD, "fullName": "Ada Byron"});
    let registration_id = client.post("/api/auth/register").json(body).await.is(201).text_of("registrationId");
    let code = outbox::code_in(&outbox::wait_for(&server.data, email, before + 1).await).unwrap();
    let body = json!({"registrationId": registration_id, "email": email, "code": code});
    let answer = client.post("/api/auth/confirm-account").json(body).await.is(200);
    User {
        id: answer.data()["user"]["id"].as_str().unwrap().to_owned(),
        email: email.to_owned(),
        client: client.bearing(&answer.text_of("accessToken")),
        refresh_token: answer.text_of("refreshToken"),
    }
}

on_both! {
    async fn a_deleted_account_is_gone_at_once_and_its_address_is_free(world: World) {
        let ada = world.user().await;
        let project = ada.project().await;
        let login = || world.nobody.post("/api/auth/login").json(json!({"email": ada.email, "password": PASSWORD}));
        let other = world.nobody.bearing(&login().await.is(200).text_of("accessToken"));
        let sockets = [Socket::open(&ada.client).await, Socket::open(&other).await];
        let mails = outbox::mails(&world.server.data, &ada.email).len();
        assert_eq!(delete(&ada).await.is(200).data(), &json!({}));
        let began = Instant::now();
        for client in [&ada.client, &other] {
            client.get("/api/profile").await.refused(401, "Unauthorized");
        }
        for socket in sockets {
            assert_eq!(socket.closed().await.0, Some(1008));
        }
        assert!(began.elapsed() < Duration::from_secs(1), "{:?}", began.elapsed());
        let refresh = world.nobody.post("/api/auth/refresh-token").json(json!({"refreshToken": ada.refresh_token}));
        refresh.await.refused(401, "InvalidRefreshToken");
        login().await.refused(401, "InvalidCredentials");
        let mail = outbox::wait_for(&world.server.data, &ada.email, mails + 1).await;
        assert!(mail.contains("Your Colloquy account was deleted"), "{mail}");
        let anew = registers_anew(world.server, &ada.email).await;
        assert_ne!(anew.id, ada.id);
        let profile = anew.client.get("/api/profile").await.is(200).data().clone();
        assert_eq!((&profile["fullName"], &profile["jobTitle"], &profile["avatarUrl"]), (&json!("Ada Byron"), &Value::Null, &Value::Null));
        assert_eq!(anew.client.get("/api/projects").await.is(200).data()["totalCount"], 0);
        anew.client.get(format!("/api/projects/{project}")).await.refused(404, "NotFound");
        let reader = world.user().await;
        reader.client.get(format!("/api/users/{}/avatar", ada.id)).await.refused(404, "NotFound");
    }

    async fn who_can_not_prove_to_be_the_owner_deletes_nothing(world: World) {
        let ada = world.user().await;
        let asked = |body: Value| ada.client.delete("/api/profile").json(body);
        let wrong = asked(json!({"password": "some other password"})).await.is(422);
        assert_eq!(wrong.faults(), [("password".to_owned(), "WrongPassword".to_owned())]);
        asked(json!({})).await.refused(422, "Required");
        ada.client.delete("/api/profile").await.refused(422, "Required");
        world.server.without_password(&ada).await;
        asked(json!({"password": PASSWORD})).await.refused(422, "WrongPassword");
        world.server.log_in_long_ago(&ada, Duration::from_secs(601)).await;
        ada.client.delete("/api/profile").await.refused(403, "RecentLoginRequired");
        ada.client.get("/api/profile").await.is(200);
        world.server.log_in_long_ago(&ada, Duration::from_secs(590)).await;
        ada.client.delete("/api/profile").await.is(200);
        ada.client.get("/api/profile").await.refused(401, "Unauthorized");
    }

    async fn the_last_owner_of_a_shared_project_is_not_deleted_and_learns_which_project(world: World) {
        let ada = world.user().await;
        let alone = ada.project().await;
        let (shared, led) = (ada.project().await, ada.project().await);
        let ben = world.member(&shared, Role::Manager).await;
        world.server.join(&led, &ben, Role::Stakeholder).await;
        let refused = delete(&ada).await.refused(409, "LastOwner");
        assert_eq!(refused.codes(), ["LastOwner", "LastOwner"]);
        assert!(refused.text().contains(&shared) && refused.text().contains(&led) && !refused.text().contains(&alone));
        for project in [&alone, &shared, &led] {
            ada.client.get(format!("/api/projects/{project}")).await.is(200);
        }
        for project in [&shared, &led] {
            world.server.become_owner(project, &ben).await;
        }
        delete(&ada).await.is(200);
        for project in [&shared, &led] {
            let read = ben.client.get(format!("/api/projects/{project}")).await.is(200).data().clone();
            assert_eq!((&read["ownerId"], &read["counts"]["members"], &read["myRole"]), (&json!(ben.id), &json!(1), &json!("OWNER")));
        }
        ben.client.get(format!("/api/projects/{alone}")).await.refused(404, "NotFound");
    }

    async fn other_members_get_an_event_when_an_account_is_deleted(world: World) {
        let ada = world.user().await;
        let project = ada.project().await;
        let ben = world.member(&project, Role::Analyst).await;
        let mut socket = Socket::open(&ada.client).await;
        socket.subscribe(&format!("project:{project}")).await;
        delete(&ben).await.is(200);
        let frame = socket.next().await;
        assert_eq!(
            (&frame["event"], &frame["data"]["userId"], &frame["data"]["role"]),
            (&json!("member.changed"), &json!(ben.id), &Value::Null)
        );
        assert_eq!(ada.client.get(format!("/api/projects/{project}")).await.data()["counts"]["members"], 1);
    }

    async fn projects_that_nobody_else_is_in_go_too_archived_ones_among_them(setup: ServerSetup) {
        let server = setup.start(&[]);
        let ada = server.user().await;
        let (project, archived) = (ada.project().await, ada.project().await);
        ada.read(&project, "note.md", b"# Needs\n\nThe system must keep the secret of the harbour.\n").await;
        ada.client.patch(format!("/api/projects/{archived}")).json(json!({"status": "ARCHIVED"})).await.is(200);
        assert_eq!(contents(&server), 1);
        delete(&ada).await.is(200);
        let deadline = Instant::now() + Duration::from_secs(20);
        while contents(&server) > 0 {
            assert!(Instant::now() < deadline, "its document is kept");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        assert_eq!(server.tables_containing(&ada.id).await, ["users"], "its pseudonym and nothing else");
    }

    async fn an_account_with_a_live_meeting_in_its_own_project_is_not_deleted(world: World) {
        let ada = world.user().await;
        let (project, other) = (ada.project().await, ada.project().await);
        let meeting = ada.meeting_path(&project).await;
        ada.client.post(format!("{meeting}/start")).await.is(200);
        let refused = delete(&ada).await.refused(409, "InvalidState");
        assert!(refused.text().contains("Clinic booking"), "{}", refused.text());
        ada.client.get(format!("/api/projects/{other}")).await.is(200);
        ada.client.post(format!("{meeting}/end")).await.is(200);
        delete(&ada).await.is(200);
    }

    async fn in_the_projects_of_others_its_content_stays_without_its_name(world: World) {
        let ada = world.user().await;
        let project = ada.project().await;
        let ben = world.member(&project, Role::Analyst).await;
        let held = ben.meeting(&project).await["id"].as_str().unwrap().to_owned();
        let live = ben.meeting(&project).await["id"].as_str().unwrap().to_owned();
        ben.client.post(format!("/api/meetings/{live}/start")).await.is(200);
        let (document, _) = ben.read(&project, "note.md", b"# Needs\n\nThe system must print.\n").await;
        assert_eq!(names(&ada, &held).await, ["Ada Lovelace"]);
        let etag = ada.client.get(format!("/api/meetings/{held}")).await.is(200).etag();
        delete(&ben).await.is(200);
        names_become(&ada, &held, &["Deleted account"]).await;
        names_become(&ada, &live, &["Deleted account"]).await;
        let read = ada.client.get(format!("/api/meetings/{live}")).await.is(200);
        assert_eq!((&read.data()["status"], &read.data()["createdById"]), (&json!("LIVE"), &json!(ben.id)));
        assert_eq!(ada.client.get(format!("/api/meetings/{held}")).await.is(200).etag(), etag, "no edit of anybody's is stale");
        ada.client.post(format!("/api/meetings/{live}/end")).await.is(200);
        let document = ada.client.get(document).await.is(200);
        assert_eq!((&document.data()["uploadedById"], &document.data()["status"]), (&json!(ben.id), &json!("READY")));
        assert_eq!(ada.client.get(documents(&project)).await.is(200).data()["totalCount"], 1);
    }
}

/// Returns the number of stored document files.
fn contents(server: &Server) -> usize {
    let folders = std::fs::read_dir(server.data.join("files")).into_iter().flatten().flatten();
    let folders = folders.filter(|folder| folder.path().is_dir() && folder.file_name() != "incoming");
    folders.map(|folder| std::fs::read_dir(folder.path()).unwrap().count()).sum()
}
