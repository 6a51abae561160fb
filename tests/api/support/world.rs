//! The environment of a test: a server shared with other tests, or an empty folder and database of its own.

use std::future::Future;
use std::sync::OnceLock;

use super::client::Client;
use super::server::{Kind, Server, ServerSetup};

/// An environment that a test can take as its argument.
pub trait Where: Sized {
    /// Prepares the environment. Returns `None` when this machine has no such database; SKIPPED has been printed then.
    fn arrange(kind: Kind) -> Option<Self>;
}

/// A server that is shared by all tests of the process. Each test makes its own accounts and projects and must not
/// depend on others. Prints the end of the server's log when the test panics.
pub struct World {
    pub server: &'static Server,
    /// A client without a token.
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
        let server = shared.get_or_init(|| Some(ServerSetup::shared(kind)?.start(&[])));
        let server = server.as_ref()?;
        Some(Self { server, nobody: server.client() })
    }
}

impl Where for ServerSetup {
    fn arrange(kind: Kind) -> Option<Self> {
        Self::new(kind)
    }
}

/// Runs one test on a single-threaded runtime, or returns at once when the environment is not available.
pub fn run_on<W: Where, F: Future<Output = ()>>(kind: Kind, story: impl FnOnce(W) -> F) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    if let Some(setup) = W::arrange(kind) {
        runtime.block_on(story(setup));
    }
}

impl Drop for World {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.server.print_log();
        }
    }
}
