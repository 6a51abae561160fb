//! Tests meetings and their lifecycle.

mod create;
mod lifecycle;
mod race;
mod update;
