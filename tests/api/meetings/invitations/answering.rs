//! Tests previewInvitation, acceptInvitation and declineInvitation.

use serde_json::json;

use super::{Guest, accept, ask_guests, ask_members, invite_guest, link, listed, mailed};
use crate::meetings::participants::TestMeeting;
use crate::support::dump::dump;
use crate::support::{Role, ServerSetup, Socket, World, shape};

on_both! {
    async fn a_preview_shows_the_least_and_uses_nothing_up(world: World) {
        let room = TestMeeting::scheduled(world.server, json!({})).await;
        let (id, email, token) = invite_guest(world.server, &room).await;
        for _ in 0..3 {
            let preview = world.nobody.get(link(&token)).await.is(200);
            let expires_at = preview.text_of("expiresAt");
            assert_eq!(preview.data(), &json!({
                "meetingTitle": "Discovery", "projectName": "Clinic booking", "inviterName": "Ada Lovelace",
                "scheduledAt": "2026-03-02T09:00:00.000Z", "inviteeEmail": format!("{}***@example.org", &email[..1]),
                "displayName": "Gus Guest", "role": "PARTICIPANT", "status": "PENDING", "expiresAt": expires_at,
            }));
        }
        assert_eq!(listed(&room, &id).await["status"], "PENDING");
        accept(&world.nobody, &token).await.is(200);
        assert_eq!(world.nobody.get(link(&token)).await.is(200).text_of("status"), "ACCEPTED");
    }

    async fn a_guest_link_returns_the_same_participant_and_a_new_token_each_time(world: World) {
        let room = TestMeeting::scheduled(world.server, json!({})).await;
        let (id, email, token) = invite_guest(world.server, &room).await;
        let call = world.nobody.post(format!("{}/accept", link(&token))).json(json!({"displayName": "Gus"}));
        let accepted = call.await.is(200);
        assert_eq!(shape::keys(accepted.data()), ["expiresIn", "guestToken", "meeting", "participant"]);
        let participant = &accepted.data()["participant"];
        assert_eq!(
            json!([participant["displayName"], participant["email"], participant["userId"], participant["role"], participant["status"]]),
            json!(["Gus", email, null, "PARTICIPANT", "INVITED"])
        );
        assert_eq!((&accepted.data()["expiresIn"], accepted.text_of("guestToken").is_empty()), (&json!(43200), false));
        assert_eq!(format!("/api/meetings/{}", accepted.data()["meeting"]["id"].as_str().unwrap()), room.path);
        // Also with the guest token from the first response, and without a body.
        let again = world.nobody.bearing(&accepted.text_of("guestToken")).post(format!("{}/accept", link(&token))).await;
        let again = again.is(200);
        assert_eq!(again.data()["participant"], *participant);
        assert_ne!(again.text_of("guestToken"), accepted.text_of("guestToken"));
        let one = listed(&room, &id).await;
        assert_eq!((&one["status"], &one["userId"]), (&json!("ACCEPTED"), &json!(null)));
        assert!(one["acceptedAt"].is_string());
        assert_eq!(room.people().await.len(), 2);
    }

    async fn a_members_link_is_for_their_account_alone(world: World) {
        let room = TestMeeting::scheduled(world.server, json!({})).await;
        let (eve, bob) =
            (room.member(world.server, Role::Analyst).await, room.member(world.server, Role::Analyst).await);
        let made = ask_members(&room, json!([{"userId": eve.id, "role": "OBSERVER"}])).await.is(201);
        let token = mailed(world.server, &eve.email, 1).await;
        for verb in ["accept", "decline"] {
            let path = format!("{}/{verb}", link(&token));
            world.nobody.post(&path).await.refused(401, "Unauthorized");
            world.nobody.bearing("x.y.z").post(&path).await.refused(401, "Unauthorized");
            bob.client.post(&path).await.refused(403, "Forbidden");
            room.ada.client.post(&path).await.refused(403, "Forbidden");
        }
        let accepted = accept(&eve.client, &token).await.is(200);
        let participant = accepted.data()["participant"].clone();
        assert_eq!(
            (&participant["userId"], &participant["role"], &participant["displayName"]),
            (&json!(eve.id), &json!("OBSERVER"), &json!("Ada Lovelace"))
        );
        assert_eq!((&accepted.data()["guestToken"], &accepted.data()["expiresIn"]), (&json!(null), &json!(null)));
        assert_eq!(accept(&eve.client, &token).await.is(200).data()["participant"], participant);
        accept(&bob.client, &token).await.refused(403, "Forbidden");
        assert_eq!(listed(&room, made.data()["items"][0]["id"].as_str().unwrap()).await["status"], "ACCEPTED");
    }

    async fn a_guest_who_accepts_with_an_account_is_bound_to_it(world: World) {
        let room = TestMeeting::open(world.server).await;
        let guest = Guest::of(world.server, &room).await;
        let (zoe, yan) = (world.user().await, world.user().await);
        let accepted = accept(&zoe.client, &guest.token).await.is(200);
        assert_eq!(accepted.data()["participant"]["id"], guest.participant);
        assert_eq!((&accepted.data()["participant"]["userId"], &accepted.data()["guestToken"]), (&json!(zoe.id), &json!(null)));
        zoe.client.post(format!("{}/join", room.path)).await.is(200);
        // The participant is bound to her account now: neither the link nor the earlier guest token works for others.
        accept(&world.nobody, &guest.token).await.refused(401, "Unauthorized");
        accept(&yan.client, &guest.token).await.refused(403, "Forbidden");
        guest.client.get(&room.path).await.refused(403, "Forbidden");
        guest.join(&room).await.refused(403, "Forbidden");
        assert_eq!(listed(&room, &guest.invitation).await["userId"], zoe.id);
    }

    async fn a_hundred_concurrent_accepts_of_a_guest_link_make_one_participant(world: World) {
        let room = TestMeeting::open(world.server).await;
        let (_, _, token) = invite_guest(world.server, &room).await;
        let calls = (0..100).map(|_| accept(&world.nobody, &token));
        let answers = futures_util::future::join_all(calls).await;
        let first = answers[0].data()["participant"]["id"].clone();
        for answer in &answers {
            assert_eq!((answer.status, &answer.data()["participant"]["id"]), (200, &first), "{}", answer.text());
        }
        assert_eq!(room.people().await.len(), 2);
    }

    async fn of_two_accounts_that_accept_a_guest_link_at_once_one_gets_it(world: World) {
        for _ in 0..5 {
            let room = TestMeeting::open(world.server).await;
            let (_, _, token) = invite_guest(world.server, &room).await;
            let (zoe, yan) = (world.user().await, world.user().await);
            let (one, other) = tokio::join!(accept(&zoe.client, &token), accept(&yan.client, &token));
            let mut statuses = [one.status, other.status];
            statuses.sort_unstable();
            assert_eq!(statuses, [200, 403], "{} {}", one.text(), other.text());
            assert_eq!(room.people().await.len(), 2);
        }
    }

    async fn a_declined_invitation_can_not_be_accepted_and_hosts_get_both_events(world: World) {
        let room = TestMeeting::open(world.server).await;
        let (id, _, token) = invite_guest(world.server, &room).await;
        let mut socket = Socket::open(&room.ada.client).await;
        let topic = format!("project:{}", room.project);
        assert_eq!(socket.subscribe(&topic).await["type"], "subscribed");
        world.nobody.post(format!("{}/decline", link(&token))).await.is(200);
        let declined = loop {
            let frame = socket.next().await;
            if frame["event"] != "invitation.updated" {
                break frame;
            }
        };
        assert_eq!((&declined["event"], &declined["data"]["id"]), (&json!("invitation.declined"), &json!(id)));
        accept(&world.nobody, &token).await.refused(409, "InvalidState");
        world.nobody.post(format!("{}/decline", link(&token))).await.refused(409, "InvalidState");
        assert_eq!(world.nobody.get(link(&token)).await.is(200).text_of("status"), "DECLINED");
        assert_eq!(listed(&room, &id).await["status"], "DECLINED");
        let guest = Guest::of(world.server, &room).await;
        loop {
            let frame = socket.next().await;
            if frame["event"] == "invitation.accepted" {
                assert_eq!(frame["data"]["id"], guest.invitation);
                break;
            }
        }
        world.nobody.post(format!("{}/decline", link(&guest.token))).await.refused(409, "InvalidState");
    }

    async fn invitations_to_an_ended_meeting_can_not_be_answered(world: World) {
        let room = TestMeeting::open(world.server).await;
        let (_, _, token) = invite_guest(world.server, &room).await;
        room.ada.client.post(format!("{}/end", room.path)).await.is(200);
        accept(&world.nobody, &token).await.refused(409, "InvalidState");
        world.nobody.post(format!("{}/decline", link(&token))).await.refused(409, "InvalidState");
        world.nobody.get(link(&token)).await.is(200);
    }

    async fn what_is_no_link_is_not_found(world: World) {
        let room = TestMeeting::scheduled(world.server, json!({})).await;
        let (_, _, token) = invite_guest(world.server, &room).await;
        for wrong in ["x".to_owned(), "A".repeat(43), token[..42].to_owned(), format!("{token}A")] {
            world.nobody.get(link(&wrong)).await.refused(404, "NotFound");
            accept(&world.nobody, &wrong).await.refused(404, "NotFound");
        }
        world.nobody.bearing(&token).get(&room.path).await.refused(401, "Unauthorized");
    }

    async fn a_full_meeting_rejects_accepts_and_the_link_stays_valid(setup: ServerSetup) {
        let server = setup.start(&[("COLLOQUY__MEETINGS__PEOPLE", "2")]);
        let room = TestMeeting::open(&server).await;
        let first = Guest::of(&server, &room).await;
        let (id, _, token) = invite_guest(&server, &room).await;
        accept(&server.client(), &token).await.refused(409, "MeetingFull");
        assert_eq!(listed(&room, &id).await["status"], "PENDING");
        room.ada.client.delete(format!("{}/participants/{}", room.path, first.participant)).await.is(200);
        accept(&server.client(), &token).await.is(200);
    }

    async fn guest_and_invitation_tokens_are_in_no_table_log_line_or_metric(setup: ServerSetup) {
        let server = setup.start(&[("COLLOQUY__LOG__FILTER", "info,colloquy=trace,actors=trace")]);
        let room = TestMeeting::open(&server).await;
        let (_, _, token) = invite_guest(&server, &room).await;
        let seen = server.client().get(link(&token)).await.is(200);
        assert_eq!((seen.header("cache-control"), seen.header("referrer-policy")), (Some("no-store"), Some("no-referrer")));
        let accepted = accept(&server.client(), &token).await.is(200).text_of("guestToken");
        ask_guests(&room, json!([{"email": "nobody"}])).await.is(422);
        server.client().bearing(&accepted).get(&room.path).await.is(200);
        let figures = server.operator().get("/metrics").await.is(200).text();
        let (dumped, said) = (dump(&server).await, server.read_log());
        for secret in [&token, &accepted] {
            for (source, text) in [("log", &said), ("tables", &dumped), ("figures", &figures)] {
                assert!(!text.contains(secret.as_str()), "{source}");
            }
        }
        assert!(said.contains("/api/meeting-invitations/{token}/accept"));
    }
}
