//! The live core of Colloquy: the actors that hold meetings and analysis runs, each with exactly one writer.
//!
//! **The rule: decide, save, then change, then publish.** A live entity is a pure state that decides commands
//! ([`live`]). One shell around it ([`shell`], the only module that names actix) saves the decision, and only then
//! makes the new state and its events visible. What was not saved did not happen. Commands that arrive during a save
//! wait in the mailbox; when the save is done they are decided one after the other and saved together.
//!
//! ```text
//!              ask(key, command)                              snapshot(key)
//!                     |                                            |
//!                 registry   one mailbox per key: find, wake, stop |   reads use no mailbox
//!                     |                                            |
//!   +-----------------v------------- shell ---------------------+  |
//!   | decide (pure) -> save (limit 2 s) -> snapshot -> publish  |  |
//!   |                        |                   |         |    |  |
//!   +------------------------|-------------------|---------|----+  |
//!                            v                   +---------|-------+
//!                         Journal (port)                   v
//!                     rows and events, one            hub: each topic in the order of its
//!                     transaction                     offsets, to bounded subscriptions
//! ```
//!
//! Modules in reading order: [`ids`], [`time`] and [`language`] hold basic types, [`wire_enum`] declares enumerations;
//! [`event_kind`] lists the events; [`live`] is the trait and the ports;
//! [`meeting`] and [`run`] are the two live entities, pure; [`shell`], [`registry`], [`hub`] and [`mailbox_metrics`]
//! run them.
//!
//! Deliberately absent: HTTP, queries, the media server. The application provides them through the ports [`live::Journal`],
//! [`hub::EventLog`] and [`time::Clock`]. With the feature `diesel` the basic types and the enumerations are values of
//! columns (`sql`), so that rows hold them as they are.

pub mod event_kind;
pub mod hub;
pub mod ids;
pub mod language;
pub mod live;
pub mod mailbox_metrics;
pub mod meeting;
mod panics;
pub mod registry;
pub mod run;
pub mod shell;
#[cfg(feature = "diesel")]
mod sql;
#[cfg(feature = "diesel")]
pub mod sql_types;
pub mod time;
mod wire;
