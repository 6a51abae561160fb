//! Tests of the sweep that deletes files which no row refers to.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use crate::support::ServerSetup;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

fn age(path: &Path) {
    let file = File::options().write(true).open(path).unwrap();
    file.set_modified(SystemTime::now() - 2 * DAY).unwrap();
}

/// Writes a file whose name is a hash that no row has; returns its path.
fn orphan(folder: &Path) -> PathBuf {
    let name = "ab".repeat(32);
    fs::create_dir_all(folder.join("ab")).unwrap();
    let path = folder.join("ab").join(name);
    fs::write(&path, "left behind").unwrap();
    path
}

/// Returns all files that are stored in a folder, without those in `incoming`.
fn stored_files(folder: &Path) -> Vec<PathBuf> {
    let folders = fs::read_dir(folder)
        .unwrap()
        .flatten()
        .filter(|folder| folder.path().is_dir() && folder.file_name() != "incoming");
    folders.flat_map(|folder| fs::read_dir(folder.path()).unwrap().flatten().map(|file| file.path())).collect()
}

on_both! {
    async fn files_without_a_row_are_deleted_after_a_day_and_those_of_documents_stay(setup: ServerSetup) {
        let server = setup.start(&[]);
        let ada = server.user().await;
        let project = ada.project().await;
        ada.read(&project, "note.md", b"# Needs\n\nThe system must keep the secret of the harbour.\n").await;
        let (files, avatars) = (server.data.join("files"), server.data.join("avatars"));
        let documents = stored_files(&files);
        assert_eq!(documents.len(), 1);
        server.kill();
        let old = [orphan(&files), orphan(&avatars)];
        old.iter().chain(&documents).for_each(|path| age(path));
        let young = files.join("cd").join("cd".repeat(32));
        fs::create_dir_all(files.join("cd")).unwrap();
        fs::write(&young, "whose upload is under way").unwrap();
        let server = setup.start(&[]);
        let deadline = Instant::now() + Duration::from_secs(20);
        while old.iter().any(|path| path.exists()) {
            assert!(Instant::now() < deadline, "they stay");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        assert!(documents[0].exists() && young.exists());
        let text = ada.at(&server).client.get(format!("/api/projects/{project}/documents")).await.is(200);
        assert_eq!(text.data()["totalCount"], 1);
    }
}
