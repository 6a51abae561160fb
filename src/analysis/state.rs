//! The state of the analysis area.

use std::ops::Deref;
use std::sync::Arc;

use actors::registry::Registry;
use actors::run::Run;

use super::ends::{Ends, FilesToRead};
use super::large_reads::LargeReads;
use super::supervisor::RunSupervisor;
use crate::clients::files::Files;
use crate::clients::printer::PdfPrinter;
use crate::http::mounted::Mounted;
use crate::meetings::state::Meetings;

/// The state of this area, with the state of the areas it depends on. Clones share the same state.
#[derive(Clone)]
pub struct Analysis(Arc<AnalysisParts>);

pub struct AnalysisParts {
    pub meetings: Meetings,
    pub registry: Registry<Run>,
    pub runner: RunSupervisor,
    pub exports: Exports,
    pub imports: FilesToRead,
    pub large_reads: LargeReads,
}

/// What exports need beside the database.
pub struct Exports {
    pub files: Files,
    pub printer: PdfPrinter,
    pub ended: Ends,
}

impl Exports {
    #[must_use]
    pub fn new(files: Files, printer: PdfPrinter) -> Self {
        Self { files, printer, ended: Ends::default() }
    }
}

impl Analysis {
    #[must_use]
    pub fn new(parts: AnalysisParts) -> Self {
        Self(Arc::new(parts))
    }
}

impl Deref for Analysis {
    type Target = AnalysisParts;
    fn deref(&self) -> &AnalysisParts {
        &self.0
    }
}

impl Deref for AnalysisParts {
    type Target = Meetings;
    fn deref(&self) -> &Meetings {
        &self.meetings
    }
}

impl Mounted for Analysis {}
