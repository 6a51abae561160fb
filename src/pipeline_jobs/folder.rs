//! The folder of the jobs. Everything in here blocks: call it on a thread that may.
//!
//! A file is written beside its name, synced and renamed, so that after a kill it is there as a whole or not at all; a
//! job's folder is renamed into `jobs` once all of it is there.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use actors::ids::{AiJob, Id};
use serde::Serialize;
use serde::de::DeserializeOwned;
use uuid::Uuid;

use super::model::{JobRecord, JobRequest, SourceContent};

const RECORD: &str = "record.json";
const REQUEST: &str = "request.json";
const RESULT: &str = "result.json";

/// The folder of the jobs, which no other process uses meanwhile.
#[derive(Debug)]
pub struct JobFolder {
    root: PathBuf,
    _lock: File,
}

/// A job that was found at the start.
pub struct FoundJob {
    pub id: Id<AiJob>,
    pub record: JobRecord,
    pub bytes: u64,
}

impl JobFolder {
    /// Opens the folder, and creates it if it is missing. What was not accepted before is deleted.
    ///
    /// # Errors
    /// Another process uses it, or it is not writable.
    pub fn open(root: PathBuf) -> Result<Self, String> {
        let unusable = |error: io::Error| format!("{} can't be used: {error}", root.display());
        make(&root).map_err(unusable)?;
        let lock = OpenOptions::new().create(true).truncate(false).write(true).open(root.join("lock"));
        let lock = lock.map_err(unusable)?;
        if let Err(fault) = lock.try_lock() {
            return Err(match fault {
                fs::TryLockError::WouldBlock => format!("another pipeline service uses {}", root.display()),
                fs::TryLockError::Error(error) => unusable(error),
            });
        }
        let folder = Self { root: root.clone(), _lock: lock };
        clear(&folder.incoming()).map_err(unusable)?;
        make(&folder.incoming()).and_then(|()| make(&folder.jobs())).map_err(unusable)?;
        Ok(folder)
    }

    fn incoming(&self) -> PathBuf {
        self.root.join("incoming")
    }

    fn jobs(&self) -> PathBuf {
        self.root.join("jobs")
    }

    fn job(&self, id: Id<AiJob>) -> PathBuf {
        self.jobs().join(id.to_string())
    }

    /// Creates a folder for a request that is being received.
    ///
    /// # Errors
    /// The I/O error.
    pub fn receive(&self) -> io::Result<IncomingFolder> {
        let path = self.incoming().join(Uuid::now_v7().to_string());
        fs::DirBuilder::new().mode(0o700).create(&path)?;
        Ok(IncomingFolder { path })
    }

    /// Stores a request durably as a job.
    ///
    /// # Errors
    /// The I/O error.
    pub fn accept(&self, id: Id<AiJob>, incoming: IncomingFolder, record: &JobRecord) -> io::Result<()> {
        write_json(&incoming.path.join(RECORD), record)?;
        sync(&incoming.path)?;
        fs::rename(&incoming.path, self.job(id))?;
        sync(&self.jobs())
    }

    /// Returns all jobs. What can't be read is deleted: whoever asked for it asks again.
    ///
    /// # Errors
    /// The I/O error.
    pub fn all(&self) -> io::Result<Vec<FoundJob>> {
        let mut found = Vec::new();
        for entry in fs::read_dir(self.jobs())? {
            let entry = entry?;
            let id = entry.file_name().to_str().and_then(|name| name.parse::<Id<AiJob>>().ok());
            match id.map(|id| (id, self.read::<JobRecord>(id, RECORD))) {
                Some((id, Ok(record))) => {
                    if record.status.is_over() {
                        self.strip(id)?;
                    }
                    found.push(FoundJob { id, record, bytes: self.size(id) });
                }
                _ => {
                    tracing::error!(folder = %entry.path().display(), "this is no job; it is deleted");
                    clear(&entry.path())?;
                }
            }
        }
        Ok(found)
    }

    /// # Errors
    /// The I/O error.
    pub fn save_record(&self, id: Id<AiJob>, record: &JobRecord) -> io::Result<()> {
        write_json(&self.job(id).join(RECORD), record)
    }

    /// # Errors
    /// The I/O error.
    pub fn request(&self, id: Id<AiJob>) -> io::Result<JobRequest> {
        self.read(id, REQUEST)
    }

    /// # Errors
    /// The I/O error.
    pub fn save_request(&self, id: Id<AiJob>, request: &JobRequest) -> io::Result<()> {
        write_json(&self.job(id).join(REQUEST), request)
    }

    /// # Errors
    /// The I/O error.
    pub fn result(&self, id: Id<AiJob>) -> io::Result<Vec<u8>> {
        fs::read(self.job(id).join(RESULT))
    }

    /// # Errors
    /// The I/O error.
    pub fn save_result(&self, id: Id<AiJob>, result: &impl Serialize) -> io::Result<()> {
        write_json(&self.job(id).join(RESULT), result)
    }

    /// # Errors
    /// The I/O error.
    pub fn open_source(&self, id: Id<AiJob>, place: usize) -> io::Result<File> {
        File::open(self.job(id).join(source_name(place)))
    }

