//! Tests that nobody's words are in a transcript without their consent (S23).

use serde_json::json;

use super::{MP3, listening, models};
use crate::meetings::participants::TestMeeting;
use crate::meetings::recordings::Recorder;
use crate::support::{Role, ServerSetup};

on_both! {
    async fn words_are_held_back_from_a_transcript_without_the_scope(setup: ServerSetup) {
        let Some(models) = models() else { return };
        let server = listening(&setup, &models);
        let room = TestMeeting::open(&server).await;
        let wording = room.wording().await;
        let grant = |scopes: &[&str]| json!({"recordingConsent": true, "scopes": scopes, "wordingVersion": wording});
        let eve = room.member(&server, Role::Stakeholder).await;
        let (ada, id) = (room.joined(&room.ada).await, room.joined(&eve).await);
        room.consents(&room.ada, &ada, grant(&["RECORDING", "TRANSCRIPT"])).await.is(200);
        room.consents(&eve, &id, grant(&["RECORDING"])).await.is(200);
        let recorded = async |track: Option<&str>| {
            let body = json!({"uploadMode": "CHUNKED", "mimeType": "audio/mpeg", "trackParticipantId": track});
            let recorder = Recorder::of(&room, body).await;
            recorder.spanning(0, MP3, 0, 1).await.is(200);
            recorder.stop(json!({"lastChunkIndex": 0})).await.is(200);
            recorder.until("READY").await;
            recorder
        };
        // Together they are not told apart: nothing is transcribed.
        let mixed = recorded(None).await;
        assert_eq!(mixed.status().await["transcriptStatus"], "NONE");
        mixed.transcript().await.refused(409, "ConsentWithdrawn");
        mixed.transcribe_again(json!({})).await.refused(409, "ConsentWithdrawn");
        let (own, hers) = (recorded(Some(&ada)).await, recorded(Some(&id)).await);
        own.until_transcript("READY").await;
        let transcript = own.transcript().await.is(200).data().clone();
        assert_eq!(transcript["segments"][0]["speaker"]["participantId"], ada);
        assert_eq!(hers.status().await["transcriptStatus"], "NONE");
        hers.transcript().await.refused(409, "ConsentWithdrawn");

        // Granted later, it is made by whoever asks for it.
        room.consents(&eve, &id, grant(&["RECORDING", "TRANSCRIPT"])).await.is(200);
        mixed.transcribe_again(json!({})).await.is(202);
        mixed.until_transcript("READY").await;
        mixed.transcript().await.is(200);
        // Withdrawn, it is held back at once, and the transcript of the other stays.
        room.consents(&eve, &id, json!({"recordingConsent": false})).await.is(200);
        mixed.transcript().await.refused(409, "ConsentWithdrawn");
        mixed
            .client
            .patch(format!("{}/transcript/segments/0", mixed.path))
            .json(json!({"text": "x"}))
            .await
            .refused(409, "ConsentWithdrawn");
        own.transcript().await.is(200);
    }
}
