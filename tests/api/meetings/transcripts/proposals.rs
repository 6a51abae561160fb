//! Tests that what runs find and propose follows the consent of those whom it quotes.

use actors::ids::{self, Id};
use actors::time::{Clock, SystemClock};
use colloquy::analysis::items::model::WorkflowStatus;
use colloquy::analysis::items::store::change;
use colloquy::db::schema::run_findings;
use colloquy::db::{DbError, RunQueryDsl};
use diesel::QueryDsl;
use serde_json::{Value, json};

use super::MP3;
use super::analysis::until;
use crate::meetings::participants::TestMeeting;
use crate::meetings::recordings::Recorder;
use crate::support::speech_service::FakeSpeechService;
use crate::support::{Role, Server, ServerSetup};

impl TestMeeting {
    async fn proposals(&self) -> Vec<Value> {
        let listed = self.ada.client.get(format!("/api/projects/{}/proposals?limit=100", self.project)).await.is(200);
        listed.data()["items"].as_array().unwrap().clone()
    }

    /// Approves a requirement, as a person does.
    async fn approve(&self, server: &Server, requirement: &Value) {
        let id: Id<()> = requirement["id"].as_str().unwrap().parse().unwrap();
        let project: Id<ids::Project> = self.project.parse().unwrap();
        let db = server.db().await;
        let approved = db.write(move |conn| {
            Box::pin(async move {
                let item = change::find_to_change(conn, project, id).await?.unwrap();
                let now = SystemClock.now();
                change::update(conn, &item.judged(WorkflowStatus::Approved, now), None, now).await
            })
        });
        approved.await.unwrap();
    }
}

on_both! {
    async fn a_withdrawn_persons_words_leave_what_is_proposed(setup: ServerSetup) {
        let service = FakeSpeechService::start();
        let server = setup.start(&service.settings());
        let room = TestMeeting::open(&server).await;
        let wording = room.wording().await;
        let all = json!({"recordingConsent": true, "scopes": ["RECORDING", "TRANSCRIPT", "AI_ANALYSIS"], "wordingVersion": wording});
        let eve = room.member(&server, Role::Stakeholder).await;
        let (ada, id) = (room.joined(&room.ada).await, room.joined(&eve).await);
        room.consents(&room.ada, &ada, all.clone()).await.is(200);
        room.consents(&eve, &id, all.clone()).await.is(200);
        let recorded = async |track: &str, says: &str| {
            let body = json!({"uploadMode": "CHUNKED", "mimeType": "audio/mpeg", "trackParticipantId": track});
            let recorder = Recorder::of(&room, body).await;
            recorder.spanning(0, MP3, 0, 1).await.is(200);
            recorder.stop(json!({"lastChunkIndex": 0})).await.is(200);
            recorder.until_transcript("READY").await;
            // What the service hears are no words.
            let heard = recorder.transcript().await.is(200).data()["segments"].as_array().unwrap().len();
            for segment in 0..heard {
                let patch = format!("{}/transcript/segments/{segment}", recorder.path);
                let text = if segment == 0 { says } else { "Thank you." };
                room.ada.client.patch(patch).json(json!({"text": text})).await.is(200);
            }
            recorder
        };
        recorded(&ada, "The portal must let a customer cancel a booking.").await;
        let found = room.analysed().await;
        let cancel = found["requirements"].as_array().unwrap().iter().find(|one| one.to_string().contains("cancel a booking"));
        room.approve(&server, cancel.unwrap_or_else(|| panic!("{found}"))).await;

        let hers = recorded(&id, "The vault must open with my secret tulip phrase.").await;
        let found = room.analysed().await;
        let is_hers = |text: &Value| text.to_string().contains("tulip") || text.to_string().contains(&hers.id);
        assert!(is_hers(&found), "it is new: {found}");
        // She says it otherwise now: that is proposed.
        let segment = format!("{}/transcript/segments/0", hers.path);
        let text = "The vault must open with my secret tulip phrase of 9 words.";
        room.ada.client.patch(segment).json(json!({"text": text})).await.is(200);
        room.analysed().await;
        until(async || room.proposals().await.iter().any(is_hers).then_some(())).await;

        room.consents(&eve, &id, json!({"recordingConsent": false})).await.is(200);
        until(async || (!room.proposals().await.iter().any(is_hers)).then_some(())).await;
        let path = format!("/api/projects/{}/ai/results-dashboard", room.project);
        until(async || (!is_hers(room.ada.client.get(&path).await.is(200).data())).then_some(())).await;
        let db = server.db().await;
        let kept = db.read(|conn| {
            Box::pin(async move {
                let former = run_findings::table.select(run_findings::before_body);
                Ok::<Vec<Option<String>>, DbError>(former.load(conn).await?)
            })
        });
        let kept = kept.await.unwrap();
        assert!(!kept.iter().flatten().any(|body| body.contains("tulip") || body.contains(&hers.id)), "{kept:?}");
    }
}
