//! The baseline: a server that only sends the same bytes, without checks, a log, or headers of its own. The difference
//! to it is the cost of the product's own work.

use std::net::SocketAddr;
use std::sync::mpsc;

use actix_web::dev::ServerHandle;
use actix_web::http::StatusCode;
use actix_web::{App, HttpResponse, HttpServer, web};
use bytes::Bytes;

/// A response that is sent again and again.
#[derive(Clone)]
pub struct Same {
    pub headers: Vec<(String, String)>,
    pub body: Bytes,
}

impl Same {
    /// Takes the headers from a response's head, except those that the framework adds itself.
    pub fn of(head: &[u8], body: &[u8]) -> Self {
        let lines = head.split(|byte| *byte == b'\n').filter_map(|line| std::str::from_utf8(line).ok());
        let own = |name: &str| !matches!(name.to_ascii_lowercase().as_str(), "content-length" | "date" | "connection");
        let fields = lines.filter_map(|line| line.split_once(':')).filter(|(name, _)| own(name));
        let headers = fields.map(|(name, value)| (name.to_owned(), value.trim().to_owned())).collect();
        Self { headers, body: Bytes::copy_from_slice(body) }
    }

    fn answer(&self) -> HttpResponse {
        let mut answer = HttpResponse::build(StatusCode::OK);
        for (name, value) in &self.headers {
            answer.insert_header((name.as_str(), value.as_str()));
        }
        answer.body(self.body.clone())
    }
}

pub struct Bare {
    pub address: SocketAddr,
    handle: ServerHandle,
}

impl Bare {
    /// Starts the server on threads of its own, with the framework's default number of workers, as the product has by
    /// default.
    ///
    /// # Errors
    /// Returns a message if it can't be started.
    pub fn start(same: Same) -> Result<Self, String> {
        let (started, starting) = mpsc::channel();
        std::thread::spawn(move || {
            let ran = actix_web::rt::System::new().block_on(async {
                let server = HttpServer::new(move || {
                    let same = same.clone();
                    App::new().default_service(web::to(move || {
                        let answer = same.answer();
                        async move { answer }
                    }))
                });
                let server = server.disable_signals().bind("127.0.0.1:0").map_err(|error| error.to_string())?;
                let address = server.addrs().first().copied().ok_or("no address")?;
                let server = server.run();
                // The receiver exists until it has received this message.
                let _ = started.send(Ok(Self { address, handle: server.handle() }));
                server.await.map_err(|error| error.to_string())
            });
            if let Err(why) = ran {
                let _ = started.send(Err(format!("The bare server can't be started: {why}")));
            }
        });
        starting.recv().map_err(|error| error.to_string())?
    }

    pub async fn stop(self) {
        self.handle.stop(false).await;
    }
}
