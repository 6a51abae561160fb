//! Backups and restores that are killed: nothing that looks complete and isn't.

use std::fs;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use super::{backup, elsewhere, must_be_equal, restore, run, stop};
use crate::admin::admin_command;
use crate::support::chance::Chance;
use crate::support::{Server, ServerSetup};

/// Enough documents for a backup and a restore to take some time.
async fn with_many_documents(server: &Server) {
    let ada = server.user().await;
    let project = ada.project().await;
    for number in 0..60 {
        let text = format!("The system shall keep number {number}.\n").repeat(4000);
        ada.upload(&project, &format!("{number}.txt"), text.as_bytes()).await.is(201);
    }
}

fn begin(setup: &ServerSetup, arguments: &[&str]) -> Child {
    let mut command = admin_command(setup, arguments);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

/// Waits until `is_there` holds; false when the process has ended before.
fn wait_until(child: &mut Child, is_there: impl Fn() -> bool) -> bool {
    let deadline = Instant::now() + Duration::from_secs(60);
    while !is_there() {
        if child.try_wait().unwrap().is_some() {
            return false;
        }
        assert!(Instant::now() < deadline, "it neither begins nor ends");
        std::thread::sleep(Duration::from_micros(200));
    }
    true
}

on_both! {
    async fn a_restore_that_was_killed_is_recognised_and_a_second_one_completes_it(setup: ServerSetup) {
        let server = setup.start(&[]);
        with_many_documents(&server).await;
        stop(server);
        let archive = setup.data.join("backup.tar.gz");
        backup(&setup, &archive);
        let file = archive.to_str().unwrap();
        let other = elsewhere(&setup);
        let marker = other.data.join("restore-unfinished");
        let mut chance = Chance::new();
        let mut unfinished = 0;
        for _ in 0..6 {
            let mut child = begin(&other, &["restore", file]);
            assert!(wait_until(&mut child, || marker.exists()), "it is under way");
            std::thread::sleep(chance.millis(0, 60));
            child.kill().unwrap();
            child.wait().unwrap();
            if !marker.exists() {
                // It was complete already.
                break;
            }
            unfinished += 1;
            let (status, said) = other.refused(&[]);
            assert!(!status.success() && said.contains("run `colloquy admin restore` again"), "{said}");
            let command = run(&other, &[], &["list-users"]).refused(1);
            assert!(command.contains("was begun and is not complete"), "{command}");
        }
        assert!(unfinished > 0, "one was killed half-way");
        // One that was killed between its last two steps has restored the database.
        let last = restore(&other, &archive, &[]);
        if last.err.contains("is not empty") {
            restore(&other, &archive, &["--overwrite"]).done();
        } else {
            last.done();
        }
        must_be_equal(&setup, &other).await;
        drop(other.start(&[]));
    }

    async fn a_backup_that_was_killed_leaves_no_archive_and_the_next_one_is_complete(setup: ServerSetup) {
        let server = setup.start(&[]);
        with_many_documents(&server).await;
        stop(server);
        let archive = setup.data.join("backup.tar.gz");
        let partial = setup.data.join("backup.tar.gz.partial");
        let mut chance = Chance::new();
        let mut killed = 0;
        for _ in 0..20 {
            if killed == 4 {
                break;
            }
            let mut child = begin(&setup, &["backup", archive.to_str().unwrap()]);
            if !wait_until(&mut child, || partial.exists()) {
                panic!("it was not seen at work");
            }
            std::thread::sleep(chance.millis(0, 40));
            child.kill().unwrap();
            child.wait().unwrap();
            if archive.exists() {
                // What has the name is complete.
                restore(&elsewhere(&setup), &archive, &[]).done();
                fs::remove_file(&archive).unwrap();
            } else {
                killed += 1;
            }
        }
        assert!(killed > 0, "every backup was complete before it was killed");
        backup(&setup, &archive);
        assert!(!partial.exists() && !setup.data.join("backup.tar.gz.scratch").exists());
        let other = elsewhere(&setup);
        restore(&other, &archive, &[]).done();
        must_be_equal(&setup, &other).await;
    }
}
