//! Tests consent while recording, imports, and content that is held back (S23).

use std::time::Instant;

use serde_json::json;

use super::{Recorder, start, sum, wav};
use crate::meetings::participants::TestMeeting;
use crate::support::{Role, World};

on_both! {
    async fn who_has_not_consented_is_named_and_pauses_what_runs(world: World) {
        let room = TestMeeting::open(world.server).await;
        let wording = room.wording().await;
        let grant = json!({"recordingConsent": true, "scopes": ["RECORDING"], "wordingVersion": wording});
        let ada = room.joined(&room.ada).await;
        let body = json!({"uploadMode": "CHUNKED", "mimeType": "audio/wav"});
        let refused = start(&room, body.clone()).await.refused(409, "ConsentRequired");
        assert_eq!(refused.faults()[0].0, format!("participants.{ada}"));
        room.consents(&room.ada, &ada, grant.clone()).await.is(200);
        let recorder = Recorder::of(&room, body).await;
        let whole = wav(2000);
        let began = Instant::now();
        recorder.spanning(0, &whole[..1000], 0, 1).await.is(200);

        let eve = room.member(world.server, Role::Stakeholder).await;
        let id = room.joined(&eve).await;
        let paused = recorder.status().await;
        assert_eq!((&paused["paused"], &paused["pausedFor"]), (&json!(true), &json!([id])));
        let now = u64::try_from(began.elapsed().as_millis()).unwrap() + 60_000;
        recorder.spanning(1, b"heard", 1, now).await.refused(409, "RecordingPaused");
        recorder.spanning(1, b"heard", now - 1, now).await.refused(409, "RecordingPaused");
        room.consents(&eve, &id, grant.clone()).await.is(200);
        let resumed = recorder.status().await;
        assert_eq!((&resumed["paused"], &resumed["pausedIntervals"].as_array().unwrap().len()), (&json!(false), &1));
        recorder.spanning(1, b"heard", 1, now).await.refused(409, "RecordingPaused");
        recorder.spanning(1, &whole[1000..], now - 1, now).await.is(200);

        // A withdrawal pauses at once.
        room.consents(&eve, &id, json!({"recordingConsent": false})).await.is(200);
        recorder.spanning(2, b"heard", now - 1, now).await.refused(409, "RecordingPaused");
        assert_eq!(recorder.status().await["paused"], true);
        recorder.stop(json!({"lastChunkIndex": 1})).await.is(200);
        let ready = recorder.until("READY").await;
        assert_eq!((&ready["paused"], ready["pausedIntervals"].as_array().unwrap().len()), (&json!(false), 2));
        recorder.content().await.refused(409, "ConsentWithdrawn");
        room.consents(&eve, &id, grant).await.is(200);
        assert_eq!(recorder.content().await.is(200).bytes, whole);
        // Also after the meeting.
        room.ada.client.post(format!("{}/end", room.path)).await.is(200);
        room.consents(&eve, &id, json!({"recordingConsent": false})).await.is(200);
        recorder.content().await.refused(409, "ConsentWithdrawn");
    }

    async fn a_pause_is_told_once_and_who_else_lacks_consent_by_updates(world: World) {
        let room = TestMeeting::open(world.server).await;
        let wording = room.wording().await;
        let grant = json!({"recordingConsent": true, "scopes": ["RECORDING"], "wordingVersion": wording});
        let ada = room.joined(&room.ada).await;
        room.consents(&room.ada, &ada, grant.clone()).await.is(200);
        let recorder = Recorder::of(&room, json!({"uploadMode": "CHUNKED", "mimeType": "audio/wav"})).await;
        let mut watching = room.listening(&room.ada).await;
        let mut late = Vec::new();
        for _ in 0..3 {
            let who = room.member(world.server, Role::Stakeholder).await;
            let id = room.joined(&who).await;
            late.push((who, id));
        }
        for (who, id) in &late {
            room.consents(who, id, grant.clone()).await.is(200);
        }
        let (mut told, mut folded) = (Vec::new(), json!(null));
        while told.last().is_none_or(|(event, _)| event != "recording.resumed") {
            let frame = watching.next().await;
            let event = frame["event"].as_str().unwrap();
            if event.starts_with("recording.") {
                folded = frame["data"].clone();
                told.push((event.to_owned(), folded["pausedFor"].as_array().unwrap().len()));
            }
        }
        let expected = [("paused", 1), ("updated", 2), ("updated", 3), ("updated", 2), ("updated", 1), ("resumed", 0)];
        assert_eq!(told, expected.map(|(verb, lacking)| (format!("recording.{verb}"), lacking)));
        assert_eq!(folded, recorder.status().await);
    }

    async fn the_end_of_a_meeting_stops_its_recordings_and_late_chunks_are_taken(world: World) {
        let room = TestMeeting::open(world.server).await;
        let recorder = Recorder::chunked(&room).await;
        room.ada.client.post(format!("{}/end", room.path)).await.is(200);
        assert_eq!(recorder.status().await["status"], "STOPPED");
        recorder.chunk(0, &wav(100)).await.is(200);
        recorder.stop(json!({"lastChunkIndex": 0})).await.is(200);
        recorder.until("READY").await;
    }

    async fn each_track_is_recorded_and_downloaded_by_itself(world: World) {
        let room = TestMeeting::of(world.server, json!({"consentPolicy": "NOTICE"})).await;
        let eve = room.member(world.server, Role::Stakeholder).await;
        let (ada, id) = (room.joined(&room.ada).await, room.joined(&eve).await);
        let of = |track: &str| json!({"uploadMode": "CHUNKED", "mimeType": "audio/wav", "trackParticipantId": track});
        let tracks = [Recorder::of(&room, of(&ada)).await, Recorder::of(&room, of(&id)).await];
        start(&room, of(&id)).await.refused(409, "Conflict");
        let meetings = format!("/api/projects/{}/meetings", room.project);
        for (track, bytes) in tracks.iter().zip([100, 200]).rev() {
            track.chunk(0, &wav(bytes)).await.is(200);
            track.stop(json!({"lastChunkIndex": 0})).await.is(200);
            assert_eq!(track.until("READY").await["mixed"], false);
            assert_eq!(track.content().await.is(200).bytes, wav(bytes));
            let listed = room.ada.client.get(&meetings).await.is(200);
            assert_eq!(listed.data()["items"][0]["recordingStatus"], "READY", "that of the newest, which was the first to stop");
        }
        // Only the track of who withdraws is held back; whoever joined may hear the others.
        room.consents(&eve, &id, json!({"recordingConsent": false})).await.is(200);
        tracks[1].content().await.refused(409, "ConsentWithdrawn");
        eve.client.get(format!("{}/content", tracks[0].path)).await.is(200);
    }

    async fn a_meeting_that_nobody_joined_takes_an_import_on_the_hosts_word(world: World) {
        let room = TestMeeting::open(world.server).await;
        room.ada.client.post(format!("{}/end", room.path)).await.is(200);
        let body = json!({"uploadMode": "SINGLE_FILE", "mimeType": "audio/wav"});
        let refused = start(&room, body.clone()).await.refused(422, "Required");
        assert_eq!(refused.faults()[0].0, "consentAttestation");
        let mut attested = body;
        attested["consentAttestation"] = json!({"text": "Everyone in the room agreed at the beginning."});
        let manager = room.member(world.server, Role::Manager).await;
        let path = format!("{}/recordings/start", room.path);
        manager.client.post(&path).json(attested.clone()).await.refused(403, "Forbidden");
        let recorder = Recorder::of(&room, attested).await;
        recorder.client.put(format!("{}/file", recorder.path)).body("audio/wav", wav(300)).await.is(200);
        recorder.stop(json!({})).await.is(200);
        recorder.until("READY").await;
        let record = room.ada.client.get(format!("{}/consents", room.path)).await.is(200);
        let item = &record.data()["items"][0];
        assert_eq!((&item["decision"], &item["text"]), (&json!("ATTESTED"), &json!("Everyone in the room agreed at the beginning.")));
        assert_eq!(item["textHash"], sum(b"Everyone in the room agreed at the beginning."));
    }
}
