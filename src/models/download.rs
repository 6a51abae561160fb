//! Downloads one package into a file, and goes on from what is there after an interruption.
//!
//! ```text
//! nothing or a part ── request, with Range if there is a part
//!   ├─ 206 from the end of the part ── append ──┐
//!   ├─ 200 ── start anew ── append ─────────────┼─ complete ── SHA-256 ─┬─ right ── done
//!   ├─ 416 ─────────────────────────────────────┘                       ├─ wrong, of one download ── fail
//!   ├─ 408, 425, 429, 5xx, no connection, cut, stalled ── wait, again   └─ wrong, of several ── start anew
//!   └─ any other answer ── fail
//! ```
//! The file is named after the SHA-256 of the package, so a part is gone on with wherever it came from: another mirror
//! has the same bytes. The SHA-256 decides in the end; sizes are checked while receiving, so that no server can fill the
//! disk. Files are written without a thread of their own: the command that downloads does nothing else.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use reqwest::header::{ACCEPT_ENCODING, CONTENT_RANGE, ETAG, HeaderMap, IF_RANGE, RANGE, RETRY_AFTER};
use reqwest::{Response, StatusCode};
use serde::{Deserialize, Serialize};
use url::Url;

use super::error::InstallError;
use super::step::InstallStep;
use super::unpack::sha256_of;

/// How long a download waits, and how often it tries.
#[derive(Debug, Clone, Copy)]
pub struct DownloadLimits {
    pub connect: Duration,
    /// The maximum time without any byte.
    pub stall: Duration,
    /// How many attempts in succession may bring nothing new.
    pub attempts: u32,
    /// The pause after the first of them; it doubles with each.
    pub pause: Duration,
    /// The maximum pause that a server may ask for.
    pub longest_pause: Duration,
}

impl Default for DownloadLimits {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            stall: Duration::from_secs(30),
            attempts: 5,
            pause: Duration::from_secs(1),
            longest_pause: Duration::from_secs(120),
        }
    }
}

/// A package to download.
pub struct Download<'a> {
    pub url: &'a Url,
    pub sha256: &'a str,
    /// The exact size, if it is known.
    pub bytes: Option<u64>,
    /// The maximum size.
    pub most: u64,
}

/// Why an attempt did not bring the whole package.
enum Interruption {
    /// Another attempt may go on, at the earliest after this time if the server named one.
    Again {
        why: String,
        after: Option<Duration>,
    },
    Fatal(InstallError),
}

impl From<InstallError> for Interruption {
    fn from(error: InstallError) -> Self {
        Self::Fatal(error)
    }
}

fn again(why: impl Into<String>) -> Interruption {
    Interruption::Again { why: why.into(), after: None }
}

/// Returns a client for downloads. It follows redirects and uses the proxy of the environment.
pub fn client(limits: &DownloadLimits) -> Result<reqwest::Client, InstallError> {
    let client = reqwest::Client::builder()
        .connect_timeout(limits.connect)
        .read_timeout(limits.stall)
        .user_agent(concat!("Colloquy/", env!("CARGO_PKG_VERSION")))
        .build();
    client.map_err(|error| InstallError::Unavailable { place: "The package".to_owned(), why: reason(&error) })
}

/// Downloads the package into the folder and returns the file, whose SHA-256 is verified.
pub async fn fetch(
    client: &reqwest::Client,
    download: &Download<'_>,
    folder: &Path,
    limits: &DownloadLimits,
    watch: &dyn Fn(InstallStep<'_>),
) -> Result<PathBuf, InstallError> {
    let mut part = PartFile::open(folder, download)?;
    let (mut furthest, mut fruitless) = (part.bytes, 0);
    loop {
        let (why, after) = match part.attempt(client, watch).await {
            Ok(()) => return Ok(part.path),
            Err(Interruption::Fatal(error)) => return Err(error),
            Err(Interruption::Again { why, after }) => (why, after),
        };
        if part.bytes > furthest {
            (furthest, fruitless) = (part.bytes, 0);
        }
        fruitless += 1;
        let asks_too_much = after.is_some_and(|after| after > limits.longest_pause);
        if fruitless >= limits.attempts || asks_too_much {
            return Err(InstallError::Unavailable { place: shown(download.url), why });
        }
        let pause = after.unwrap_or_else(|| limits.pause.saturating_mul(1 << (fruitless - 1).min(16)));
        watch(InstallStep::Retrying { why: &why, pause });
        tokio::time::sleep(pause).await;
    }
}

/// Which version of a file a part belongs to, as its server said.
#[derive(Serialize, Deserialize)]
struct PartVersion {
    url: String,
    etag: String,
}

/// The file into which a package is received.
struct PartFile<'a> {
    download: &'a Download<'a>,
    path: PathBuf,
    version_path: PathBuf,
    file: File,
    bytes: u64,
}

