//! The settings as types; what each means is said in config/default.toml.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

use serde::Deserialize;

/// A text that is shown to nobody.
#[derive(Clone, Deserialize)]
#[serde(transparent)]
pub struct Hidden(String);

impl Hidden {
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Hidden {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("…")
    }
}

macro_rules! sections {
    ($($(#[$meta:meta])* $name:ident { $($field:ident: $kind:ty),* $(,)? })*) => {$(
        $(#[$meta])*
        #[derive(Debug, Clone, Deserialize)]
        pub struct $name { $(pub $field: $kind),* }
    )*};
}

sections! {
    Config {
        server: Server, internal: Internal, app: Application, database: Database, http: Http, limits: Limits,
        accounts: Accounts, mail: Mail, livekit: Livekit, analysis: Analysis, meetings: Meetings, sockets: Sockets, log: Log,
    }
    Server { listen: SocketAddr, data: PathBuf, workers: usize, drain_seconds: u64 }
    Internal { listen: SocketAddr }
    Application { url: String }
    Database { url: String, connections: usize, queue: usize }
    Http { trusted_proxies: Vec<IpAddr>, origins: Vec<String> }
    Limits {
        calls_per_minute: u32, logins_per_minute: u32, code_pause_seconds: u64, codes_per_hour: i64,
        codes_per_hour_and_client: i64, document_bytes: usize, documents_per_run: usize,
    }
    Accounts {
        access_token_seconds: u64, refresh_token_seconds: u64, code_seconds: u64, code_tries: i64,
        argon2_memory_kib: u32, argon2_passes: u32, argon2_parallel: usize, argon2_queue: usize,
    }
    Mail {
        host: String, port: u16, security: String, user: String, password: Hidden, from: String, timeout_seconds: u64,
        ca_file: PathBuf,
    }
    Livekit {
        url: String, api_url: String, api_key: String, api_secret: Hidden, timeout_seconds: u64, look_seconds: u64,
    }
    Analysis { workers: usize, readers: usize, idle_seconds: u64 }
    Meetings { people: usize, grace_seconds: u64, empty_seconds: u64, wordings: PathBuf }
    Sockets { ticket_seconds: u64, per_account: usize, window_frames: usize, window_bytes: usize }
    Log { filter: String, format: String }
}
