//! OTHERS: what is not ours to decide, each behind a trait or a type of its own.

pub mod files;
pub mod livekit;
pub mod mail;
pub mod openid;
