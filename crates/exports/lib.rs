//! The results of a project as files that other programs open.
//!
//! A [`specification::Specification`] goes in, the bytes of a file come out. Nothing here knows a database, a user or a clock: the
//! same specification gives the same bytes.

mod csv;
mod docx;
mod fault;
mod html;
pub mod import;
mod json;
mod markdown;
pub mod outline;
pub mod references;
mod reqif;
mod said;
pub mod specification;
mod tables;
pub mod text;
pub mod words;
mod xlsx;

#[cfg(test)]
mod file_tests;

pub use fault::ExportFault;

use specification::Specification;

/// The kinds of files that are written here. PDF is not among them: a program of its own sets it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExportFormat {
    Xlsx,
    Csv,
    Json,
    Markdown,
    Html,
    Docx,
    Reqif,
}

impl ExportFormat {
    pub const ALL: [ExportFormat; 7] =
        [Self::Xlsx, Self::Csv, Self::Json, Self::Markdown, Self::Html, Self::Docx, Self::Reqif];

    pub fn mime_type(self) -> &'static str {
        match self {
            Self::Xlsx => "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
            Self::Csv | Self::Reqif => "application/zip",
            Self::Json => "application/json",
            Self::Markdown => "text/markdown; charset=utf-8",
            Self::Html => "text/html; charset=utf-8",
            Self::Docx => "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        }
    }

    /// How the name of such a file ends, without the leading dot.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Xlsx => "xlsx",
            Self::Csv => "zip",
            Self::Json => "json",
            Self::Markdown => "md",
            Self::Html => "html",
            Self::Docx => "docx",
            Self::Reqif => "reqifz",
        }
    }
}

/// The bytes of the file.
pub fn write(specification: &Specification, format: ExportFormat) -> Result<Vec<u8>, ExportFault> {
    match format {
        ExportFormat::Xlsx => xlsx::write(specification),
        ExportFormat::Csv => csv::write(specification),
        ExportFormat::Json => json::write(specification),
        ExportFormat::Markdown => markdown::write(specification),
        ExportFormat::Html => html::write(specification),
        ExportFormat::Docx => docx::write(specification),
        ExportFormat::Reqif => reqif::write(specification),
    }
}
