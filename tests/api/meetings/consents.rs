//! Tests saveRecordingConsent and exportConsentRecord.

use futures_util::future::join_all;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::participants::TestMeeting;
use crate::support::{Role, ServerSetup, World, shape};

/// Returns the SHA-256 of a text in lower-case hexadecimal.
fn sha256(text: &str) -> String {
    Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns a body that grants consent in all scopes.
fn grant(version: &str) -> Value {
    json!({"recordingConsent": true, "scopes": ["RECORDING", "TRANSCRIPT", "AI_ANALYSIS"], "wordingVersion": version})
}

/// Verifies the hash chain of an exported consent record from its own contents and returns its items. Panics when the
/// chain is broken.
fn proven(record: &Value) -> Vec<Value> {
    let mut previous = "0".repeat(64);
    let items = record["items"].as_array().unwrap().clone();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    for (item, number) in items.iter().zip(1..) {
        assert_eq!((&item["number"], &item["previousHash"]), (&json!(number), &json!(previous)));
        let scopes: Vec<String> = item["scopes"].as_array().unwrap().iter().map(text).collect();
        let lines = [
            "colloquy-consent-1".to_owned(),
            previous,
            text(&record["meetingId"]),
            number.to_string(),
            text(&item["participant"]["id"]),
            text(&item["decision"]),
            scopes.join(","),
            text(&item["wordingVersion"]),
            text(&item["language"]),
            text(&item["textHash"]),
            text(&item["at"]),
            text(&item["userAgentHash"]),
        ];
        previous = sha256(&lines.map(|line| line + "\n").concat());
        assert_eq!(item["hash"], previous);
    }
    assert_eq!(record["hash"], previous);
    items
}

on_both! {
    async fn a_consent_is_granted_withdrawn_and_granted_again_and_the_record_proves_it(world: World) {
        let room = TestMeeting::open(world.server).await;
        let eve = room.member(world.server, Role::Stakeholder).await;
        let id = room.joined(&eve).await;
        let details = eve.client.get(&room.path).await.is(200);
        let wording = &details.data()["consentWording"];
        let version = wording["version"].as_str().unwrap();
        assert_eq!(wording["textHash"], sha256(wording["text"].as_str().unwrap()));
        let granted = room.consents(&eve, &id, grant(version)).await.is(200);
        shape::time(&granted.data()["consent"]["consentedAt"]);
        let expected = json!({
            "recordingConsent": true, "scopes": ["RECORDING", "TRANSCRIPT", "AI_ANALYSIS"], "wordingVersion": version,
            "consentedAt": granted.data()["consent"]["consentedAt"],
        });
        assert_eq!(granted.data()["consent"], expected);
        assert_eq!(room.consents(&eve, &id, grant(version)).await.is(200).data(), granted.data(), "again is nothing new");
        let withdrawn = room.consents(&eve, &id, json!({"recordingConsent": false})).await.is(200);
        assert_eq!(withdrawn.data()["consent"]["recordingConsent"], false);
        assert_eq!(withdrawn.data()["consent"]["scopes"], json!([]));
        let narrow = json!({"recordingConsent": true, "scopes": ["recording"], "wordingVersion": version});
        room.consents(&eve, &id, narrow).await.is(200);
        let record = room.ada.client.get(format!("{}/consents", room.path)).await.is(200);
        let items = proven(record.data());
        let said: Vec<_> = items.iter().map(|item| (item["decision"].as_str().unwrap(), item["scopes"].clone())).collect();
        let expected = [
            ("GRANTED", json!(["RECORDING", "TRANSCRIPT", "AI_ANALYSIS"])),
            ("WITHDRAWN", json!([])),
            ("GRANTED", json!(["RECORDING"])),
        ];
        assert_eq!(said, expected);
        let who = json!({"id": id, "userId": eve.id, "displayName": "Ada Lovelace", "email": eve.email});
        assert!(items.iter().all(|item| item["participant"] == who && item["textHash"] == wording["textHash"]));
    }

    async fn the_consent_wording_is_in_the_requested_language(world: World) {
        let room = TestMeeting::open(world.server).await;
        let id = room.joined(&room.ada).await;
        let details = room.ada.client.get(&room.path).header("accept-language", "ar-EG,en;q=0.5").await.is(200);
        let wording = details.data()["consentWording"].clone();
        assert_eq!(wording["language"], "ar");
        room.consents(&room.ada, &id, grant(wording["version"].as_str().unwrap())).await.is(200);
        let record = room.ada.client.get(format!("{}/consents", room.path)).await.is(200);
        let items = proven(record.data());
        assert_eq!((&items[0]["language"], &items[0]["textHash"]), (&json!("ar"), &wording["textHash"]));
    }

    async fn nobody_consents_for_another_whoever_they_are(world: World) {
        let room = TestMeeting::open(world.server).await;
        let eve = room.member(world.server, Role::Analyst).await;
        let (eves, adas) = (room.joined(&eve).await, room.joined(&room.ada).await);
        let body = grant(&room.wording().await);
        room.consents(&room.ada, &eves, body.clone()).await.refused(403, "Forbidden");
        room.consents(&eve, &adas, body.clone()).await.refused(403, "Forbidden");
        let nowhere = "0189a0f0-0000-7000-8000-000000000000";
        room.consents(&eve, nowhere, body.clone()).await.refused(404, "NotFound");
        let waiting = room.member(world.server, Role::Manager).await;
        room.consents(&waiting, &eves, body).await.refused(403, "Forbidden");
        eve.client.get(format!("{}/consents", room.path)).await.refused(403, "Forbidden");
        let record = room.ada.client.get(format!("{}/consents", room.path)).await.is(200);
        assert!(proven(record.data()).is_empty());
    }

    async fn a_consent_must_name_the_current_wording_and_valid_scopes(world: World) {
        let room = TestMeeting::open(world.server).await;
        let id = room.joined(&room.ada).await;
        room.consents(&room.ada, &id, grant("2020-01.en")).await.refused(409, "WordingChanged");
        let version = room.wording().await;
        for (body, field, code) in [
            (json!({}), "recordingConsent", "Required"),
            (json!({"recordingConsent": "yes"}), "recordingConsent", "InvalidValue"),
            (json!({"recordingConsent": true, "scopes": ["RECORDING"]}), "wordingVersion", "Required"),
            (json!({"recordingConsent": true, "wordingVersion": version}), "scopes", "Required"),
            (json!({"recordingConsent": true, "wordingVersion": version, "scopes": ["TRANSCRIPT"]}), "scopes", "InvalidValue"),
            (json!({"recordingConsent": true, "wordingVersion": version, "scopes": ["FACE"]}), "scopes", "InvalidValue"),
        ] {
            let refused = room.consents(&room.ada, &id, body.clone()).await.refused(422, code);
            assert!(refused.faults().contains(&(field.to_owned(), code.to_owned())), "{body}: {}", refused.text());
        }
        assert_eq!(room.person(&id).await["consent"]["recordingConsent"], Value::Null);
    }

    async fn a_consent_is_granted_only_while_live_and_withdrawn_at_any_time_after(world: World) {
        let room = TestMeeting::scheduled(world.server, json!({})).await;
        let id = room.joined(&room.ada).await;
        let body = grant(&room.wording().await);
        room.consents(&room.ada, &id, body.clone()).await.refused(409, "InvalidState");
        room.ada.client.post(format!("{}/start", room.path)).await.is(200);
        room.consents(&room.ada, &id, body.clone()).await.is(200);
        let (eve, bob) = (room.member(world.server, Role::Analyst).await, room.member(world.server, Role::Analyst).await);
        let (eves, bobs) = (room.joined(&eve).await, room.joined(&bob).await);
        room.consents(&eve, &eves, body.clone()).await.is(200);
        room.consents(&bob, &bobs, body.clone()).await.is(200);
        room.leave(&eve).await.is(200);
        room.ada.client.delete(format!("{}/participants/{bobs}", room.path)).await.is(200);
        let no = json!({"recordingConsent": false});
        room.consents(&eve, &eves, no.clone()).await.is(200);
        let withdrawn = room.consents(&bob, &bobs, no.clone()).await.is(200);
        assert_eq!((&withdrawn.data()["status"], &withdrawn.data()["consent"]["recordingConsent"]), (&json!("REMOVED"), &json!(false)));
        room.ada.client.post(format!("{}/end", room.path)).await.is(200);
        room.consents(&room.ada, &id, no).await.is(200);
        let record = room.ada.client.get(format!("{}/consents", room.path)).await.is(200);
        assert_eq!(proven(record.data()).len(), 6);
    }

    async fn concurrent_consents_are_all_recorded_in_one_hash_chain(world: World) {
        let room = TestMeeting::open(world.server).await;
        let version = room.wording().await;
        let mut people = Vec::new();
        for _ in 0..12 {
            let who = room.member(world.server, Role::Stakeholder).await;
            let id = room.joined(&who).await;
            people.push((who, id));
        }
        let answers = people.iter().map(|(who, id)| {
            let (room, version) = (&room, &version);
            async move {
                room.consents(who, id, grant(version)).await.is(200);
                room.consents(who, id, json!({"recordingConsent": false})).await.is(200);
            }
        });
        join_all(answers).await;
        let record = room.ada.client.get(format!("{}/consents", room.path)).await.is(200);
        assert_eq!(proven(record.data()).len(), 24);
    }

    async fn a_consent_record_that_was_edited_in_the_database_is_not_exported(world: World) {
        let room = TestMeeting::open(world.server).await;
        let id = room.joined(&room.ada).await;
        room.consents(&room.ada, &id, grant(&room.wording().await)).await.is(200);
        world.server.tamper_with_consents(room.path.rsplit('/').next().unwrap()).await;
        room.ada.client.get(format!("{}/consents", room.path)).await.refused(500, "InternalServerError");
    }

    async fn an_operators_own_consent_wordings_replace_the_built_in_ones(setup: ServerSetup) {
        let folder = setup.data.join("wordings");
        std::fs::create_dir(&folder).unwrap();
        for (name, text) in [("1.en.txt", "Old words."), ("2.en.txt", "New words."), ("2.de.txt", "Neue Worte.")] {
            std::fs::write(folder.join(name), text).unwrap();
        }
        let server = setup.start(&[("COLLOQUY__MEETINGS__WORDINGS", folder.to_str().unwrap())]);
        let room = TestMeeting::open(&server).await;
        let id = room.joined(&room.ada).await;
        let details = room.ada.client.get(&room.path).header("accept-language", "de").await.is(200);
        assert_eq!(details.data()["consentWording"]["text"], "Neue Worte.");
        room.consents(&room.ada, &id, grant("1.en")).await.refused(409, "WordingChanged");
        room.consents(&room.ada, &id, grant("2.de")).await.is(200);
        drop(server);
        // A new wording takes effect with a restart. Earlier consents keep the wording they were given to.
        std::fs::write(folder.join("3.en.txt"), "Newest words.").unwrap();
        let server = setup.start(&[("COLLOQUY__MEETINGS__WORDINGS", folder.to_str().unwrap())]);
        let room = TestMeeting { ada: room.ada.at(&server), ..room };
        room.consents(&room.ada, &id, grant("2.de")).await.refused(409, "WordingChanged");
        assert_eq!(room.person(&id).await["consent"]["wordingVersion"], "2.de");
        let record = room.ada.client.get(format!("{}/consents", room.path)).await.is(200);
        assert_eq!(proven(record.data())[0]["textHash"], sha256("Neue Worte."));
    }
}
