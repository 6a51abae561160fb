//! Where a story is told: on a server that stories share, or in a place of its own.

use std::future::Future;
use std::sync::OnceLock;

use super::client::Client;
use super::server::{Kind, Place, Server};

/// What a story can be given.
pub trait Where: Sized {
    /// `None`: this machine has no such database, and said so.
    fn arrange(kind: Kind) -> Option<Self>;
}

/// A server that stories share. Each makes its own accounts and projects, and looks at no others.
pub struct World {
    pub server: &'static Server,
    /// Nobody in particular.
    pub nobody: Client,
}

impl Where for World {
    fn arrange(kind: Kind) -> Option<Self> {
        static SQLITE: OnceLock<Option<Server>> = OnceLock::new();
        static POSTGRES: OnceLock<Option<Server>> = OnceLock::new();
        let shared = match kind {
            Kind::Sqlite => &SQLITE,
            Kind::Postgres => &POSTGRES,
        };
        let server = shared.get_or_init(|| Some(Place::shared(kind)?.start(&[])));
        let server = server.as_ref()?;
        Some(Self { server, nobody: server.client() })
    }
}

impl Where for Place {
    fn arrange(kind: Kind) -> Option<Self> {
        Self::new(kind)
    }
}

/// Tells one story.
pub fn tell<W: Where, F: Future<Output = ()>>(kind: Kind, story: impl FnOnce(W) -> F) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    if let Some(place) = W::arrange(kind) {
        runtime.block_on(story(place));
    }
}

impl Drop for World {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.server.print_log();
        }
    }
}
