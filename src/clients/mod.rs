//! Clients of external systems (files, media server, mail, OpenID provider, speech
//! service, language model), each behind a trait or a type of its own.

pub mod files;
pub mod livekit;
pub mod llm;
pub mod mail;
pub mod openid;
pub mod pipeline;
pub mod printer;
pub mod speech;
