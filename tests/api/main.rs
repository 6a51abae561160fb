//! Tests of the API from outside: the real program on both databases, called over HTTP.
//!
//! All tests are in one binary, because each binary links the whole service. A test is written once, in `on_both!`, and
//! runs on SQLite and on PostgreSQL. `support` has the server, the client (which checks of every response what must
//! hold for all of them) and the builders.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests: what can't be is to end the story, loudly"
)]

#[macro_use]
mod support;

mod accounts;
mod admin;
mod analysis;
mod backup;
mod docs;
mod doubt;
mod jobs;
mod kill;
mod lease;
mod live;
mod mail;
mod meetings;
mod openapi;
mod openapi_story;
mod openapi_texts;
mod operator;
mod pages;
mod permissions;
mod pipeline_jobs;
mod projects;
mod quotas;
mod quotas_again;
mod reviews;
mod server;
mod smoke;
mod statements;
mod stored_files;
mod sweeps;
mod trackers;
