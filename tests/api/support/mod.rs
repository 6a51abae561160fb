//! The support library of the API tests: servers, clients, databases, builders.

pub mod browser;
pub mod bucket;
pub mod builders;
pub mod certificates;
pub mod chance;
pub mod client;
pub mod documents;
pub mod dump;
pub mod fake_pipeline;
pub mod fake_tracker;
pub mod frames;
pub mod full;
pub mod github;
pub mod jira;
pub mod livekit;
pub mod llm_service;
pub mod local_server;
pub mod memory;
pub mod messages;
pub mod node_program;
pub mod outbox;
pub mod patience;
pub mod pipeline_service;
#[path = "../../support/postgres.rs"]
pub mod postgres;
pub mod programs;
pub mod real_livekit;
pub mod recorded_llm;
pub mod schemas;
pub mod server;
pub mod shape;
pub mod slow;
pub mod small_disk;
pub mod socket;
pub mod speech_service;
pub mod tables;
pub mod wire;
pub mod world;

pub use builders::{Role, User};
pub use client::{Answer, Client};
pub use server::{Kind, Server, ServerSetup};
pub use socket::Socket;
pub use world::World;

/// The tests of one story: `name::sqlite`, `name::postgres`.
macro_rules! tests_of_story {
    ({$($test:ident: $kind:ident),+}) => {$(
        #[test]
        fn $test() {
            $crate::support::world::run_on($crate::support::Kind::$kind, story);
        }
    )+};
}

macro_rules! stories {
    ($kinds:tt $($(#[doc = $doc:literal])* async fn $name:ident($($arg:ident)+: $where:ty) $body:block)*) => {$(
        mod $name {
            #[allow(unused_imports, clippy::allow_attributes, reason = "not every story needs its neighbours")]
            use super::*;
            $(#[doc = $doc])*
            async fn story($($arg)+: $where) $body
            tests_of_story! { $kinds }
        }
    )*};
}

/// Defines tests that run on SQLite and on PostgreSQL.
///
/// The argument type of a test selects its environment: a [`World`] is a running server shared with other tests, a
/// [`ServerSetup`] is an empty folder and database on which the test starts servers of its own.
macro_rules! on_both {
    ($($stories:tt)*) => { stories! { {sqlite: Sqlite, postgres: Postgres} $($stories)* } };
}

/// As `on_both!`, on SQLite alone: for stories in which the database has no part of its own, such as those of pages and
/// mails.
macro_rules! on_sqlite {
    ($($stories:tt)*) => { stories! { {sqlite: Sqlite} $($stories)* } };
}
