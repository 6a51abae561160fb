//! A corpus on disk: a folder per project, with one or more marked documents that are analysed together.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use readers::Format;

use super::marked::{MarkedText, read_marked};

/// The documents of one project, by name.
#[derive(Debug)]
pub struct MarkedProject {
    pub name: String,
    pub documents: Vec<MarkedDocument>,
}

/// A document of a corpus.
#[derive(Debug)]
pub struct MarkedDocument {
    /// Its path in the corpus.
    pub name: String,
    pub is_transcript: bool,
    pub text: MarkedText,
}

/// Why a corpus can't be used.
#[derive(Debug, thiserror::Error)]
pub enum UnusableCorpus {
    #[error("{0}: {1}")]
    Unreadable(PathBuf, io::Error),
    /// Every document that can't be used, with the reason.
    #[error("{}", .0.join("\n"))]
    Wrong(Vec<String>),
    #[error("{0}: no document in it")]
    Empty(PathBuf),
}

/// Reads every project of a corpus, in the order of their names.
///
/// # Errors
/// A file that can't be read, or all those that have an unknown format or are wrongly marked.
pub fn projects(folder: &Path) -> Result<Vec<MarkedProject>, UnusableCorpus> {
    let (mut projects, mut wrong) = (Vec::new(), Vec::new());
    for path in entries(folder)? {
        if path.is_dir() {
            let mut documents = Vec::new();
            for file in entries(&path)? {
                match document(folder, &file) {
                    Ok(document) => documents.push(document),
                    Err(UnusableCorpus::Wrong(faults)) => wrong.extend(faults),
                    Err(fault) => return Err(fault),
                }
            }
            if !documents.is_empty() {
                projects.push(MarkedProject { name: name_in(folder, &path), documents });
            }
        }
    }
    if !wrong.is_empty() {
        return Err(UnusableCorpus::Wrong(wrong));
    }
    if projects.is_empty() { Err(UnusableCorpus::Empty(folder.to_owned())) } else { Ok(projects) }
}

fn document(folder: &Path, path: &Path) -> Result<MarkedDocument, UnusableCorpus> {
    let wrong = |fault: String| UnusableCorpus::Wrong(vec![format!("{}: {fault}", path.display())]);
    let format = match path.extension().and_then(|extension| extension.to_str()) {
        Some("md") => Format::Markdown,
        Some("txt") => Format::Text,
        Some("html") => Format::Html,
        Some("csv") => Format::Csv,
        Some("vtt") => Format::Vtt,
        Some("srt") => Format::Srt,
        _ => return Err(wrong("The format is none of a corpus.".to_owned())),
    };
    let marked = fs::read_to_string(path).map_err(|fault| UnusableCorpus::Unreadable(path.to_owned(), fault))?;
    let text = read_marked(format, &marked).map_err(wrong)?;
    let is_transcript = matches!(format, Format::Vtt | Format::Srt);
    Ok(MarkedDocument { name: name_in(folder, path), is_transcript, text })
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>, UnusableCorpus> {
    let unreadable = |fault| UnusableCorpus::Unreadable(folder.to_owned(), fault);
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        paths.push(entry.map_err(unreadable)?.path());
    }
    paths.sort();
    Ok(paths)
}

fn name_in(folder: &Path, path: &Path) -> String {
    path.strip_prefix(folder).unwrap_or(path).to_string_lossy().into_owned()
}
