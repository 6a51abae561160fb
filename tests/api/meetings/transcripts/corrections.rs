//! Tests corrections of transcripts: texts, speakers, several at once, and who may.

use futures_util::future::join_all;
use serde_json::{Value, json};

use super::{WEBM, imported, listening, models};
use crate::meetings::participants::TestMeeting;
use crate::support::client::Request;
use crate::support::{Role, ServerSetup, User};

on_both! {
    async fn analysts_correct_texts_and_speakers_and_what_was_heard_is_kept(setup: ServerSetup) {
        let Some(models) = models() else { return };
        let server = listening(&setup, &models);
        let room = TestMeeting::open(&server).await;
        let recorder = imported(&room, "audio/webm", WEBM.to_vec()).await;
        recorder.until_transcript("READY").await;
        let heard = recorder.transcript().await.is(200).data()["segments"].as_array().unwrap().clone();
        let segment = |index: usize| format!("{}/transcript/segments/{index}", recorder.path);
        let patch = |who: &User, index: usize, body: Value| -> Request { who.client.patch(segment(index)).json(body) };
        let ben = room.member(&server, Role::Analyst).await;

        let mut events = room.listening(&ben).await;
        let corrected = patch(&ben, 0, json!({"text": "The portal must let customers cancel."})).await.is(200);
        // Whoever listens is told to read it again.
        let told = loop {
            let event = events.next().await;
            if event["event"] == "transcript.changed" {
                break event["data"].clone();
            }
        };
        assert_eq!(told, json!({"recordingId": recorder.id, "meetingId": room.path.trim_start_matches("/api/meetings/")}));
        assert_eq!(corrected.data()["heardText"], heard[0]["text"]);
        assert_eq!(corrected.data()["correctedById"], ben.id);
        let again = patch(&room.ada, 0, json!({"text": "The portal lets customers cancel."})).await.is(200);
        assert_eq!((&again.data()["heardText"], &again.data()["correctedById"]), (&heard[0]["text"], &json!(room.ada.id)));

        // A speaker here, then everywhere that the same one was.
        let here = patch(&ben, 1, json!({"speaker": {"name": "Grace"}})).await.is(200);
        assert_eq!(here.data()["speaker"], json!({"participantId": null, "name": "Grace"}));
        let host = room.people().await[0]["id"].as_str().unwrap().to_owned();
        patch(&ben, 0, json!({"speaker": {"participantId": host, "everywhere": true}})).await.is(200);
        let now = recorder.transcript().await.is(200).data()["segments"].as_array().unwrap().clone();
        let speakers: Vec<&Value> = now.iter().map(|one| &one["speaker"]["participantId"]).collect();
        assert_eq!(speakers, [&json!(host), &Value::Null, &json!(host)]);
        assert_eq!((&now[1]["speaker"]["name"], &now[2]["text"]), (&json!("Grace"), &heard[2]["text"]));

        // Two speakers are one, once they are named alike; the name of nobody can be given back.
        patch(&ben, 1, json!({"speaker": {"participantId": host, "everywhere": true}})).await.is(200);
        patch(&ben, 2, json!({"speaker": {"name": "Speaker 1", "everywhere": true}})).await.is(200);
        let now = recorder.transcript().await.is(200).data()["segments"].as_array().unwrap().clone();
        assert!(now.iter().all(|one| one["speaker"] == json!({"participantId": null, "name": "Speaker 1"})), "{now:?}");
        assert!(now.iter().all(|one| one["correctedById"] == ben.id));

        for (body, field) in [
            (json!({"speaker": {"participantId": host, "name": "Grace"}}), "speaker"),
            (json!({"speaker": {}}), "speaker"),
            (json!({"speaker": {"participantId": room.ada.id}}), "speaker.participantId"),
            (json!({"text": "  "}), "text"),
        ] {
            assert_eq!(patch(&ben, 0, body).await.refused(422, "ValidationError").faults()[0].0, field);
        }
        patch(&ben, 0, json!({})).await.refused(422, "ValidationError");
        patch(&ben, 99, json!({"text": "x"})).await.refused(404, "NotFound");
        // For a version that is not shown it is another segment.
        patch(&ben, 0, json!({"text": "x", "version": 2})).await.refused(409, "Conflict");
        patch(&ben, 0, json!({"text": "x", "version": 1})).await.is(200);
        let body = json!({"text": "x", "version": 0});
        assert_eq!(patch(&ben, 0, body).await.refused(422, "ValidationError").faults()[0].0, "version");
        ben.client
            .patch(format!("{}/transcript/segments/first", recorder.path))
            .json(json!({"text": "x"}))
            .await
            .refused(400, "BadRequest");

        // Ten at once: each is whole, and the last one stays.
        let texts: Vec<String> = (0..10).map(|number| format!("Text {number}")).collect();
        let all = join_all(texts.iter().map(|text| patch(&ben, 2, json!({"text": text})).into_future())).await;
        assert!(all.iter().all(|one| one.status == 200 && one.data()["heardText"] == heard[2]["text"]));
        let now = recorder.transcript().await.is(200).data()["segments"][2].clone();
        assert!(texts.iter().any(|text| now["text"] == *text) && now["heardText"] == heard[2]["text"], "{now}");
    }

    async fn a_transcript_is_downloaded_in_each_format_and_version(setup: ServerSetup) {
        let Some(models) = models() else { return };
        let server = listening(&setup, &models);
        let room = TestMeeting::open(&server).await;
        let recorder = imported(&room, "audio/webm", WEBM.to_vec()).await;
        recorder.until_transcript("READY").await;
        let patch = format!("{}/transcript/segments/0", recorder.path);
        let body = json!({"text": "A & B\n\n00:00 --> 00:01", "speaker": {"name": "Grace <3"}});
        room.ada.client.patch(patch).json(body).await.is(200);
        let get = |query: &str| room.ada.client.get(format!("{}/transcript?{query}", recorder.path));

        let subtitles = get("format=vtt").await.is(200);
        assert_eq!(subtitles.header("content-type"), Some("text/vtt; charset=utf-8"));
        let name = format!("attachment; filename=\"transcript-{}-v1.vtt\"", recorder.id);
        assert_eq!(subtitles.header("content-disposition"), Some(name.as_str()));
        let text = subtitles.text();
        assert!(text.starts_with("WEBVTT\n\n00:00:0"), "{text}");
        assert!(text.contains("<v Grace &lt;3>A &amp; B 00:00 --&gt; 00:01\n\n"), "{text}");
        // Another transcript reads them: as many cues as segments.
        let count = recorder.transcript().await.is(200).data()["segments"].as_array().unwrap().len();
        assert_eq!(text.matches("\n\n00:").count(), count);
        let srt = get("format=SRT&version=1").await.is(200).text();
        assert!(srt.starts_with("1\n00:00:0") && srt.contains("Grace <3: A & B 00:00 --> 00:01\n\n2\n"), "{srt}");
        let plain = get("format=TEXT").await.is(200);
        assert_eq!(plain.header("content-type"), Some("text/plain; charset=utf-8"));
        assert!(plain.text().starts_with("[00:00:0") && plain.text().lines().count() == count);
        assert_eq!(get("format=JSON&version=1").await.is(200).data()["version"], 1);
        get("version=2").await.refused(404, "NotFound");
        assert_eq!(get("format=PDF").await.refused(422, "ValidationError").faults()[0].0, "format");
        assert_eq!(get("version=0").await.refused(422, "ValidationError").faults()[0].0, "version");
    }
}
