//! Tests transcripts of other programs that are attached to a meeting: VTT and SRT, as recordings without sound.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::meetings::participants::TestMeeting;
use crate::meetings::recordings::Recorder;
use crate::meetings::recordings::ends::{stored, until_gone};
use crate::support::client::Request;
use crate::support::{Role, ServerSetup, User, World};

const VTT: &str = "WEBVTT\n\nNOTE made elsewhere\n\n1\n00:00:01.000 --> 00:00:04.500\n\
    <v Ada Lovelace>The gate shall close within four seconds.</v>\n\n\
    2\n00:00:05.000 --> 00:00:08.000\n<v Ben Oak>The operator must confirm each opening &amp; closing.</v>\n\n\
    3\n00:00:09.000 --> 00:00:12.250\n<v Ada Lovelace>The log shall keep every opening for one year.</v>\n";
const SRT: &str = "1\r\n00:00:01,000 --> 00:00:04,000\r\nAda: The siren shall sound within two seconds.\r\n\r\n\
    2\r\n00:00:05,500 --> 00:00:08,000\r\nBen: The guard must acknowledge each alarm.\r\n\r\n\
    3\r\n00:00:09,000 --> 00:00:12,000\r\nAda: Agreed.\r\n";

/// A part of a form: its name, the file's name if it is one, and the content.
type Part<'a> = (&'a str, Option<&'a str>, &'a [u8]);

const WORD: Part<'static> = ("consentAttestation", None, b"Everyone who speaks agreed.");