impl<'a> PartFile<'a> {
    fn open(folder: &Path, download: &'a Download<'a>) -> Result<Self, InstallError> {
        let path = folder.join(format!("{}.part", download.sha256));
        let version_path = folder.join(format!("{}.json", download.sha256));
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path);
        let file = file.map_err(InstallError::at(&path))?;
        let bytes = file.metadata().map_err(InstallError::at(&path))?.len();
        let mut part = Self { download, path, version_path, file, bytes };
        if bytes > download.bytes.unwrap_or(download.most) {
            part.clear()?;
        }
        Ok(part)
    }

    fn clear(&mut self) -> Result<(), InstallError> {
        self.bytes = 0;
        self.file.set_len(0).map_err(InstallError::at(&self.path))
    }

    async fn attempt(&mut self, client: &reqwest::Client, watch: &dyn Fn(InstallStep<'_>)) -> Result<(), Interruption> {
        let had = self.bytes;
        if self.download.bytes != Some(had) {
            self.receive(client, watch).await?;
        }
        self.verify(had > 0, watch)
    }

    /// Receives what is missing. The file is complete afterwards, as far as the server says.
    async fn receive(&mut self, client: &reqwest::Client, watch: &dyn Fn(InstallStep<'_>)) -> Result<(), Interruption> {
        let mut request = client.get(self.download.url.clone()).header(ACCEPT_ENCODING, "identity");
        if self.bytes > 0 {
            request = request.header(RANGE, format!("bytes={}-", self.bytes));
            if let Some(etag) = self.etag() {
                request = request.header(IF_RANGE, etag);
            }
        }
        let mut response = request.send().await.map_err(|error| again(reason(&error)))?;
        let total = match response.status() {
            StatusCode::OK => {
                self.clear()?;
                response.content_length()
            }
            StatusCode::PARTIAL_CONTENT if self.bytes > 0 => match range_of(response.headers()) {
                Some((first, total)) if first == self.bytes => total,
                _ => {
                    self.clear()?;
                    return Err(again("the server sent another part of the file than the one that was asked for"));
                }
            },
            // Nothing is missing, or it is another file: the SHA-256 shows which.
            StatusCode::RANGE_NOT_SATISFIABLE if self.bytes > 0 => return Ok(()),
            _ => return Err(self.refused(&response)),
        };
        self.check_total(total)?;
        self.keep_version(response.headers())?;
        watch(InstallStep::Receiving { bytes: self.bytes, total: self.download.bytes.or(total) });
        self.file.seek(SeekFrom::Start(self.bytes)).map_err(InstallError::at(&self.path))?;
        while let Some(chunk) = response.chunk().await.map_err(|error| again(reason(&error)))? {
            let bytes = self.bytes.saturating_add(chunk.len() as u64);
            if bytes > self.download.bytes.unwrap_or(self.download.most) {
                self.clear()?;
                return Err(self.too_large().into());
            }
            self.file.write_all(&chunk).map_err(InstallError::at(&self.path))?;
            self.bytes = bytes;
            watch(InstallStep::Receiving { bytes, total: self.download.bytes.or(total) });
        }
        match self.download.bytes.or(total) {
            Some(total) if self.bytes < total => Err(again("the connection ended early")),
            _ => Ok(()),
        }
    }

    /// Refuses a file whose size, as the server says, is not the package's.
    fn check_total(&self, total: Option<u64>) -> Result<(), InstallError> {
        match (total, self.download.bytes) {
            (Some(found), Some(expected)) if found != expected => {
                Err(InstallError::WrongSize { place: shown(self.download.url), found, expected })
            }
            (Some(found), None) if found > self.download.most => Err(self.too_large()),
            _ => Ok(()),
        }
    }

    fn too_large(&self) -> InstallError {
        let most = self.download.bytes.unwrap_or(self.download.most);
        InstallError::TooLarge { place: shown(self.download.url), most }
    }

    fn refused(&self, response: &Response) -> Interruption {
        let status = response.status();
        let is_temporary = status.is_server_error()
            || [StatusCode::REQUEST_TIMEOUT, StatusCode::TOO_EARLY, StatusCode::TOO_MANY_REQUESTS].contains(&status);
        if !is_temporary {
            let place = shown(self.download.url);
            return Interruption::Fatal(InstallError::Refused { place, status: status.to_string() });
        }
        let after = response.headers().get(RETRY_AFTER).and_then(|after| after.to_str().ok()?.trim().parse().ok());
        let why = match after {
            Some(seconds) => format!("the server answers {status} and asks to wait for {seconds} s"),
            None => format!("the server answers {status}"),
        };
        Interruption::Again { why, after: after.map(Duration::from_secs) }
    }

    /// Compares the SHA-256. A part that was `resumed` may have been put together from different files.
    fn verify(&mut self, resumed: bool, watch: &dyn Fn(InstallStep<'_>)) -> Result<(), Interruption> {
        watch(InstallStep::Verifying);
        let found = sha256_of(&self.file).map_err(InstallError::at(&self.path))?;
        if found == self.download.sha256 {
            return Ok(());
        }
        self.clear()?;
        if resumed {
            return Err(again("its parts, from several attempts, do not fit together: it is downloaded anew"));
        }
        let (place, expected) = (shown(self.download.url), self.download.sha256.to_owned());
        Err(InstallError::WrongHash { place, found, expected }.into())
    }

    /// Returns the entity tag of the part if it came from the same address.
    fn etag(&self) -> Option<String> {
        let version: PartVersion = serde_json::from_slice(&fs::read(&self.version_path).ok()?).ok()?;
        (version.url == shown(self.download.url)).then_some(version.etag)
    }

    /// Stores the entity tag of what is being received, if there is one that a range request may name.
    fn keep_version(&self, headers: &HeaderMap) -> Result<(), InstallError> {
        let etag = headers.get(ETAG).and_then(|etag| etag.to_str().ok()).filter(|etag| etag.starts_with('"'));
        let kept = match etag {
            Some(etag) => {
                let version = PartVersion { url: shown(self.download.url), etag: etag.to_owned() };
                serde_json::to_vec(&version)
                    .map_err(io::Error::from)
                    .and_then(|text| fs::write(&self.version_path, text))
            }
            None => remove_file(&self.version_path),
        };
        kept.map_err(InstallError::at(&self.version_path))
    }
}

/// Deletes what is stored of a download.
pub fn forget(folder: &Path, sha256: &str) -> Result<(), InstallError> {
    for kind in ["part", "json"] {
        let path = folder.join(format!("{sha256}.{kind}"));
        remove_file(&path).map_err(InstallError::at(&path))?;
    }
    Ok(())
}

fn remove_file(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Returns the first byte of a partial answer, and the size of the whole if it is known.
fn range_of(headers: &HeaderMap) -> Option<(u64, Option<u64>)> {
    let text = headers.get(CONTENT_RANGE)?.to_str().ok()?.strip_prefix("bytes ")?;
    let (range, total) = text.split_once('/')?;
    Some((range.split_once('-')?.0.trim().parse().ok()?, total.trim().parse().ok()))
}

/// Returns an address without its user name and password.
pub fn shown(url: &Url) -> String {
    let mut url = url.clone();
    // Only addresses without a host have no user name to clear.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.into()
}

/// Returns the causes of an error of the HTTP client, outermost first.
fn reason(error: &reqwest::Error) -> String {
    let mut error: &dyn std::error::Error = error;
    let mut reasons = Vec::new();
    while let Some(source) = error.source() {
        error = source;
        reasons.push(error.to_string());
    }
    reasons.dedup();
    if reasons.is_empty() { "the request failed".to_owned() } else { reasons.join(": ") }
}
