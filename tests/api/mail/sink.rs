//! The mail server of the tests, and the settings for a server to use it.

use std::path::Path;
use std::time::{Duration, Instant};

use actors::time::Time;
use colloquy::db::schema::jobs;
use colloquy::db::{DbError, RunQueryDsl};
use diesel::{ExpressionMethods, QueryDsl};
use serde_json::Value;

use crate::support::Server;
use crate::support::client::plain_http;
use crate::support::node_program::NodeProgram;

/// A mail server (`tests/fakes/mail.mjs`), which is killed when this is dropped.
pub struct Sink {
    program: NodeProgram,
    port: String,
}

impl Sink {
    /// Starts it with `settings` as environment variables. `None`: no Node on this machine.
    pub fn start(settings: &[(&str, &str)]) -> Option<Self> {
        let program = NodeProgram::start("mail", settings)?;
        let port = program.port("smtp").to_string();
        Some(Self { program, port })
    }

    /// Kills it: connections to its port are refused then.
    pub fn kill(&mut self) {
        self.program.kill();
    }

    /// Restarts it: on the same port, without its former settings and the e-mails it had.
    pub fn again(&mut self) {
        self.kill();
        self.program = NodeProgram::start("mail", &[("PORT", &self.port)]).unwrap();
    }

    /// Returns the settings for a server to send here in clear text.
    pub fn settings(&self) -> Vec<(&str, &str)> {
        vec![
            ("COLLOQUY__MAIL__HOST", "127.0.0.1"),
            ("COLLOQUY__MAIL__PORT", &self.port),
            ("COLLOQUY__MAIL__SECURITY", "NONE"),
            ("COLLOQUY__MAIL__FROM", "Colloquy <post@colloquy.example>"),
            ("COLLOQUY__MAIL__TIMEOUT_SECONDS", "5"),
        ]
    }

    /// Like [`Sink::settings`], with TLS or STARTTLS, and trusting a certificate.
    pub fn secured<'a>(&'a self, security: &'a str, ca: &'a Path) -> Vec<(&'a str, &'a str)> {
        let mut settings = self.settings();
        settings.retain(|(name, _)| *name != "COLLOQUY__MAIL__SECURITY");
        settings.push(("COLLOQUY__MAIL__SECURITY", security));
        settings.push(("COLLOQUY__MAIL__CA_FILE", ca.to_str().unwrap()));
        settings
    }

    async fn ask(&self, path: &str) -> Vec<Value> {
        let url = format!("http://127.0.0.1:{}{path}", self.program.port("window"));
        let answer = plain_http().build().unwrap().get(url).send().await.unwrap();
        answer.json().await.unwrap()
    }

    /// Returns the e-mails to an address that were accepted.
    pub async fn letters(&self, email: &str) -> Vec<Value> {
        let mut all = self.ask("/letters").await;
        all.retain(|letter| letter["to"][0] == email);
        all
    }

    /// Returns the connections and commands it received, in their order.
    pub async fn received(&self) -> Vec<String> {
        self.ask("/heard").await.iter().map(|line| line.as_str().unwrap().to_owned()).collect()
    }

    /// Waits until there are `count` e-mails to an address, and returns all of them. Panics after 30 s.
    pub async fn wait_for(&self, email: &str, count: usize) -> Vec<Value> {
        let deadline = Instant::now() + Duration::from_secs(30);
        loop {
            let found = self.letters(email).await;
            if found.len() >= count {
                return found;
            }
            assert!(Instant::now() < deadline, "{found:?}; {:?}", self.received().await);
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Waits for `count` connections. Panics after 30 s.
    pub async fn wait_for_calls(&self, count: usize) {
        let deadline = Instant::now() + Duration::from_secs(30);
        loop {
            let received = self.received().await;
            if received.iter().filter(|line| *line == "CONNECT").count() >= count {
                return;
            }
            assert!(Instant::now() < deadline, "{received:?}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}

/// Returns the errors of the remaining mail jobs, and whether they have failed for good.
pub async fn unsent(server: &Server) -> Vec<(Option<String>, bool)> {
    let db = server.db().await;
    let left = db.read(|conn| {
        Box::pin(async move {
            let left = jobs::table.filter(jobs::kind.eq("mail")).select((jobs::last_error, jobs::failed_at));
            Ok::<Vec<(Option<String>, Option<Time>)>, DbError>(left.load(conn).await?)
        })
    });
    left.await.unwrap().into_iter().map(|(error, failed_at)| (error, failed_at.is_some())).collect()
}

/// Waits until a mail job has an error. Returns the error, and whether the job has failed for good. Panics after 30 s.
pub async fn wait_for_error(server: &Server) -> (String, bool) {
    let deadline = Instant::now() + Duration::from_secs(30);
    loop {
        let found = unsent(server).await.into_iter().find_map(|(error, for_good)| Some((error?, for_good)));
        if let Some(found) = found {
            return found;
        }
        assert!(Instant::now() < deadline, "no mail has an error: {:?}", unsent(server).await);
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
