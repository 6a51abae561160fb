//! An HTTP server of a test's own, at a free port of this machine.

use actix_web::dev::ServerHandle;
use actix_web::{App, HttpServer, web};

/// A running server. It stops when this value is dropped.
pub struct LocalServer {
    handle: ServerHandle,
    pub port: u16,
}

impl LocalServer {
    /// Starts a server with these routes on a thread of its own.
    pub fn start(routes: impl Fn(&mut web::ServiceConfig) + Clone + Send + 'static) -> Self {
        Self::on(0, routes)
    }

    /// Starts on a given port, such as the one of an earlier server. Panics when the port is in use.
    pub fn on(port: u16, routes: impl Fn(&mut web::ServiceConfig) + Clone + Send + 'static) -> Self {
        let (run_on, started) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            actix_web::rt::System::new().block_on(async move {
                let server = HttpServer::new(move || App::new().configure(routes.clone()));
                let server = server.workers(1).disable_signals().bind(("127.0.0.1", port)).unwrap();
                let port = server.addrs()[0].port();
                let server = server.run();
                run_on.send((server.handle(), port)).unwrap();
                server.await.unwrap();
            });
        });
        let (handle, port) = started.recv().unwrap();
        Self { handle, port }
    }

    /// Stops the server; its port is free then.
    pub async fn stop(self) {
        self.handle.stop(false).await;
    }
}

impl Drop for LocalServer {
    fn drop(&mut self) {
        drop(self.handle.stop(false));
    }
}
