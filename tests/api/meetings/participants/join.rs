//! Tests joinMeeting and leaveMeeting.

use futures_util::future::join_all;
use serde_json::{Value, json};

use super::TestMeeting;
use crate::support::{Role, ServerSetup, World, shape};

on_both! {
    async fn a_member_of_the_project_joins_without_an_invitation_and_is_a_participant(world: World) {
        let room = TestMeeting::open(world.server).await;
        let eve = room.member(world.server, Role::Stakeholder).await;
        let joined = room.join(&eve).await.is(200);
        let mut keys = shape::keys(joined.data());
        keys.sort_unstable();
        let expected = [
            "connected", "consent", "displayName", "email", "id", "joinedAt", "leftAt", "meetingId", "role", "status",
            "userId",
        ];
        assert_eq!(keys, expected);
        shape::id(&joined.data()["id"]);
        shape::time(&joined.data()["joinedAt"]);
        let expected = json!({
            "id": joined.data()["id"], "meetingId": room.path.rsplit('/').next(), "userId": eve.id, "email": eve.email,
            "displayName": "Ada Lovelace", "role": "PARTICIPANT", "status": "JOINED",
            "consent": {"recordingConsent": null, "scopes": [], "wordingVersion": null, "consentedAt": null},
            "joinedAt": joined.data()["joinedAt"], "leftAt": null, "connected": false,
        });
        assert_eq!(joined.data(), &expected);
        let details = eve.client.get(&room.path).await.is(200);
        assert_eq!(details.data()["myRole"], "PARTICIPANT");
        assert_eq!(details.data()["myParticipantId"], joined.data()["id"]);
    }

    async fn joining_again_changes_nothing_but_the_name_and_leaving_again_nothing(world: World) {
        let room = TestMeeting::open(world.server).await;
        let eve = room.member(world.server, Role::Analyst).await;
        let first = room.join(&eve).await.is(200);
        assert_eq!(room.join(&eve).await.is(200).data(), first.data());
        let called = eve.client.post(format!("{}/join", room.path)).json(json!({"displayName": "  Eve  "})).await.is(200);
        assert_eq!((&called.data()["displayName"], &called.data()["id"]), (&json!("Eve"), &first.data()["id"]));
        let left = room.leave(&eve).await.is(200);
        assert_eq!(left.data()["status"], "LEFT");
        shape::time(&left.data()["leftAt"]);
        assert_eq!(room.leave(&eve).await.is(200).data(), left.data());
        let back = room.join(&eve).await.is(200);
        assert_eq!((&back.data()["status"], &back.data()["id"]), (&json!("JOINED"), &first.data()["id"]));
        assert_eq!((&back.data()["displayName"], &back.data()["leftAt"]), (&json!("Eve"), &Value::Null));
    }

    async fn the_host_may_wait_in_a_meeting_that_has_not_begun_and_others_may_not(world: World) {
        let room = TestMeeting::scheduled(world.server, json!({})).await;
        let eve = room.member(world.server, Role::Manager).await;
        room.join(&eve).await.refused(409, "InvalidState");
        let waiting = room.join(&room.ada).await.is(200);
        assert_eq!((&waiting.data()["status"], &waiting.data()["role"]), (&json!("JOINED"), &json!("HOST")));
        let details = room.ada.client.get(&room.path).await.is(200);
        assert_eq!((&details.data()["status"], details.etag()), (&json!("SCHEDULED"), "\"1\"".to_owned()));
        assert_eq!(details.data()["hostParticipantId"], waiting.data()["id"]);
    }

    async fn joins_touch_neither_the_etag_nor_the_meeting(world: World) {
        let room = TestMeeting::open(world.server).await;
        let before = room.ada.client.get(&room.path).await.is(200);
        let eve = room.member(world.server, Role::Analyst).await;
        room.join(&eve).await.is(200);
        room.leave(&eve).await.is(200);
        let after = room.ada.client.get(&room.path).await.is(200);
        assert_eq!((before.etag(), before.data()), (after.etag(), after.data()));
        let body = json!({"title": "Other"});
        room.ada.client.patch(&room.path).if_match(before.data()["version"].as_u64().unwrap()).json(body).await.is(200);
    }

    async fn nobody_joins_an_ended_meeting_and_its_end_makes_all_participants_leave(world: World) {
        let room = TestMeeting::open(world.server).await;
        let eve = room.member(world.server, Role::Analyst).await;
        let id = room.joined(&eve).await;
        let ended = room.ada.client.post(format!("{}/end", room.path)).await.is(200);
        let person = room.person(&id).await;
        assert_eq!((&person["status"], &person["leftAt"]), (&json!("LEFT"), &ended.data()["endedAt"]));
        room.join(&eve).await.refused(409, "InvalidState");
        room.leave(&eve).await.is(200);
    }

    async fn who_never_joined_has_nothing_to_leave(world: World) {
        let room = TestMeeting::open(world.server).await;
        let eve = room.member(world.server, Role::Manager).await;
        room.leave(&eve).await.refused(403, "Forbidden");
        room.leave(&room.ada).await.refused(403, "Forbidden");
    }

    async fn strangers_do_not_join_and_names_have_their_limits(world: World) {
        let room = TestMeeting::open(world.server).await;
        room.join(&world.user().await).await.refused(403, "Forbidden");
        for (body, code) in [
            (json!({"displayName": "x".repeat(121)}), "TooLong"),
            (json!({"displayName": " "}), "TooShort"),
            (json!({"displayName": "two\nlines"}), "InvalidValue"),
            (json!({"role": "HOST"}), "UnknownKey"),
        ] {
            room.ada.client.post(format!("{}/join", room.path)).json(body).await.refused(422, code);
        }
    }

    async fn nobody_joins_in_an_archived_project_and_everybody_may_leave(world: World) {
        let room = TestMeeting::open(world.server).await;
        let eve = room.member(world.server, Role::Analyst).await;
        room.join(&eve).await.is(200);
        let archive = room.ada.client.patch(format!("/api/projects/{}", room.project)).json(json!({"status": "ARCHIVED"}));
        archive.await.is(200);
        room.join(&room.ada).await.refused(409, "ProjectArchived");
        room.leave(&eve).await.is(200);
    }

    async fn concurrent_joins_of_one_account_make_one_participant(world: World) {
        let room = TestMeeting::open(world.server).await;
        let eve = room.member(world.server, Role::Analyst).await;
        let answers = join_all((0..32).map(|_| room.join(&eve))).await;
        let ids: std::collections::BTreeSet<_> = answers.into_iter().map(|one| one.is(200).text_of("id")).collect();
        assert_eq!(ids.len(), 1);
        assert_eq!(room.people().await.len(), 2, "with ada");
    }

    async fn a_meeting_takes_no_more_people_than_it_may(setup: ServerSetup) {
        let server = setup.start(&[("COLLOQUY__MEETINGS__PEOPLE", "3")]);
        let room = TestMeeting::open(&server).await;
        let (eve, bob, joe) = (
            room.member(&server, Role::Analyst).await,
            room.member(&server, Role::Analyst).await,
            room.member(&server, Role::Analyst).await,
        );
        let id = room.joined(&eve).await;
        room.join(&bob).await.is(200);
        room.join(&joe).await.refused(409, "MeetingFull");
        room.join(&room.ada).await.is(200);
        room.leave(&eve).await.is(200);
        room.join(&joe).await.refused(409, "MeetingFull");
        room.ada.client.delete(format!("{}/participants/{id}", room.path)).await.is(200);
        room.join(&joe).await.is(200);
    }
}
