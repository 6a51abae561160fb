//! Why a model was not installed, in sentences for the operator.

use std::io;
use std::path::{Path, PathBuf};

use indicatif::DecimalBytes;

#[derive(Debug, thiserror::Error)]
pub enum InstallError {
    #[error("{}", unusable(.path, .error))]
    Unusable { path: PathBuf, error: io::Error },
    #[error("{place} can't be downloaded: {why}. What was received is kept; the next call goes on from there.")]
    Unavailable { place: String, why: String },
    #[error("{place} can't be downloaded: the server answers {status}.")]
    Refused { place: String, status: String },
    #[error("{place} is not the package that was asked for: it has {found} bytes instead of {expected}.")]
    WrongSize { place: String, found: u64, expected: u64 },
    #[error("{place} is too large: more than {} are not accepted.", DecimalBytes(*.most))]
    TooLarge { place: String, most: u64 },
    #[error("{place} is not the package that was asked for: its SHA-256 is {found} instead of {expected}.")]
    WrongHash { place: String, found: String, expected: String },
    #[error("{place} can't be unpacked: {why}.")]
    Archive { place: String, why: String },
    #[error("{name} in the package is not the file that was asked for: its size or SHA-256 is another one.")]
    WrongFile { name: String },
}

impl InstallError {
    /// Whether the same call may succeed later: a server was not reachable or not available.
    #[must_use]
    pub const fn is_temporary(&self) -> bool {
        matches!(self, Self::Unavailable { .. })
    }

    /// Returns what turns an error of the file system into one about this path.
    pub(super) fn at(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |error| Self::Unusable { path, error }
    }
}

fn unusable(path: &Path, error: &io::Error) -> String {
    let path = path.display();
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => format!(
            "There is no space left for {path}. What was received is kept; call again once there is space, or name \
             another folder."
        ),
        _ => format!("{path} can't be used: {error}."),
    }
}
