//! The attackers: who they are, and how many of each kind. Their responses are not checked.

use std::net::SocketAddr;
use std::sync::Arc;

use api_client::caller::ApiClient;
use tokio::task::JoinSet;

use super::super::wire::request;
use super::connections::{again_and_again, leave_unread, odd_methods, stall, trickle};
use super::strangers::Stranger;
use super::workbooks;

/// Number of attackers of each kind.
const AUTHORS: usize = 2;
const STALLED: usize = 40;
const UNREAD: usize = 20;
const ODD: usize = 2;
const SLOW: usize = 20;

/// The target, and the accounts for the attackers that need one.
pub struct Attack {
    pub server: SocketAddr,
    pub callers: Vec<ApiClient>,
}

impl Attack {
    /// Number of accounts needed: one whose token is sent with stalled bodies and unread requests, those who write documents,
    /// one who imports, one who searches and one who makes items large.
    pub const ACCOUNTS: usize = 1 + AUTHORS + 3;

    /// Starts all attackers; they stop when the returned set is dropped.
    ///
    /// # Errors
    /// Returns a message if the preparation fails.
    pub async fn begin(self) -> Result<JoinSet<()>, String> {
        let mut all = JoinSet::new();
        let mut callers = self.callers.into_iter();
        let mut next = || callers.next().ok_or("there is no account");
        let reader = next()?;
        let token = reader.token.clone().unwrap_or_default();
        let text = Stranger::with_project(reader).await?.long_text().await?;
        for _ in 0..AUTHORS {
            all.spawn(Stranger::with_project(next()?).await?.write_documents());
        }
        let hostile = tokio::task::spawn_blocking(workbooks::hostile).await.map_err(|error| error.to_string())??;
        all.spawn(Stranger::with_items(next()?).await?.import(Arc::new(hostile)));
        all.spawn(Stranger::with_words(next()?).await?.misspell());
        all.spawn(Stranger::with_items(next()?).await?.fatten());
        let body = "x".repeat(15_000);
        let log_in = format!(
            "POST /api/auth/login HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 16000\r\n\r\n{body}"
        );
        let create = format!(
            "POST /api/projects HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {token}\r\ncontent-type: application/json\r\n\
             content-length: 1048576\r\n\r\n{}",
            " ".repeat(500_000)
        );
        for number in 0..STALLED {
            let started = if number % 2 == 0 { log_in.clone() } else { create.clone() };
            all.spawn(again_and_again(self.server, number, move |stream| stall(stream, started.clone())));
        }
        for number in 0..UNREAD {
            let path = if number % 2 == 0 { text.clone() } else { "/api/openapi.json".to_owned() };
            let ask = request("GET", &path, &token, "", "");
            all.spawn(again_and_again(self.server, 100 + number, move |stream| leave_unread(stream, ask.clone())));
        }
        for number in 0..ODD {
            all.spawn(again_and_again(self.server, 150 + number, odd_methods));
        }
        for number in 0..SLOW {
            all.spawn(again_and_again(self.server, 160 + number, trickle));
        }
        Ok(all)
    }
}
