//! Tests inviteParticipants, inviteGuests and listMeetingInvitations.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{Guest, accept, ask_guests, ask_members, invite_guest, listed, mailed};
use crate::meetings::participants::TestMeeting;
use crate::support::builders::fresh_email;
use crate::support::{Role, ServerSetup, User, World, outbox, shape};

const NOWHERE: &str = "0189a0f0-0000-7000-8000-000000000000";

on_both! {
    async fn a_guest_is_invited_by_email_and_the_invitation_is_listed(world: World) {
        let room = TestMeeting::scheduled(world.server, json!({})).await;
        let email = fresh_email();
        let body = json!({
            "invitees": [{"email": email.to_uppercase(), "displayName": "Gus Guest", "role": "observer"}],
            "message": "Bring the plans: https://evil.example/x",
        });
        let made = room.ada.client.post(format!("{}/invitations/guests", room.path)).json(body).await.is(201);
        let one = made.data()["items"][0].clone();
        assert_eq!(shape::keys(&one), [
            "acceptedAt", "createdAt", "delivery", "displayName", "email", "expiresAt", "id", "invitedById", "inviteeType",
            "lastSentAt", "meetingId", "role", "sendCount", "status", "userId",
        ]);
        let shown = ["email", "displayName", "role", "status", "delivery", "inviteeType", "sendCount", "userId", "acceptedAt"];
        let shown: Vec<&Value> = shown.iter().map(|key| &one[key]).collect();
        assert_eq!(json!(shown), json!([email, "Gus Guest", "OBSERVER", "PENDING", "QUEUED", "GUEST", 1, null, null]));
        assert_eq!(one["invitedById"], room.ada.id);

        let mail = outbox::wait_for(&world.server.data, &email, 1).await;
        assert!(mail.contains(&format!("http://app.colloquy.test{}/join#invitation=", &room.path[4..])), "{mail}");
        assert!(mail.contains("Discovery") && mail.contains("Monday 2 March 2026, 09:00 UTC") && mail.contains("Ada Lovelace"), "{mail}");
        assert!(mail.contains("Bring the plans") && !mail.contains("https://evil.example"), "{mail}");

        let deadline = Instant::now() + Duration::from_secs(10);
        let id = one["id"].as_str().unwrap();
        while listed(&room, id).await["delivery"] != "SENT" {
            assert!(Instant::now() < deadline, "its delivery is never known");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        let only = |query: &str| room.ada.client.get(format!("{}/invitations?{query}", room.path));
        assert_eq!(only("status=pending&inviteeType=GUEST&search=gus").await.is(200).data()["totalCount"], 1);
        for none in ["status=ACCEPTED", "status=EXPIRED", "inviteeType=PARTICIPANT", "search=nobody"] {
            assert_eq!(only(none).await.is(200).data()["totalCount"], 0, "{none}");
        }
    }

    async fn e_mails_show_the_time_as_the_hosts_clocks_do(world: World) {
        let room = TestMeeting::scheduled(world.server, json!({"scheduledAt": "2026-03-02T23:30:00-05:30"})).await;
        assert_eq!(room.ada.client.get(&room.path).await.is(200).text_of("scheduledAt"), "2026-03-03T05:00:00.000Z");
        let email = fresh_email();
        ask_guests(&room, json!([{"email": email}])).await.is(201);
        let mail = outbox::wait_for(&world.server.data, &email, 1).await;
        assert!(mail.contains("Monday 2 March 2026, 23:30 UTC-05:30"), "{mail}");
        let later = json!({"scheduledAt": "2026-03-03T09:00:00+02:00"});
        room.ada.client.patch(&room.path).json(later).await.is(200);
        let mail = outbox::wait_for(&world.server.data, &email, 2).await;
        assert!(mail.contains("Tuesday 3 March 2026, 09:00 UTC+02:00"), "{mail}");
    }

    async fn all_invitees_are_invited_or_none_and_every_error_is_reported(world: World) {
        let room = TestMeeting::scheduled(world.server, json!({})).await;
        let (good, twice) = (fresh_email(), fresh_email());
        let named = |answer: crate::support::Answer| answer.faults();
        let fault = |field: &str, code: &str| (field.to_owned(), code.to_owned());
        let unread = json!([
            {"email": good}, {"email": "nobody"}, {"email": twice, "role": "KING"}, 7, {"email": good, "phone": "1"}, {},
        ]);
        assert_eq!(named(ask_guests(&room, unread).await.is(422)), [
            fault("invitees[1].email", "InvalidValue"), fault("invitees[2].role", "InvalidValue"),
            fault("invitees[3]", "InvalidValue"), fault("invitees[4].phone", "UnknownKey"),
            fault("invitees[5].email", "Required"),
        ]);
        let unfit = json!([
            {"email": good}, {"email": twice, "role": "HOST"}, {"email": twice}, {"email": fresh_email(), "role": "CO_HOST"},
        ]);
        assert_eq!(named(ask_guests(&room, unfit).await.is(422)), [
            fault("invitees[1].role", "InvalidValue"), fault("invitees[2].email", "Repeated"),
            fault("invitees[3].role", "InvalidValue"),
        ]);
        for wrong in [json!([]), json!("x"), json!(null), Value::Array(vec![json!({"email": good}); 101])] {
            let faults = named(ask_guests(&room, wrong.clone()).await.is(422));
            assert_eq!(faults[0].0, "invitees", "{wrong}");
        }
        assert_eq!(room.ada.client.get(format!("{}/invitations", room.path)).await.is(200).data()["totalCount"], 0);
        assert!(outbox::mails(&world.server.data, &good).is_empty());
    }

    async fn only_members_are_invited_as_participants_and_only_analysts_as_co_hosts(world: World) {
        let room = TestMeeting::scheduled(world.server, json!({})).await;
        let (eve, bob) =
            (room.member(world.server, Role::Analyst).await, room.member(world.server, Role::Stakeholder).await);
        let stranger = world.user().await;
        let refused = ask_members(&room, json!([
            {"userId": eve.id}, {"userId": stranger.id}, {"userId": NOWHERE}, {"userId": bob.id, "role": "CO_HOST"},
        ])).await.is(422);
        let fault = |field: &str, code: &str| (field.to_owned(), code.to_owned());
        assert_eq!(refused.faults(), [
            fault("invitees[1].userId", "NotAProjectMember"), fault("invitees[2].userId", "NotAProjectMember"),
            fault("invitees[3].role", "InvalidValue"),
        ]);
        let made = ask_members(&room, json!([{"userId": eve.id, "role": "CO_HOST"}, {"userId": bob.id}])).await.is(201);
        let items = made.data()["items"].as_array().unwrap();
        assert_eq!((&items[0]["role"], &items[0]["email"], &items[0]["userId"]), (&json!("CO_HOST"), &json!(eve.email), &json!(eve.id)));
        assert_eq!((&items[1]["role"], &items[1]["inviteeType"]), (&json!("PARTICIPANT"), &json!("PARTICIPANT")));
        let token = mailed(world.server, &eve.email, 1).await;
        accept(&eve.client, &token).await.is(200);
        eve.client.post(format!("{}/start", room.path)).await.is(200);
    }

    async fn an_invitee_with_a_pending_invitation_is_not_invited_again_nor_is_the_host(world: World) {
        let room = TestMeeting::scheduled(world.server, json!({})).await;
        let (_, email, _) = invite_guest(world.server, &room).await;
        let refused = ask_guests(&room, json!([{"email": fresh_email()}, {"email": email}])).await.refused(409, "Conflict");
        assert_eq!(refused.faults(), [("invitees[1].email".to_owned(), "Conflict".to_owned())]);
        let host = ask_members(&room, json!([{"userId": room.ada.id}])).await.refused(409, "Conflict");
        assert_eq!(host.faults(), [("invitees[0].userId".to_owned(), "Conflict".to_owned())]);
        assert_eq!(room.ada.client.get(format!("{}/invitations", room.path)).await.is(200).data()["totalCount"], 1);
    }

    async fn two_hosts_who_invite_the_same_guest_at_once_make_one_invitation(world: World) {
        let room = TestMeeting::scheduled(world.server, json!({})).await;
        let mia = room.member(world.server, Role::Manager).await;
        for _ in 0..5 {
            let email = fresh_email();
            let ask = |host: &User| {
                let body = json!({"invitees": [{"email": fresh_email()}, {"email": email}]});
                host.client.post(format!("{}/invitations/guests", room.path)).json(body)
            };
            let calls = (0..10).map(|number| ask(if number % 2 == 0 { &room.ada } else { &mia }));
            let answers = futures_util::future::join_all(calls.map(IntoFuture::into_future)).await;
            let mut statuses: Vec<u16> = answers.iter().map(|answer| answer.status).collect();
            statuses.sort_unstable();
            assert_eq!((statuses[0], &statuses[1..]), (201, [409; 9].as_slice()));
            mailed(world.server, &email, 1).await;
            assert_eq!(outbox::mails(&world.server.data, &email).len(), 1);
        }
        // In a rejected request, the other invitee was not invited either.
        assert_eq!(room.ada.client.get(format!("{}/invitations", room.path)).await.is(200).data()["totalCount"], 10);
    }

    async fn an_invitation_request_repeated_with_its_idempotency_key_invites_once(world: World) {
        let room = TestMeeting::scheduled(world.server, json!({})).await;
        let (one, other) = (fresh_email(), fresh_email());
        let call = || {
            let body = json!({"invitees": [{"email": one}, {"email": other}]});
            room.ada.client.post(format!("{}/invitations/guests", room.path)).json(body).key("the-same")
        };
        let first = call().await.is(201);
        assert_eq!(call().await.is(201).body, first.body);
        for email in [&one, &other] {
            mailed(world.server, email, 1).await;
            assert_eq!(outbox::mails(&world.server.data, email).len(), 1);
        }
    }

    async fn only_hosts_invite_and_not_to_an_ended_meeting(world: World) {
        let room = TestMeeting::open(world.server).await;
        let eve = room.member(world.server, Role::Analyst).await;
        let guest = Guest::of(world.server, &room).await;
        let body = json!({"invitees": [{"email": fresh_email()}]});
        for client in [&eve.client, &guest.client] {
            let call = client.post(format!("{}/invitations/guests", room.path)).json(body.clone());
            call.await.refused(403, "Forbidden");
            client.get(format!("{}/invitations", room.path)).await.refused(403, "Forbidden");
        }
        room.ada.client.post(format!("{}/end", room.path)).await.is(200);
        ask_guests(&room, body["invitees"].clone()).await.refused(409, "InvalidState");
        room.ada.client.get(format!("{}/invitations", room.path)).await.is(200);
    }

    async fn a_requested_expiry_must_be_within_the_next_ninety_days(world: World) {
        let room = TestMeeting::scheduled(world.server, json!({})).await;
        let now = chrono::DateTime::<chrono::Utc>::from(std::time::SystemTime::now());
        let at = |days: i64| (now + chrono::Duration::days(days)).to_rfc3339();
        let ask = |at: String| {
            let body = json!({"invitees": [{"email": fresh_email()}], "expiresAt": at});
            room.ada.client.post(format!("{}/invitations/guests", room.path)).json(body)
        };
        for wrong in [at(-1), at(91)] {
            let refused = ask(wrong).await.refused(422, "InvalidValue");
            assert_eq!(refused.faults()[0].0, "expiresAt");
        }
        ask(at(89)).await.is(201);
    }

    async fn meeting_invitations_per_account_and_per_address_and_day_are_limited(setup: ServerSetup) {
        let server = setup.start(&[
            ("COLLOQUY__LIMITS__INVITATION_MAILS__MOST", "3"),
            ("COLLOQUY__LIMITS__INVITATION_MAILS_OF_ADDRESS__MOST", "2"),
        ]);
        let room = TestMeeting::scheduled(&server, json!({})).await;
        let email = fresh_email();
        let invite = async |room: &TestMeeting, emails: &[&String]| {
            let invitees: Vec<Value> = emails.iter().map(|email| json!({"email": email})).collect();
            ask_guests(room, json!(invitees)).await
        };
        let four: Vec<String> = (0..4).map(|_| fresh_email()).collect();
        invite(&room, &four.iter().collect::<Vec<_>>()).await.refused(429, "TooManyRequests");
        invite(&room, &[&email, &fresh_email()]).await.is(201);
        let too_many = [&fresh_email(), &fresh_email()];
        invite(&room, &too_many).await.refused(429, "TooManyRequests");
        invite(&room, &[&fresh_email()]).await.is(201);
        invite(&room, &[&fresh_email()]).await.refused(429, "TooManyRequests");
        let second = TestMeeting::scheduled(&server, json!({})).await;
        invite(&second, &[&email]).await.is(201);
        let third = TestMeeting::scheduled(&server, json!({})).await;
        invite(&third, &[&email]).await.refused(429, "TooManyRequests");
        invite(&third, &[&fresh_email()]).await.is(201);
    }
}
