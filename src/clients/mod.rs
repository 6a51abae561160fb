//! Clients of external systems (files, media server, mail, OpenID provider, speech
//! service, language model, issue trackers), each behind a trait or a type of its own.

pub mod files;
pub mod livekit;
pub mod llm;
pub mod mail;
pub mod openid;
pub mod pipeline;
pub mod printer;
mod retry_after;
pub mod speech;
pub mod trackers;

/// Describes an error without its URL: a query may contain secrets.
fn without_url(error: reqwest::Error) -> String {
    let error = error.without_url();
    let mut said = error.to_string();
    let mut cause = std::error::Error::source(&error);
    while let Some(inner) = cause {
        said = format!("{said}: {inner}");
        cause = inner.source();
    }
    said
}
