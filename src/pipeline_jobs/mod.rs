//! The AI pipeline as a service of its own: `colloquy pipeline` analyses sources that a server sends, as jobs.
//!
//! ```text
//!                     accept (same id, same request: the same job)          begin            end
//!  sources ──> intake ─────────────────────────────────────────> QUEUED ──────────> PROCESSING ──> COMPLETED, PARTIAL,
//!                                                                   `──── cancel ──────`──> CANCELLED      REJECTED, FAILED
//!  folder:  jobs/ID/ request.json  source-N  record.json  node-NODE.json                       result.json
//! ```
//! A job is a folder. It is accepted once the folder is on disk, whoever is gone by then; a service that was killed goes
//! on with what is unfinished, at the node that was reached. Bounded are the size of a request, the number of unfinished
//! and of finished jobs, the time for which these are kept, and the bytes of all of them. Deliberately absent: a
//! database, projects and users; whoever has the service key may ask for any job whose id they know.
//!
//! Reading order: model · folder · table · intake · worker · operations · routes · regeneration.

pub mod folder;
pub mod intake;
pub mod json_sources;
pub mod model;
pub mod operations;
pub mod regeneration;
pub mod routes;
pub mod state;
pub mod table;
pub mod worker;
