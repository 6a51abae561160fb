//! Colloquy: a backend that turns meetings and documents into requirements.
//!
//! ```text
//!            http             access           <feature>/routes       <feature>/operations
//! request  --> read, limits --> authorize ------> parse input ---------> steps of the operation
//!                                                                        |            |
//!                                                             actors decide        stores save
//!                                                             (meeting, run)     (rows and events)
//!                                                                        |            |
//! response <-- envelope               sockets, streams <-- live <-- hub <-- after COMMIT
//! ```
//! Modules in reading order: `routes` lists all operations on one page, `events` all events with their data, and
//! `wiring` builds the server. Then, along the path of a request: `http` (requests and responses), `access`
//! (authentication and authorization), `api` (operations, idempotency and the OpenAPI document), the features in the
//! order of the interface (`accounts`, `projects`, `meetings`, `analysis`, `reviews`, `trackers`), `db` (the database),
//! `jobs` (the job queue), `live` (sockets and event streams) and `clients` (other servers and files). Besides them:
//! `service` (health, metrics, documentation, join page), `operator` (what operators see and steer), `backup` (backup
//! and restore), `pipeline_jobs` (the pipeline as a service of its own: `colloquy pipeline`), `config`, `core`, `disk`
//! (its free space), `keys`, `log`, `models` (speech models on disk), `passwords`, `quotas` (how much may be stored),
//! `shared_state` (how the states of areas are declared),
//! `tasks` and `vital` (what must not end). The program, with the commands of an operator, is `src/bin/colloquy`.
//! Crates beside this one, in `crates/`, know no feature: `readers` (documents to text), `pipeline` (the analysis
//! itself), `speech` (recordings to segments) and `exports` (results as files).
//!
//! Invariants: a change that was confirmed in a response is durable. An event is published only after its change is
//! saved. A meeting and a run each have a single writer, their actor. A route whose handler has no policy in its
//! argument types does not compile. Only stores name tables.

// They panic where nothing can be written: see `log`.
#![deny(clippy::print_stdout, clippy::print_stderr)]

pub mod access;
pub mod accounts;
pub mod analysis;
pub mod api;
pub mod backup;
pub mod clients;
pub mod config;
pub mod core;
pub mod db;
mod disk;
pub mod events;
pub mod http;
pub mod jobs;
pub mod keys;
pub mod live;
pub mod log;
pub mod meetings;
pub mod metrics;
pub mod models;
pub mod operator;
pub mod passwords;
pub mod pipeline_jobs;
pub mod projects;
pub mod quotas;
pub mod reviews;
pub mod routes;
pub mod service;
mod shared_state;
pub mod tasks;
pub mod trackers;
pub mod vital;
pub mod wiring;
