//! Files that the server writes can be read by its own account only (S30).

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::support::ServerSetup;

fn below(folder: &Path) -> Vec<PathBuf> {
    let mut found = vec![folder.to_owned()];
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { found.extend(below(&path)) } else { found.push(path) }
    }
    found
}

on_both! {
    async fn nothing_that_is_written_can_be_read_by_another_account_of_the_machine(setup: ServerSetup) {
        fs::set_permissions(&setup.data, fs::Permissions::from_mode(0o755)).unwrap();
        let server = setup.start(&[]);
        let ada = server.user().await;
        let project = ada.project().await;
        ada.read(&project, "note.md", b"# Booking\n\nThe system must let a patient cancel.\n").await;
        // Without what the test itself writes there: the server's output.
        let is_ours = |path: &PathBuf| path.extension().is_none_or(|kind| kind != "out" && kind != "log");
        let written: Vec<PathBuf> = below(&setup.data).into_iter().filter(is_ours).collect();
        let open = |path: &&PathBuf| fs::metadata(path).unwrap().permissions().mode() & 0o077 != 0;
        assert!(written.len() > 5, "{written:?}");
        assert_eq!(written.iter().filter(open).collect::<Vec<_>>(), Vec::<&PathBuf>::new());
    }
}