impl TestMeeting {
    fn attach(&self, who: &User, parts: &[Part<'_>]) -> Request {
        who.client.post_form(&format!("{}/transcripts", self.path), parts)
    }

    /// Attaches a file to a meeting that nobody joined, and waits until it is read.
    async fn attached(&self, name: &str, content: &[u8]) -> Recorder {
        let made = self.attach(&self.ada, &[("file", Some(name), content), WORD]).await.is(201);
        let id = made.text_of("id");
        let recorder = Recorder { client: self.ada.client.clone(), path: format!("/api/recordings/{id}"), id };
        recorder.until_transcript("READY").await;
        recorder
    }
}

/// When, who and what, of each segment.
fn said(transcript: &Value) -> Vec<(u64, u64, &str, &str)> {
    let mut said = Vec::new();
    for one in transcript["segments"].as_array().unwrap() {
        let ms = |name: &str| one[name].as_u64().unwrap();
        let (speaker, text) = (one["speaker"]["name"].as_str().unwrap(), one["text"].as_str().unwrap());
        said.push((ms("startMs"), ms("endMs"), speaker, text));
    }
    said
}

on_both! {
    async fn a_transcript_is_shown_with_speakers_and_times_and_corrected(world: World) {
        let room = TestMeeting::open(world.server).await;
        let mut watching = room.listening(&room.ada).await;
        let made = room.attach(&room.ada, &[("file", Some("teams.vtt"), VTT.as_bytes()), WORD]).await.is(201);
        let recording = made.data().clone();
        assert_eq!((&recording["status"], &recording["uploadMode"]), (&json!("READY"), &json!("SINGLE_FILE")));
        assert_eq!(recording["mimeType"], "text/vtt");
        assert_eq!((&recording["durationSeconds"], &recording["sizeBytes"]), (&json!(12.25), &json!(VTT.len())));
        let id = made.text_of("id");
        let mut told = Vec::new();
        while told.last().is_none_or(|(_, status)| status != "READY") {
            let frame = watching.next().await;
            let event = frame["event"].as_str().unwrap();
            if event.starts_with("recording.") {
                assert_eq!(frame["data"]["id"], json!(id));
                told.push((event.to_owned(), frame["data"]["transcriptStatus"].as_str().unwrap().to_owned()));
            }
        }
        let expected = [("recording.ready", "QUEUED"), ("recording.transcript", "READY")];
        assert_eq!(told.iter().map(|(event, status)| (event.as_str(), status.as_str())).collect::<Vec<_>>(), expected);

        let recorder = Recorder { client: room.ada.client.clone(), path: format!("/api/recordings/{id}"), id: id.clone() };
        let transcript = recorder.transcript().await.is(200).data().clone();
        assert_eq!(said(&transcript), [
            (1_000, 4_500, "Ada Lovelace", "The gate shall close within four seconds."),
            (5_000, 8_000, "Ben Oak", "The operator must confirm each opening & closing."),
            (9_000, 12_250, "Ada Lovelace", "The log shall keep every opening for one year."),
        ]);
        assert_eq!((&transcript["engine"], &transcript["model"], &transcript["version"]), (&json!("attached"), &json!("vtt"), &json!(1)));
        assert_eq!(transcript["hasSound"], false);
        let versions = recorder.versions().await;
        assert_eq!((versions.len(), &versions[0]["isCurrent"]), (1, &json!(true)));
        let listed = room.ada.client.get(format!("{}/recordings", room.path)).await.is(200);
        assert_eq!((&listed.data()["items"][0]["id"], &listed.data()["totalCount"]), (&json!(id), &json!(1)));

        let patch = format!("{}/transcript/segments/1", recorder.path);
        let correction = json!({"speaker": {"name": "Grace"}, "text": "The operator must confirm each opening."});
        room.ada.client.patch(patch).json(correction).await.is(200);
        let vtt = room.ada.client.get(format!("{}/transcript?format=VTT", recorder.path)).await.is(200);
        assert!(vtt.text().contains("00:00:05.000 --> 00:00:08.000\n<v Grace>The operator must confirm each opening."), "{}", vtt.text());

        // What was given is given back; there is nothing to hear or to transcribe.
        let file = recorder.content().await.is(200);
        assert_eq!((file.bytes.as_slice(), file.header("content-type")), (VTT.as_bytes(), Some("text/vtt")));
        let sentence = recorder.client.post(format!("{}/transcripts", recorder.path)).json(json!({})).await.refused(409, "InvalidState");
        assert!(sentence.text().contains("no sound"), "{}", sentence.text());
        recorder.client.post(format!("{}/playback-links", recorder.path)).await.refused(409, "InvalidState");
        recorder.client.get(format!("{}/content?startMs=0&endMs=1000", recorder.path)).await.refused(409, "InvalidState");
    }

    async fn an_analysis_quotes_who_said_it_and_when_and_search_finds_it(world: World) {
        let room = TestMeeting::open(world.server).await;
        room.ada.client.post(format!("{}/end", room.path)).await.is(200);
        let recorder = room.attached("captions.srt", SRT.as_bytes()).await;
        let dashboard = room.analysed().await;
        let requirements = dashboard["requirements"].as_array().unwrap();
        let quotes = requirements.iter().flat_map(|one| one["sources"].as_array().unwrap());
        let mut quotes: Vec<Value> = quotes.cloned().collect();
        quotes.sort_by_key(|quote| quote["startMs"].as_u64());
        let of = |quote: &Value| (quote["startMs"].as_u64().unwrap(), quote["endMs"].as_u64().unwrap());
        assert_eq!(quotes.iter().map(of).collect::<Vec<_>>(), [(1_000, 4_000), (5_500, 8_000)], "{dashboard}");
        assert_eq!((&quotes[0]["speaker"], &quotes[1]["speaker"]), (&json!("Ada"), &json!("Ben")));
        for quote in &quotes {
            assert_eq!((&quote["kind"], &quote["recordingId"]), (&json!("RECORDING"), &json!(recorder.id)));
        }
        assert_eq!(quotes[1]["quote"], "The guard must acknowledge each alarm.");

        let began = Instant::now();
        let hit = loop {
            let found = room.ada.client.get(format!("/api/projects/{}/search?q=siren&kinds=TRANSCRIPT", room.project)).await.is(200);
            match found.data()["items"].as_array().unwrap().first() {
                Some(hit) => break hit.clone(),
                None => tokio::time::sleep(Duration::from_millis(50)).await,
            }
            assert!(began.elapsed() < Duration::from_secs(60), "it is not found");
        };
        assert_eq!((&hit["id"], &hit["startMs"]), (&json!(recorder.id), &json!(1_000)));
    }

    async fn only_a_host_attaches_and_only_a_transcript(world: World) {
        let room = TestMeeting::open(world.server).await;
        let file = |name: &'static str, content: &'static [u8]| ("file", Some(name), content);
        let vtt = || file("a.vtt", VTT.as_bytes());
        let analyst = room.member(world.server, Role::Analyst).await;
        room.attach(&analyst, &[vtt(), WORD]).await.refused(403, "Forbidden");
        let stranger = world.server.user().await;
        room.attach(&stranger, &[vtt(), WORD]).await.refused(403, "Forbidden");
        // A manager may, but can't declare what only the host of the meeting can.
        let manager = room.member(world.server, Role::Manager).await;
        room.attach(&manager, &[vtt(), WORD]).await.refused(403, "Forbidden");
        let missing = room.path.replace(&room.path[room.path.len() - 4..], "0000");
        room.ada.client.post_form(&format!("{missing}/transcripts"), &[vtt(), WORD]).await.refused(404, "MeetingNotFound");

        for other in [file("notes.txt", b"The gate shall close."), file("a.pdf", b"%PDF-1.7 no transcript"), file("a.vtt", b"no header")] {
            room.attach(&room.ada, &[other, WORD]).await.refused(415, "UnsupportedMediaType");
        }
        let large = [b"WEBVTT\n\n".to_vec(), vec![b'x'; 5 * 1024 * 1024]].concat();
        room.attach(&room.ada, &[("file", Some("a.vtt"), &large), WORD]).await.refused(413, "PayloadTooLarge");
        let fault = async |parts: &[Part<'_>], field: &str, reason: &str| {
            let refused = room.attach(&room.ada, parts).await.refused(422, "ValidationError");
            assert_eq!(refused.faults(), [(field.to_owned(), reason.to_owned())]);
        };
        fault(&[WORD], "file", "Required").await;
        fault(&[file("a.vtt", b""), WORD], "file", "InvalidValue").await;
        fault(&[file("a.vtt", b"WEBVTT\n\nNOTE nothing\n"), WORD], "file", "InvalidValue").await;
        fault(&[file("a.vtt", b"WEBVTT\n\n\xff\xfe --> broken \x80\n"), WORD], "file", "InvalidValue").await;
        fault(&[vtt()], "consentAttestation", "Required").await;
        fault(&[vtt(), WORD, ("language", None, b"EN")], "language", "UnknownKey").await;
        fault(&[vtt(), WORD, ("recordingId", None, b"x")], "recordingId", "InvalidValue").await;
        let listed = room.ada.client.get(format!("{}/recordings", room.path)).await.is(200);
        assert_eq!(listed.data()["totalCount"], 0);
        // In UTF-16 with a mark, as some programs write it.
        let wide: Vec<u8> = std::iter::once(0xfeff).chain(SRT.encode_utf16()).flat_map(u16::to_le_bytes).collect();
        let recorder = room.attached("wide.srt", &wide).await;
        assert_eq!(said(recorder.transcript().await.is(200).data())[0], (1_000, 4_000, "Ada", "The siren shall sound within two seconds."));
    }

    async fn the_meeting_has_begun_its_project_is_active_and_everyone_agreed(world: World) {
        let parts = [("file", Some("a.vtt"), VTT.as_bytes()), WORD];
        let scheduled = TestMeeting::scheduled(world.server, json!({})).await;
        scheduled.attach(&scheduled.ada, &parts).await.refused(409, "InvalidState");
        scheduled.ada.client.post(format!("{}/cancel", scheduled.path)).await.is(200);
        scheduled.attach(&scheduled.ada, &parts).await.refused(409, "InvalidState");

        let room = TestMeeting::open(world.server).await;
        let wording = room.wording().await;
        let grant = |scopes: &[&str]| json!({"recordingConsent": true, "scopes": scopes, "wordingVersion": wording});
        let ada = room.joined(&room.ada).await;
        room.consents(&room.ada, &ada, grant(&["RECORDING"])).await.is(200);
        let refused = room.attach(&room.ada, &parts).await.refused(409, "ConsentRequired");
        assert_eq!(refused.faults()[0].0, format!("participants.{ada}"));
        room.consents(&room.ada, &ada, grant(&["RECORDING", "TRANSCRIPT"])).await.is(200);
        let recorder = room.attached("a.vtt", VTT.as_bytes()).await;
        recorder.transcript().await.is(200);
        room.ada.client.post(room.runs()).json(room.run_over_it()).await.refused(409, "ConsentWithdrawn");
        room.consents(&room.ada, &ada, grant(&["RECORDING", "TRANSCRIPT", "AI_ANALYSIS"])).await.is(200);
        assert!(!room.analysed().await["requirements"].as_array().unwrap().is_empty());
        room.consents(&room.ada, &ada, json!({"recordingConsent": false})).await.is(200);
        recorder.transcript().await.refused(409, "ConsentWithdrawn");
        recorder.content().await.refused(409, "ConsentWithdrawn");

        room.ada.client.patch(format!("/api/projects/{}", room.project)).json(json!({"status": "ARCHIVED"})).await.is(200);
        room.attach(&room.ada, &parts).await.refused(409, "ProjectArchived");
    }

    async fn a_name_that_a_participant_has_is_that_participant(world: World) {
        let room = TestMeeting::open(world.server).await;
        let wording = room.wording().await;
        let who = room.join(&room.ada).await.is(200).data().clone();
        let (id, name) = (who["id"].as_str().unwrap(), who["displayName"].as_str().unwrap());
        let grant = json!({"recordingConsent": true, "scopes": ["RECORDING", "TRANSCRIPT"], "wordingVersion": wording});
        room.consents(&room.ada, id, grant).await.is(200);
        let file = VTT.replace("Ada Lovelace", name);
        let transcript = room.attached("a.vtt", file.as_bytes()).await.transcript().await.is(200).data().clone();
        let speaker = |at: usize| transcript["segments"][at]["speaker"].clone();
        assert_eq!(speaker(0), json!({"participantId": id, "name": name}));
        assert_eq!(speaker(1), json!({"participantId": null, "name": "Ben Oak"}));
    }

    async fn the_same_key_attaches_once(world: World) {
        let room = TestMeeting::open(world.server).await;
        let attach = |content: &'static str| room.attach(&room.ada, &[("file", Some("a.vtt"), content.as_bytes()), WORD]).key("once");
        let first = attach(VTT).await.is(201).data().clone();
        assert_eq!(attach(VTT).await.is(201).data()["id"], first["id"]);
        attach("WEBVTT\n\n00:01.000 --> 00:02.000\nAnother.\n").await.refused(422, "IdempotencyKeyReused");
        let listed = room.ada.client.get(format!("{}/recordings", room.path)).await.is(200);
        assert_eq!(listed.data()["totalCount"], 1);
    }

    async fn a_recording_gets_it_as_its_newest_version(world: World) {
        let room = TestMeeting::open(world.server).await;
        let recorder = room.attached("first.vtt", VTT.as_bytes()).await;
        let again = |id: &str, content: &str| {
            let parts = [("file", Some("second.srt"), content.as_bytes()), ("recordingId", None, id.as_bytes())];
            room.attach(&room.ada, &parts)
        };
        let of_another = TestMeeting::open(world.server).await.attached("a.vtt", VTT.as_bytes()).await;
        let refused = again(&of_another.id, SRT).await.refused(422, "ValidationError");
        assert_eq!(refused.faults(), [("recordingId".to_owned(), "InvalidValue".to_owned())]);
        assert_eq!(again(&recorder.id, SRT).await.is(201).text_of("id"), recorder.id);
        let transcript = recorder.transcript().await.is(200).data().clone();
        assert_eq!((&transcript["version"], &transcript["model"]), (&json!(2), &json!("srt")));
        assert_eq!(said(&transcript)[1], (5_500, 8_000, "Ben", "The guard must acknowledge each alarm."));
        let former = room.ada.client.get(format!("{}/transcript?version=1", recorder.path)).await.is(200);
        assert_eq!(said(former.data())[1].2, "Ben Oak");
        let used = async || {
            let project = room.ada.client.get(format!("/api/projects/{}", room.project)).await.is(200);
            usize::try_from(project.data()["storage"]["usedBytes"].as_u64().unwrap()).unwrap()
        };
        assert_eq!(used().await, VTT.len() + SRT.len());
        for _ in 3..=10 {
            again(&recorder.id, SRT).await.is(201);
        }
        assert_eq!(used().await, VTT.len() + 9 * SRT.len());
        again(&recorder.id, SRT).await.refused(409, "Conflict");
        let listed = room.ada.client.get(format!("{}/recordings", room.path)).await.is(200);
        assert_eq!(listed.data()["totalCount"], 1);
    }

    async fn it_goes_with_its_recording_and_a_kill_loses_nothing(setup: ServerSetup) {
        let server = setup.start(&[]);
        let room = TestMeeting::open(&server).await;
        let recorder = room.attached("a.vtt", VTT.as_bytes()).await;
        let made = room.attach(&room.ada, &[("file", Some("b.srt"), SRT.as_bytes()), WORD]).await.is(201).text_of("id");
        // Whether it was read by then or not.
        server.kill();
        let server = setup.start(&[]);
        let client = room.ada.client.moved_to(&server);
        let second = Recorder { client: client.clone(), path: format!("/api/recordings/{made}"), id: made };
        second.until_transcript("READY").await;
        assert_eq!(said(second.transcript().await.is(200).data()).len(), 3);
        assert_eq!(second.versions().await.len(), 1);

        let recorder = recorder.at(&server);
        client.delete(&recorder.path).await.is(200);
        recorder.transcript().await.refused(404, "NotFound");
        until_gone(&server, &recorder.id).await;
        assert!(stored(&server).iter().any(|path| path.contains(&second.id)));
        client.delete(format!("/api/projects/{}", room.project)).await.refused(409, "InvalidState");
        client.post(format!("{}/end", room.path)).await.is(200);
        client.delete(format!("/api/projects/{}", room.project)).await.is(200);
        until_gone(&server, &second.id).await;
    }
}
