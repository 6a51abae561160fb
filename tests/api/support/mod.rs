//! What stories are told with.

pub mod browser;
pub mod builders;
pub mod certificates;
pub mod chance;
pub mod client;
pub mod documents;
pub mod dump;
pub mod livekit;
pub mod memory;
pub mod outbox;
pub mod parts;
#[path = "../../support/postgres.rs"]
pub mod postgres;
pub mod says;
pub mod server;
pub mod shape;
pub mod socket;
pub mod tables;
pub mod world;

pub use builders::{Role, User};
pub use client::{Answer, Client};
pub use server::{Kind, Place, Server};
pub use socket::Socket;
pub use world::World;

/// Tells stories on SQLite and on PostgreSQL: `name::sqlite` and `name::postgres`.
///
/// What a story takes says where it is told: a [`World`] is a server shared with other stories, a [`Place`] is empty and
/// starts its own.
macro_rules! on_both {
    ($($(#[doc = $doc:literal])* async fn $name:ident($($arg:ident)+: $where:ty) $body:block)*) => {$(
        mod $name {
            #[allow(unused_imports, clippy::allow_attributes, reason = "not every story needs its neighbours")]
            use super::*;
            $(#[doc = $doc])*
            async fn story($($arg)+: $where) $body
            #[test]
            fn sqlite() {
                $crate::support::world::tell($crate::support::Kind::Sqlite, story);
            }
            #[test]
            fn postgres() {
                $crate::support::world::tell($crate::support::Kind::Postgres, story);
            }
        }
    )*};
}
