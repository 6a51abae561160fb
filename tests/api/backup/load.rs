//! A backup under load: it is one moment of the store, with everything that was confirmed before.

use std::collections::BTreeSet;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use futures_util::future::{join, join_all};
use serde_json::json;

use super::{elsewhere, restore, stop as stop_server};
use crate::admin::{CommandOutput, admin_command};
use crate::support::builders::PASSWORD;
use crate::support::tables::rows_of;
use crate::support::{Client, ServerSetup, User};

/// A meeting that is written again and again, and how many writes were sent and confirmed.
struct Writer {
    client: Client,
    path: String,
    sent: AtomicU64,
    confirmed: AtomicU64,
}

impl Writer {
    async fn write(&self, stop: &AtomicBool) {
        while !stop.load(Ordering::SeqCst) {
            let next = self.sent.fetch_add(1, Ordering::SeqCst) + 1;
            let description = format!("write {next}");
            loop {
                let answer = self.client.patch(&self.path).json(json!({"description": description})).await;
                if answer.status == 200 || self.has(&description).await {
                    break;
                }
            }
            self.confirmed.store(next, Ordering::SeqCst);
        }
    }

    /// Whether a write of which the answer was 503 has taken place: a slow machine gives up waiting for it.
    async fn has(&self, description: &str) -> bool {
        loop {
            let meeting = self.client.get(&self.path).await;
            if meeting.status == 200 {
                return meeting.text_of("description") == description;
            }
            assert_eq!(meeting.status, 503, "{}", meeting.text());
        }
    }
}

/// Uploads documents, and deletes every second one.
async fn upload_and_delete(ada: &User, project: &str, name: &str, stop: &AtomicBool, kept: &AtomicU64) {
    let mut number = 0;
    while !stop.load(Ordering::SeqCst) {
        number += 1;
        let text = format!("The system shall keep {name} number {number}.");
        let made = ada.upload(project, &format!("{name}-{number}.txt"), text.as_bytes()).await;
        // 503: a slow machine gives up waiting for the write.
        if made.status == 503 {
            continue;
        }
        let made = made.is(201);
        if number % 2 == 0 {
            let deleted = ada.client.delete(format!("/api/projects/{project}/documents/{}", made.text_of("id"))).await;
            assert!(matches!(deleted.status, 200 | 503), "{}", deleted.text());
        } else {
            kept.fetch_add(1, Ordering::SeqCst);
        }
    }
}

on_both! {
    async fn a_backup_under_load_is_one_moment_with_all_that_was_confirmed_before(setup: ServerSetup) {
        let server = setup.start(&[("COLLOQUY__LIMITS__UNREAD_DOCUMENTS", "1000000")]);
        let ada = server.user().await;
        let project = ada.project().await;
        let mut writers = Vec::new();
        for _ in 0..4 {
            let path = ada.meeting_path(&project).await;
            writers.push(Writer { client: ada.client.apart(), path, sent: AtomicU64::new(0), confirmed: AtomicU64::new(0) });
        }
        let (stop, kept) = (AtomicBool::new(false), AtomicU64::new(0));
        let archives = [1, 2, 3].map(|number| setup.data.join(format!("{number}.tar.gz")));
        let backups = async {
            let mut moments = Vec::new();
            for archive in &archives {
                tokio::time::sleep(Duration::from_millis(700)).await;
                let before: Vec<u64> = writers.iter().map(|writer| writer.confirmed.load(Ordering::SeqCst)).collect();
                let kept_before = kept.load(Ordering::SeqCst);
                let mut command = admin_command(&setup, &["backup", archive.to_str().unwrap()]);
                command.stdin(Stdio::null());
                let output = tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap();
                let after: Vec<u64> = writers.iter().map(|writer| writer.sent.load(Ordering::SeqCst)).collect();
                moments.push((before, after, kept_before));
                let output = CommandOutput::of(output);
                assert_eq!(output.err, "", "no file is missing, though documents are deleted meanwhile");
                output.done();
            }
            stop.store(true, Ordering::SeqCst);
            moments
        };
        let load = join(
            join_all(writers.iter().map(|writer| writer.write(&stop))),
            join(upload_and_delete(&ada, &project, "a", &stop, &kept), upload_and_delete(&ada, &project, "b", &stop, &kept)),
        );
        let (moments, _) = join(backups, load).await;
        let during: u64 = moments.iter().map(|(before, after, _)| after.iter().sum::<u64>() - before.iter().sum::<u64>()).sum();
        println!("{during} writes were sent while the backups were taken");
        assert!(during > 20, "there was load: {during}");
        stop_server(server);
        let all_events: BTreeSet<String> = rows_of(&setup.db().await).await.remove("events").unwrap().into_iter().collect();

        for (archive, (before, after, kept_before)) in archives.iter().zip(moments) {
            let other = elsewhere(&setup);
            restore(&other, archive, &[]).done();
            let events = rows_of(&other.db().await).await.remove("events").unwrap();
            assert!(events.iter().all(|event| all_events.contains(event)), "each event is one of the original");
            let server = other.start(&[]);
            let ada = ada.at(&server);
            for (writer, (confirmed, sent)) in writers.iter().zip(before.iter().zip(&after)) {
                let meeting = ada.client.get(&writer.path).await.is(200);
                let description = meeting.text_of("description");
                let written: u64 = description.strip_prefix("write ").map_or(0, |number| number.parse().unwrap());
                assert!(written >= *confirmed && written <= *sent, "{description} of {confirmed} to {sent}");
                assert_eq!(meeting.data()["version"], written + 1, "the row and its version are of one moment");
                let positions = server.positions_of_meeting(writer.path.rsplit('/').next().unwrap()).await;
                let expected: Vec<i64> = (1..=i64::try_from(written).unwrap()).collect();
                assert_eq!(positions, expected, "its events are of the same moment");
            }
            let (mut documents, mut cursor) = (0, String::new());
            loop {
                let page = format!("/api/projects/{project}/documents?limit=100{cursor}");
                let page = ada.client.get(page).await.is(200);
                for item in page.data()["items"].as_array().unwrap() {
                    let content = format!("/api/projects/{project}/documents/{}/content", item["id"].as_str().unwrap());
                    let content = ada.client.get(content).await.is(200);
                    let name = item["fileName"].as_str().unwrap().trim_end_matches(".txt");
                    let (name, number) = name.split_once('-').unwrap();
                    assert_eq!(content.text(), format!("The system shall keep {name} number {number}."));
                    documents += 1;
                }
                let Some(next) = page.data()["nextCursor"].as_str() else { break };
                cursor = format!("&cursor={next}");
            }
            assert!(documents >= kept_before, "{documents} of {kept_before}");
            let login = json!({"email": ada.email, "password": PASSWORD});
            server.client().post("/api/auth/login").json(login).await.is(200);
        }
    }
}
