//! Tests uploadRecordingChunk, stopRecording, getRecordingStatus and downloadRecording.

use futures_util::future::join_all;
use serde_json::json;

use super::{Recorder, digest, start, sum, wav};
use crate::meetings::participants::TestMeeting;
use crate::support::{Role, ServerSetup, Socket, World, shape};

on_both! {
    async fn chunks_in_any_order_repeated_and_at_once_become_the_file(world: World) {
        let room = TestMeeting::open(world.server).await;
        let recorder = Recorder::chunked(&room).await;
        let whole = wav(48_000);
        let pieces: Vec<&[u8]> = whole.chunks(5000).collect();
        let last = pieces.len() - 1;
        // The last one first, then all others, each twice, at once.
        recorder.chunk(last, pieces[last]).await.is(200);
        let stopped = recorder.stop(json!({"lastChunkIndex": last})).await.is(200);
        assert_eq!(
            (stopped.data()["status"].as_str(), &stopped.data()["missingChunks"]),
            (Some("STOPPED"), &json!((0..last).collect::<Vec<_>>()))
        );
        let others = (0..last).rev().chain(0..last).map(|index| recorder.chunk(index, pieces[index]).tried());
        let answers = join_all(others).await;
        let fresh = answers.iter().filter(|answer| answer.as_ref().unwrap().data()["duplicate"] == false).count();
        assert!(answers.iter().all(|answer| answer.as_ref().unwrap().status == 200), "{answers:?}");
        assert_eq!(fresh, last, "each is stored once");

        let ready = recorder.until("READY").await;
        assert_eq!((ready["sha256"].as_str(), ready["sizeBytes"].as_u64()), (Some(sum(&whole).as_str()), Some(whole.len() as u64)));
        assert_eq!((&ready["durationSeconds"], &ready["mixed"], &ready["missingChunks"]), (&json!(3.0), &json!(true), &json!([])));
        shape::time(&ready["readyAt"]);
        let sent = recorder.content().await.is(200);
        assert_eq!(sent.bytes, whole);
        assert_eq!(sent.header("content-type"), Some("audio/wav"));
        assert!(sent.header("content-disposition").unwrap().starts_with("attachment"));
        // A chunk whose answer was lost is acknowledged again; nothing else can be added.
        assert_eq!(recorder.chunk(1, pieces[1]).await.is(200).data()["duplicate"], true);
        recorder.chunk(last + 1, b"more").await.refused(409, "InvalidState");
    }

    async fn a_range_is_sent_alone_and_a_known_content_not_at_all(world: World) {
        let room = TestMeeting::open(world.server).await;
        let recorder = Recorder::chunked(&room).await;
        let whole = wav(10_000);
        recorder.chunk(0, &whole).await.is(200);
        recorder.content().await.refused(409, "RecordingNotReady");
        recorder.stop(json!({"lastChunkIndex": 0})).await.is(200);
        let ready = recorder.until("READY").await;
        let path = format!("{}/content", recorder.path);
        let part = |range: &'static str| recorder.client.get(&path).header("range", range);
        for (range, bytes, said) in [
            ("bytes=0-99", &whole[..100], "bytes 0-99/10044"),
            ("bytes=10000-", &whole[10_000..], "bytes 10000-10043/10044"),
            ("bytes=-44", &whole[10_000..], "bytes 10000-10043/10044"),
        ] {
            let sent = part(range).await.is(206);
            assert_eq!((sent.bytes.as_slice(), sent.header("content-range")), (bytes, Some(said)));
        }
        let outside = part("bytes=20000-").await.refused(416, "RangeNotSatisfiable");
        assert_eq!(outside.header("content-range"), Some("bytes */10044"));
        let etag = format!("\"{}\"", ready["sha256"].as_str().unwrap());
        assert_eq!(part("bytes=0-9").header("if-range", &etag).await.is(206).bytes, &whole[..10]);
        assert_eq!(part("bytes=0-9").header("if-range", "\"other\"").await.is(200).bytes, whole);
        recorder.client.get(&path).header("if-none-match", &etag).await.is(304);
        // The status is polled with its own ETag.
        let status = recorder.client.get(&recorder.path).await.is(200).etag();
        recorder.client.get(&recorder.path).header("if-none-match", &status).await.is(304);
    }

    async fn what_is_no_chunk_of_this_recording_is_refused_and_nothing_of_it_kept(world: World) {
        let room = TestMeeting::open(world.server).await;
        let recorder = Recorder::chunked(&room).await;
        let whole = wav(1000);
        let corrupted = recorder.chunk(0, &whole[..999]).header("content-digest", digest(&whole));
        corrupted.await.refused(422, "DigestMismatch");
        recorder.chunk(0, &whole).header("content-digest", "sha-256=:AAAA:").await.refused(400, "BadRequest");
        recorder.chunk(0, b"\x1aE\xdf\xa3 webm, whatever was declared, and not a WAV file").await.refused(415, "UnsupportedMediaType");
        assert_eq!(recorder.status().await["chunkCount"], 0);
        recorder.chunk(0, &whole).header("content-digest", digest(&whole)).await.is(200);
        recorder.chunk(0, b"other bytes").await.refused(409, "Conflict");
        recorder.spanning(1, b"late", 9, 8).await.refused(422, "InvalidValue");
        recorder.spanning(1, b"late", 0, 7_200_000).await.refused(422, "InvalidValue");
        recorder.chunk(1, b"x").without("x-chunk-ended-ms").await.refused(422, "Required");
        let neither = recorder.chunk(1, b"x").without("x-chunk-ended-ms").without("x-chunk-started-ms");
        neither.await.refused(422, "Required");
        recorder.chunk(1, b"x").header("x-chunk-started-ms", "soon").await.refused(422, "InvalidValue");
        recorder.chunk(65_536, b"x").await.refused(422, "InvalidValue");
        recorder.client.put(format!("{}/chunks/one", recorder.path)).await.refused(400, "BadRequest");
        recorder.client.put(format!("{}/file", recorder.path)).body("audio/wav", "RIFF").await.refused(409, "InvalidState");
        recorder.stop(json!({"lastChunkIndex": 65_536})).await.refused(422, "InvalidValue");
        recorder.stop(json!({"durationSeconds": -1})).await.refused(422, "InvalidValue");
        let now = recorder.status().await;
        assert_eq!((&now["chunkCount"], &now["sizeBytes"], &now["status"]), (&json!(1), &json!(1044), &json!("ACTIVE")));
        // Tiny first chunks decide nothing; what was declared counts once it is assembled.
        let other = TestMeeting::open(world.server).await;
        let tiny = Recorder::chunked(&other).await;
        tiny.chunk(0, b"h").await.is(200);
        tiny.chunk(1, b"ello, this is no recording").await.is(200);
        tiny.chunk(2, b"").await.is(200);
        tiny.stop(json!({"lastChunkIndex": 2})).await.is(200);
        let failed = tiny.until("FAILED").await;
        assert_eq!(
            (failed["errorCode"].as_str(), failed["errorMessage"].as_str()),
            (Some("WrongType"), Some("The content is not audio/wav."))
        );
    }

    async fn a_recording_is_started_where_the_table_says_and_is_listed(world: World) {
        let room = TestMeeting::scheduled(world.server, json!({})).await;
        let body = json!({"uploadMode": "chunked", "mimeType": "audio/webm;codecs=opus"});
        start(&room, body.clone()).await.refused(409, "InvalidState");
        room.ada.client.post(format!("{}/start", room.path)).await.is(200);
        for (wrong, field) in [
            (json!({"uploadMode": "BOTH", "mimeType": "audio/webm"}), "uploadMode"),
            (json!({"uploadMode": "CHUNKED", "mimeType": "image/png"}), "mimeType"),
            (json!({"uploadMode": "CHUNKED"}), "mimeType"),
            (json!({"uploadMode": "CHUNKED", "mimeType": "audio/webm", "consentAttestation": {}}), "consentAttestation.text"),
            (json!({"uploadMode": "CHUNKED", "mimeType": "audio/webm", "trackParticipantId": room.project}), "trackParticipantId"),
        ] {
            let refused = start(&room, wrong).await.is(422);
            assert_eq!(refused.faults()[0].0, field, "{}", refused.text());
        }
        let started = room.ada.client.post(format!("{}/recordings/start", room.path)).json(body.clone());
        let started = started.key("one").await.is(201);
        let again = room.ada.client.post(format!("{}/recordings/start", room.path)).json(body.clone());
        assert_eq!(again.key("one").await.is(201).data(), started.data(), "a repeated request starts nothing");
        start(&room, body.clone()).await.refused(409, "Conflict");
        assert_eq!((&started.data()["mimeType"], &started.data()["transcriptStatus"]), (&json!("audio/webm"), &json!("NONE")));
        let listed = room.ada.client.get(format!("{}/recordings?status=active", room.path)).await.is(200);
        assert_eq!((&listed.data()["items"][0], &listed.data()["totalCount"]), (started.data(), &json!(1)));
        let none = room.ada.client.get(format!("{}/recordings?status=READY", room.path)).await.is(200);
        assert_eq!(none.data()["totalCount"], 0);
        let meetings = room.ada.client.get(format!("/api/projects/{}/meetings", room.project)).await.is(200);
        assert_eq!(meetings.data()["items"][0]["recordingStatus"], "ACTIVE");
        // Who may attend sees it; who only reads the project can't hear it.
        let stakeholder = room.member(world.server, Role::Stakeholder).await;
        let path = format!("/api/recordings/{}", started.text_of("id"));
        stakeholder.client.get(&path).await.is(200);
        stakeholder.client.get(format!("{path}/content")).await.refused(403, "Forbidden");
        stakeholder.client.post(format!("{path}/stop")).await.refused(403, "Forbidden");
    }

    async fn events_over_the_snapshot_are_what_the_status_says(world: World) {
        let room = TestMeeting::open(world.server).await;
        let mut socket = Socket::open(&room.ada.client).await;
        socket.subscribe(&room.topic()).await;
        let recorder = Recorder::chunked(&room).await;
        recorder.chunk(0, &wav(100)).await.is(200);
        recorder.stop(json!({"lastChunkIndex": 0})).await.is(200);
        let ready = recorder.until("READY").await;
        let mut seen = Vec::new();
        while seen.last().map(|(kind, _)| kind) != Some(&"recording.ready".to_owned()) {
            let event = socket.next().await;
            seen.push((event["event"].as_str().unwrap().to_owned(), event["data"].clone()));
        }
        let kinds: Vec<&str> = seen.iter().map(|(kind, _)| kind.as_str()).collect();
        assert_eq!(kinds, ["recording.started", "recording.chunk", "recording.stopped", "recording.ready"]);
        let statuses: Vec<&str> = seen.iter().map(|(_, data)| data["status"].as_str().unwrap()).collect();
        assert_eq!(statuses, ["ACTIVE", "ACTIVE", "FINALIZING", "READY"]);
        assert_eq!(seen.last().unwrap().1, ready);
        let mut later = Socket::open(&room.ada.client).await;
        let subscribed = later.subscribe(&room.topic()).await;
        assert_eq!(subscribed["snapshot"]["recordings"], json!([ready]));
        room.ada.client.delete(&recorder.path).await.is(200);
        let deleted = later.next().await;
        let meeting = room.path.rsplit('/').next().unwrap();
        assert_eq!((&deleted["event"], &deleted["data"]), (&json!("recording.deleted"), &json!({"id": recorder.id, "meetingId": meeting})));
        recorder.client.get(&recorder.path).await.refused(404, "NotFound");
    }

    async fn a_recording_grows_no_larger_than_it_may(setup: ServerSetup) {
        let limits = [
            ("COLLOQUY__RECORDINGS__BYTES", "3000"),
            ("COLLOQUY__RECORDINGS__CHUNK_BYTES", "2000"),
            ("COLLOQUY__RECORDINGS__PER_MEETING", "1"),
        ];
        let server = setup.start(&limits);
        let room = TestMeeting::open(&server).await;
        let recorder = Recorder::chunked(&room).await;
        recorder.chunk(0, &wav(1957)).await.refused(413, "PayloadTooLarge");
        recorder.chunk(0, &wav(1956)).await.is(200);
        recorder.chunk(1, &[0; 1001]).await.refused(413, "PayloadTooLarge");
        recorder.chunk(1, &[0; 1000]).await.is(200);
        recorder.stop(json!({"lastChunkIndex": 1})).await.is(200);
        assert_eq!(recorder.until("READY").await["sizeBytes"], 3000);
        start(&room, json!({"uploadMode": "CHUNKED", "mimeType": "audio/wav"})).await.refused(409, "Conflict");
    }
}
