//! The state of the analysis area.

use actors::registry::Registry;
use actors::run::Run;

use super::ends::{Ends, FilesToRead};
use super::large_reads::LargeReads;
use super::supervisor::RunSupervisor;
use crate::clients::files::Files;
use crate::clients::printer::PdfPrinter;
use crate::core::Core;
use crate::http::mounted::Mounted;
use crate::meetings::state::Meetings;
use crate::projects::state::Projects;
use crate::shared_state::shared_state;

shared_state! {
    /// The state of this area, with the state of the areas it depends on.
    Analysis(AnalysisParts) and core: Core
}

pub struct AnalysisParts {
    pub core: Core,
    pub projects: Projects,
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

impl Mounted for Analysis {}
