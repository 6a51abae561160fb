//! What a participant may do in a media room follows from their role in the meeting, for project members and guests.

use serde_json::json;

use super::{Stage, claims, invited_as, publishing};
use crate::meetings::invitations::Guest;
use crate::meetings::participants::TestMeeting;
use crate::support::livekit::Event;
use crate::support::{Role, ServerSetup};

on_both! {
    async fn an_observer_publishes_nothing(setup: ServerSetup) {
        let stage = Stage::open(&setup, &[]).await;
        let eve = stage.room.member(&stage.server, Role::Stakeholder).await;
        invited_as(&stage.server, &stage.room, &eve, "OBSERVER", 0).await;
        stage.room.joined(&eve).await;
        let issued = stage.credentials(&eve).await.is(200);
        assert_eq!(issued.data()["role"], "OBSERVER");
        assert_eq!(
            issued.data()["grants"],
            json!({"canPublish": false, "canSubscribe": true, "canPublishData": false, "canPublishSources": []})
        );
        assert_eq!(claims(&issued).video, publishing(stage.name(), false));
    }

    async fn a_role_changed_while_in_the_room_takes_effect_there(setup: ServerSetup) {
        let stage = Stage::open(&setup, &[]).await;
        let (eve, bob) =
            (stage.room.member(&stage.server, Role::Analyst).await, stage.room.member(&stage.server, Role::Analyst).await);
        let (eves, bobs) = (stage.entered(&eve).await, stage.entered(&bob).await);
        let comes = async |own: &str| {
            let connection = stage.media.comes(stage.name(), own);
            let mut event = Event::about("participant_joined", stage.name(), &connection);
            event.0["participant"]["permission"] = json!({"canSubscribe": true, "canPublish": true});
            event.send_to(&stage.caller()).await.is(200);
        };
        comes(&eves).await;
        comes(&bobs).await;
        let none = json!({"canPublish": false, "canSubscribe": true, "canPublishData": false, "canPublishSources": []});

        invited_as(&stage.server, &stage.room, &eve, "OBSERVER", 0).await;
        let call = stage.media.wait_for("UpdateParticipant", 1).await.remove(0);
        assert_eq!((&call.body["room"], &call.body["identity"]), (&json!(stage.name()), &json!(eves)));
        assert_eq!(call.body["permission"], none);
        // They connect again with an earlier token, which allowed publishing.
        comes(&eves).await;
        let call = stage.media.wait_for("UpdateParticipant", 2).await.remove(1);
        assert_eq!((&call.body["identity"], &call.body["permission"]), (&json!(eves), &none));

        invited_as(&stage.server, &stage.room, &eve, "PARTICIPANT", 1).await;
        let call = stage.media.wait_for("UpdateParticipant", 3).await.remove(2);
        let all = json!({"canPublish": true, "canSubscribe": true, "canPublishData": true,
            "canPublishSources": ["CAMERA", "MICROPHONE", "SCREEN_SHARE", "SCREEN_SHARE_AUDIO"]});
        assert_eq!((&call.body["identity"], &call.body["permission"]), (&json!(eves), &all));
        assert_eq!(stage.credentials(&eve).await.is(200).data()["grants"]["canPublish"], true);
        // Being a co-host changes nothing about publishing.
        invited_as(&stage.server, &stage.room, &bob, "CO_HOST", 0).await;
        stage.room.ada.client.post(format!("{}/end", stage.room.path)).await.is(200);
        stage.media.wait_for("DeleteRoom", 1).await;
        assert_eq!(stage.media.calls("UpdateParticipant").len(), 3);
    }

    async fn a_guest_gets_room_tokens_for_their_meeting_until_they_are_removed(setup: ServerSetup) {
        let stage = Stage::open(&setup, &[]).await;
        let (room, other) = (&stage.room, TestMeeting::open(&stage.server).await);
        let guest = Guest::of(&stage.server, room).await;
        let ask = async |of: &TestMeeting| guest.client.post(format!("{}/room-credentials", of.path)).await;
        ask(room).await.refused(403, "Forbidden");
        guest.join(room).await.is(200);
        let issued = ask(room).await.is(200);
        assert_eq!((issued.text_of("identity"), issued.text_of("role")), (guest.participant.clone(), "PARTICIPANT".to_owned()));
        let claims = claims(&issued);
        assert_eq!((claims.sub, claims.video), (guest.participant.clone(), publishing(stage.name(), true)));
        ask(&other).await.refused(403, "Forbidden");

        guest.client.post(format!("{}/leave", room.path)).await.is(200);
        ask(room).await.refused(409, "InvalidState");
        guest.join(room).await.is(200);
        ask(room).await.is(200);
        stage.media.comes(stage.name(), &guest.participant);
        let puts_out = stage.media.calls("RemoveParticipant").len();
        room.ada.client.delete(format!("{}/invitations/{}", room.path, guest.invitation)).await.is(200);
        ask(room).await.refused(403, "Forbidden");
        let calls = stage.media.wait_for("RemoveParticipant", puts_out + 1).await;
        assert_eq!(calls.last().unwrap().body["identity"], json!(guest.participant));
    }
}
