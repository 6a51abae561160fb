//! Tests meetings: their lifecycle, and in a module each what belongs to them.

mod consents;
mod create;
pub mod invitations;
mod lifecycle;
mod media;
pub mod participants;
mod race;
pub mod recordings;
pub mod transcripts;
mod update;
