//! Colloquy: the backend that turns conversations into requirements.
//!
//! ```text
//!            http            access           <feature>/routes        <feature>/operations
//! request --> read, limits --> who may -------> what came ------------> what to do, in order
//!                                                                        |            |
//!                                                             actors decide        store keeps
//!                                                             (meeting, run)     (rows and events)
//!                                                                        |            |
//! answer  <-- envelope                sockets, streams <-- live <-- hub <-- after COMMIT
//! ```
//! Modules in reading order: `routes` is the whole interface on one page, `wiring` builds everything. Then the flow: `http`
//! (in), `access` (who), the features in the interface's order (`accounts`, `projects`, `meetings`, `analysis`), `pipeline` (the
//! analysis itself, which knows none of them), `db` (keep), `jobs` (later), `live` (out), `outside` (others). Beside the flow: `service` (the service about itself),
//! `config`, `log`, `passwords`, `tasks`, and `trust`: what must hold, and the test that shows it. The program alone, not this
//! library, has `admin`, `demo` and `bench`, and the `client` that the last two speak through.
//!
//! Invariants: what was answered is durable; what was not saved is not told; a meeting and a run have one writer, their
//! actor; a handler without a permission in its type does not compile into a route; only stores name tables.

pub mod access;
pub mod accounts;
pub mod analysis;
pub mod api;
pub mod config;
pub mod core;
pub mod db;
pub mod http;
pub mod jobs;
pub mod keys;
pub mod live;
pub mod log;
pub mod meetings;
mod metrics;
pub mod outside;
pub mod passwords;
pub mod pipeline;
pub mod projects;
pub mod routes;
pub mod service;
pub mod tasks;
pub mod trust;
pub mod wiring;
