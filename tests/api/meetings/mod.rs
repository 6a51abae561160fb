//! Meetings and Lifecycle.

mod create;
mod lifecycle;
mod race;
mod update;
