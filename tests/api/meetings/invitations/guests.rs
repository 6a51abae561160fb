//! Tests guests of meetings: what their token authorizes, and that it ends when they are removed.

use std::time::{Duration, Instant};

use actors::ids::Id;
use actors::time::Time;
use colloquy::db::schema::meetings;
use colloquy::db::{DbError, RunQueryDsl};
use diesel::{ExpressionMethods, QueryDsl};
use serde_json::{Value, json};

use super::{Guest, accept, ask_guests, link, listed, mailed};
use crate::meetings::participants::TestMeeting;
use crate::support::{ServerSetup, Socket, World};

/// Opens a socket as a guest that is subscribed to the meeting's topic.
async fn listening(guest: &Guest, room: &TestMeeting) -> Socket {
    let mut socket = Socket::open(&guest.client).await;
    assert_eq!(socket.subscribe(&room.topic()).await["type"], "subscribed");
    socket
}

/// Sends saveRecordingConsent as a guest for their own participant.
async fn consents(guest: &Guest, room: &TestMeeting, body: Value) -> crate::support::Answer {
    guest.client.post(format!("{}/participants/{}/consent", room.path, guest.participant)).json(body).await
}

on_both! {
    async fn a_guest_joins_consents_connects_and_leaves_as_members_do(world: World) {
        let room = TestMeeting::open(world.server).await;
        let guest = Guest::of(world.server, &room).await;
        let details = guest.client.get(&room.path).await.is(200);
        assert_eq!((details.text_of("myRole"), details.text_of("myParticipantId")), ("PARTICIPANT".to_owned(), guest.participant.clone()));
        let joined = guest.join(&room).await.is(200);
        assert_eq!(
            (joined.text_of("id"), joined.text_of("status"), joined.text_of("email")),
            (guest.participant.clone(), "JOINED".to_owned(), guest.email.clone())
        );
        let people = guest.client.get(format!("{}/participants", room.path)).await.is(200);
        let emails: Vec<&Value> = people.data()["items"].as_array().unwrap().iter().map(|one| &one["email"]).collect();
        assert!(emails.contains(&&json!(guest.email)) && emails.contains(&&json!(null)), "{emails:?}");
        let yes = json!({"recordingConsent": true, "scopes": ["RECORDING"], "wordingVersion": room.wording().await});
        consents(&guest, &room, yes).await.is(200);
        let ticket = guest.client.post("/api/ws/tickets").await.is(201).text_of("ticket");
        let mut socket = Socket::tried(&world.nobody, &format!("?ticket={ticket}"), &[]).await.unwrap();
        assert_eq!(socket.subscribe(&room.topic()).await["type"], "subscribed");
        room.until(&guest.participant, |person| person["connected"] == true).await;
        guest.client.post(format!("{}/leave", room.path)).await.is(200);
        assert_eq!(room.person(&guest.participant).await["status"], "LEFT");
    }

    async fn a_guest_token_authorizes_for_its_own_meeting_only(world: World) {
        let (room, other) = (TestMeeting::open(world.server).await, TestMeeting::open(world.server).await);
        let guest = Guest::of(world.server, &room).await;
        guest.join(&room).await.is(200);
        guest.client.get(&other.path).await.refused(403, "Forbidden");
        guest.join(&other).await.refused(403, "Forbidden");
        for path in ["/api/projects".to_owned(), format!("/api/projects/{}", room.project)] {
            guest.client.get(path).await.refused(403, "Forbidden");
        }
        guest.client.post("/api/auth/logout").json(json!({})).await.refused(403, "Forbidden");
        for path in [format!("{}/start", room.path), format!("{}/end", room.path)] {
            guest.client.post(path).await.refused(403, "Forbidden");
        }
        let host = room.joined(&room.ada).await;
        let path = format!("{}/participants/{host}/consent", room.path);
        guest.client.post(path).json(json!({"recordingConsent": false})).await.refused(403, "Forbidden");
        let mut socket = listening(&guest, &room).await;
        for topic in [other.topic(), format!("project:{}", room.project)] {
            let mut said = socket.subscribe(&topic).await;
            // The event that the guest is connected may be received in between.
            while said["type"] == "event" {
                said = socket.next().await;
            }
            assert_eq!((&said["topic"], &said["code"]), (&json!(topic), &json!("Forbidden")), "{said}");
        }
        // A guest token is not accepted as a refresh token.
        world.nobody.post("/api/auth/refresh-token").json(json!({"refreshToken": guest.client.token()})).await.is(401);
    }

    async fn a_removed_guest_is_disconnected_within_a_second_but_may_withdraw_their_consent(world: World) {
        let room = TestMeeting::open(world.server).await;
        let guest = Guest::of(world.server, &room).await;
        guest.join(&room).await.is(200);
        let yes = json!({"recordingConsent": true, "scopes": ["RECORDING"], "wordingVersion": room.wording().await});
        consents(&guest, &room, yes).await.is(200);
        let socket = listening(&guest, &room).await;
        room.ada.client.delete(format!("{}/participants/{}", room.path, guest.participant)).await.is(200);
        let removed = Instant::now();
        let (code, _) = socket.closed().await;
        assert_eq!(code, Some(1008));
        assert!(removed.elapsed() < Duration::from_secs(1), "{:?}", removed.elapsed());
        guest.client.get(&room.path).await.refused(403, "Forbidden");
        guest.join(&room).await.refused(403, "Forbidden");
        guest.client.post("/api/ws/tickets").await.refused(403, "Forbidden");
        accept(&world.nobody, &guest.token).await.refused(403, "Forbidden");
        let withdrawn = consents(&guest, &room, json!({"recordingConsent": false})).await.is(200);
        assert_eq!(withdrawn.data()["consent"]["recordingConsent"], false);

        // After a new invitation they get the same participant back, but only by the new link.
        ask_guests(&room, json!([{"email": guest.email}])).await.is(201);
        let token = mailed(world.server, &guest.email, 2).await;
        let back = accept(&world.nobody, &token).await.is(200);
        assert_eq!(back.data()["participant"]["id"], guest.participant);
        guest.client.get(&room.path).await.refused(403, "Forbidden");
        accept(&world.nobody, &guest.token).await.refused(410, "Gone");
        world.nobody.bearing(&back.text_of("guestToken")).get(&room.path).await.is(200);
    }

    async fn revoking_an_invitation_removes_and_disconnects_its_guest_within_a_second(world: World) {
        let room = TestMeeting::open(world.server).await;
        let guest = Guest::of(world.server, &room).await;
        guest.join(&room).await.is(200);
        let socket = listening(&guest, &room).await;
        let path = format!("{}/invitations/{}", room.path, guest.invitation);
        room.ada.client.delete(&path).await.is(200);
        let revoked = Instant::now();
        assert_eq!(socket.closed().await.0, Some(1008));
        assert!(revoked.elapsed() < Duration::from_secs(1), "{:?}", revoked.elapsed());
        guest.client.get(&room.path).await.refused(403, "Forbidden");
        assert_eq!(room.person(&guest.participant).await["status"], "REMOVED");
        let one = listed(&room, &guest.invitation).await;
        assert_eq!(one["status"], "REVOKED");
        assert!(one["acceptedAt"].is_string());
        world.nobody.get(link(&guest.token)).await.refused(410, "Gone");
        accept(&world.nobody, &guest.token).await.refused(410, "Gone");
        room.ada.client.delete(&path).await.is(200);
    }

    async fn guests_may_read_a_meeting_for_an_hour_after_its_end(setup: ServerSetup) {
        let server = setup.start(&[]);
        let room = TestMeeting::open(&server).await;
        let guest = Guest::of(&server, &room).await;
        room.ada.client.post(format!("{}/end", room.path)).await.is(200);
        guest.client.get(&room.path).await.is(200);
        guest.client.post("/api/ws/tickets").await.is(201);
        let id: Id<actors::meeting::Meeting> = room.path.rsplit('/').next().unwrap().parse().unwrap();
        let db = server.db().await;
        let aged = db.write(move |conn| {
            Box::pin(async move {
                let row = meetings::table.find(id);
                let (began, ended): (Option<Time>, Option<Time>) =
                    row.select((meetings::started_at, meetings::ended_at)).first(conn).await?;
                let earlier = |at: Option<Time>| at.map(|at| at - Duration::from_secs(3600));
                let set = (meetings::started_at.eq(earlier(began)), meetings::ended_at.eq(earlier(ended)));
                diesel::update(row).set(set).execute(conn).await?;
                Ok::<_, DbError>(())
            })
        });
        aged.await.unwrap();
        // After the restart the server reads the meeting from the database again.
        server.kill();
        let server = setup.start(&[]);
        let late = guest.client.moved_to(&server);
        late.get(&room.path).await.refused(401, "Unauthorized");
        late.post("/api/ws/tickets").await.refused(401, "Unauthorized");
        accept(&server.client(), &guest.token).await.refused(409, "InvalidState");
    }
}
