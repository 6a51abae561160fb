//! The live core of Colloquy: what outlasts a request and has exactly one writer.
//!
//! **The rule: decide, save, then change, then tell.** A live thing is a pure state that decides commands
//! ([`live`]). One shell around it ([`shell`], the only file that names actix) saves what was decided, and only
//! then lets anyone see or hear of it. What was not saved did not happen. Commands that wait while it saves are decided
//! one after the other when it is done, and saved together.
//!
//! ```text
//!              ask(key, command)                              snapshot(key)
//!                     |                                            |
//!                  keeper    one mailbox a key: find, wake, sleep  |   reads take no mailbox
//!                     |                                            |
//!   +-----------------v------------- shell ---------------------+  |
//!   | decide (pure)  ->  save (limit 2 s)  ->  publish  ->  tell|  |
//!   |                        |                   |         |    |  |
//!   +------------------------|-------------------|---------|----+  |
//!                            v                   +---------|-------+
//!                         Journal (port)                   v
//!                     rows and events, one            hub: each topic in the order of its
//!                     transaction                     offsets, to bounded subscriptions
//! ```
//!
//! Modules in reading order: [`ids`], [`time`], [`words`] are the small change; [`live`] is the trait and the ports;
//! [`meeting`] and [`run`] are the two live things, pure; [`shell`], [`keeper`], [`hub`] and [`watch`] run them.
//!
//! Deliberately absent: HTTP, SQL, the media server. This crate is given its world by the ports
//! [`live::Journal`], [`hub::EventLog`] and [`time::Clock`].

pub mod hub;
pub mod ids;
pub mod keeper;
pub mod live;
pub mod meeting;
mod panics;
pub mod run;
pub mod shell;
pub mod time;
pub mod watch;
pub mod words;