    /// # Errors
    /// The I/O error.
    pub fn open_text(&self, id: Id<AiJob>, place: usize) -> io::Result<File> {
        File::open(self.job(id).join(text_name(place)))
    }

    /// Stores the text of a document beside it.
    ///
    /// # Errors
    /// The I/O error.
    pub fn save_text(&self, id: Id<AiJob>, place: usize, text: &str) -> io::Result<()> {
        write(&self.job(id).join(text_name(place)), text.as_bytes())
    }

    /// Returns a stored checkpoint; `None` if there is none.
    ///
    /// # Errors
    /// The I/O error.
    pub fn checkpoint<T: DeserializeOwned>(&self, id: Id<AiJob>, node: &str) -> io::Result<Option<T>> {
        match self.read(id, &checkpoint_name(node)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            read => read.map(Some),
        }
    }

    /// # Errors
    /// The I/O error.
    pub fn save_checkpoint(&self, id: Id<AiJob>, node: &str, checkpoint: &impl Serialize) -> io::Result<()> {
        write_json(&self.job(id).join(checkpoint_name(node)), checkpoint)
    }

    /// Deletes what a job that is over does not need.
    ///
    /// # Errors
    /// The I/O error.
    pub fn strip(&self, id: Id<AiJob>) -> io::Result<()> {
        for entry in fs::read_dir(self.job(id))? {
            let entry = entry?;
            if entry.file_name() != RECORD && entry.file_name() != RESULT {
                fs::remove_file(entry.path())?;
            }
        }
        Ok(())
    }

    /// Deletes a job. After a kill it is there as a whole or not at all.
    ///
    /// # Errors
    /// The I/O error.
    pub fn remove(&self, id: Id<AiJob>) -> io::Result<()> {
        let doomed = self.incoming().join(Uuid::now_v7().to_string());
        fs::rename(self.job(id), &doomed)?;
        clear(&doomed)
    }

    /// The bytes of all files of a job.
    #[must_use]
    pub fn size(&self, id: Id<AiJob>) -> u64 {
        size(&self.job(id))
    }

    fn read<T: DeserializeOwned>(&self, id: Id<AiJob>, name: &str) -> io::Result<T> {
        let bytes = fs::read(self.job(id).join(name))?;
        serde_json::from_slice(&bytes).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
    }
}

/// The folder of a request that is being received; deleted on drop unless it became a job's.
#[derive(Debug)]
pub struct IncomingFolder {
    path: PathBuf,
}

impl IncomingFolder {
    /// Creates a file for the body of the request.
    ///
    /// # Errors
    /// The I/O error.
    pub fn create(&self, name: &str) -> io::Result<File> {
        File::create_new(self.path.join(name))
    }

    /// # Errors
    /// The I/O error.
    pub fn open(&self, name: &str) -> io::Result<File> {
        File::open(self.path.join(name))
    }

    /// # Errors
    /// The I/O error.
    pub fn remove(&self, name: &str) -> io::Result<()> {
        fs::remove_file(self.path.join(name))
    }

    /// Stores the content of a source, if it has one.
    ///
    /// # Errors
    /// The I/O error.
    pub fn save_source(&self, place: usize, content: &SourceContent, bytes: &[u8]) -> io::Result<()> {
        match content {
            SourceContent::Text => write(&self.path.join(text_name(place)), bytes),
            SourceContent::Document { .. } => write(&self.path.join(source_name(place)), bytes),
            SourceContent::Unreadable(_) => Ok(()),
        }
    }

    /// # Errors
    /// The I/O error.
    pub fn save_request(&self, request: &JobRequest) -> io::Result<()> {
        write_json(&self.path.join(REQUEST), request)
    }

    #[must_use]
    pub fn size(&self) -> u64 {
        size(&self.path)
    }
}

impl Drop for IncomingFolder {
    fn drop(&mut self) {
        // It may have become a job's; what stays is deleted at the next start.
        let _ = clear(&self.path);
    }
}

fn text_name(place: usize) -> String {
    format!("text-{place}")
}

/// The name of the file of a document that is not read yet.
#[must_use]
pub fn source_name(place: usize) -> String {
    format!("source-{place}")
}

fn checkpoint_name(node: &str) -> String {
    format!("node-{node}.json")
}

fn make(folder: &Path) -> io::Result<()> {
    fs::DirBuilder::new().mode(0o700).recursive(true).create(folder)
}

fn clear(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn size(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.metadata().ok()).map(|file| file.len()).sum()
}

fn sync(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

fn write_json(path: &Path, value: &impl Serialize) -> io::Result<()> {
    write(path, &serde_json::to_vec(value)?)
}

fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let beside = path.with_extension("new");
    let mut file = File::create(&beside)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    fs::rename(&beside, path)?;
    path.parent().map_or(Ok(()), sync)
}

/// Reads a file as text of at most `most` bytes.
///
/// # Errors
/// The I/O error; `InvalidData` if it is longer or no text.
pub fn read_text(file: File, most: u64) -> io::Result<String> {
    let mut text = String::new();
    if file.take(most + 1).read_to_string(&mut text)? as u64 > most {
        return Err(io::ErrorKind::InvalidData.into());
    }
    Ok(text)
}
