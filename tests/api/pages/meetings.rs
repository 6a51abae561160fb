//! The meetings of a project in the console, by keyboard; the scenes are in tests/fakes/scenes/meetings.mjs.

use serde_json::json;

use super::browser::{Browser, Story, account};
use crate::meetings::participants::TestMeeting;
use crate::meetings::transcripts;
use crate::support::builders::fresh_email;
use crate::support::{Role, ServerSetup, World};

const SPEECH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/samples/speech/booking.webm");

on_sqlite! {
    async fn a_meeting_is_scheduled_invited_to_changed_and_another_one_cancelled(world: World) {
        let Some(browser) = Browser::start() else { return };
        let ada = world.user().await;
        let project = ada.project().await;
        let member = world.member(&project, Role::Analyst).await;
        let profile = member.client.get("/api/profile").await.is(200);
        let guest = fresh_email();
        let scene = json!({
            "scene": "meetings", "page": world.nobody.base(), "projectId": project, "account": account(&ada),
            "member": {"fullName": profile.text_of("fullName")}, "guest": guest,
        });
        browser.plays(scene).await;

        let listed = ada.client.get(format!("/api/projects/{project}/meetings?status=SCHEDULED")).await.is(200);
        let [meeting] = listed.data()["items"].as_array().unwrap().as_slice() else { panic!("{}", listed.text()) };
        assert_eq!((&meeting["title"], &meeting["description"]), (&json!("Discovery with the clinic"), &json!("How patients book now.")));
        let invited = format!("/api/meetings/{}/invitations", meeting["id"].as_str().unwrap());
        let invited = ada.client.get(invited).await.is(200);
        let statuses = invited.data()["items"].as_array().unwrap().iter();
        let mut statuses: Vec<_> = statuses.map(|one| (one["email"].as_str().unwrap(), one["status"].as_str().unwrap())).collect();
        statuses.sort_unstable();
        let mut expected = vec![(guest.as_str(), "REVOKED"), (member.email.as_str(), "PENDING")];
        expected.sort_unstable();
        assert_eq!(statuses, expected);
    }

    async fn a_recording_is_uploaded_heard_beside_its_transcript_and_corrected(setup: ServerSetup) {
        let Some(browser) = Browser::start() else { return };
        let folder = setup.data.join("models");
        let server = setup.start(&[
            ("COLLOQUY__SPEECH__ENGINE", "embedded"),
            ("COLLOQUY__SPEECH__MODELS", folder.to_str().unwrap()),
        ]);
        let room = TestMeeting::scheduled(&server, json!({})).await;
        room.ada.client.post(format!("{}/start", room.path)).await.is(200);
        room.ada.client.post(format!("{}/end", room.path)).await.is(200);
        let title = room.ada.client.get(&room.path).await.is(200).text_of("title");
        let id = room.path.trim_start_matches("/api/meetings/");
        let (story, models) = (Story::listen().await, transcripts::models());
        let install = async {
            let waits = story.called().await;
            if let Some(models) = &models {
                transcripts::put_model(models, &folder);
            }
            waits.answer().await;
        };
        let scene = json!({
            "scene": "heard", "page": format!("http://{}", server.public), "title": title, "account": account(&room.ada),
            "path": format!("/projects/{}/meetings/{id}", room.project), "file": SPEECH, "story": story.url(), "isMade": models.is_some(),
        });
        tokio::join!(browser.plays(scene), install);
        let recordings = room.ada.client.get(format!("{}/recordings", room.path)).await.is(200);
        assert_eq!(recordings.data()["items"], json!([]));
    }

    async fn a_transcript_is_attached_and_read_with_its_speakers(world: World) {
        let Some(browser) = Browser::start() else { return };
        let room = TestMeeting::open(world.server).await;
        room.ada.client.post(format!("{}/end", room.path)).await.is(200);
        let title = room.ada.client.get(&room.path).await.is(200).text_of("title");
        let id = room.path.trim_start_matches("/api/meetings/");
        let scene = json!({
            "scene": "attached", "page": world.nobody.base(), "title": title, "account": account(&room.ada),
            "path": format!("/projects/{}/meetings/{id}", room.project), "other": SPEECH,
            "speaker": "Priya Nandakumar", "words": "Somebody should really fix that machine.",
        });
        browser.plays(scene).await;
        let listed = room.ada.client.get(format!("{}/recordings", room.path)).await.is(200);
        let [recording] = listed.data()["items"].as_array().unwrap().as_slice() else { panic!("{}", listed.text()) };
        assert_eq!((&recording["mimeType"], &recording["transcriptStatus"]), (&json!("text/vtt"), &json!("READY")));
    }
}
