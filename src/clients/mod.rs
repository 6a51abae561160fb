//! Clients of external systems (files, media server, mail, OpenID provider), each behind a trait or a type of its own.

pub mod files;
pub mod livekit;
pub mod mail;
pub mod openid;
