//! A real LiveKit server for tests, where COLLOQUY_TEST_LIVEKIT names its program; elsewhere a test prints SKIPPED and
//! ends. It is not installed by the tests: its programs are not in a package.

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::client::plain_http;
use super::livekit::{KEY, SECRET};
use super::programs::{Program, free_ports};
use super::server::Server;

const START: Duration = Duration::from_secs(30);

/// The address of a server that is started later, so that our own server can be told of it first.
pub struct RealLiveKit {
    program: PathBuf,
    port: u16,
    url: String,
    running: Option<Program>,
}

impl RealLiveKit {
    /// Returns `None` without the program on this machine: the test should return then.
    pub fn new() -> Option<Self> {
        let named = std::env::var_os("COLLOQUY_TEST_LIVEKIT").map(PathBuf::from).filter(|file| file.is_file());
        let Some(program) = named else {
            println!("SKIPPED: COLLOQUY_TEST_LIVEKIT names no LiveKit server");
            return None;
        };
        let [port] = free_ports();
        Some(Self { program, port, url: format!("ws://127.0.0.1:{port}"), running: None })
    }

    /// The settings with which our server uses it.
    pub fn settings(&self) -> [(&str, &str); 3] {
        [
            ("COLLOQUY__LIVEKIT__URL", self.url.as_str()),
            ("COLLOQUY__LIVEKIT__API_KEY", KEY),
            ("COLLOQUY__LIVEKIT__API_SECRET", SECRET),
        ]
    }

    /// Starts it, with webhooks to our server. Panics when it does not answer within 30 s.
    pub async fn start(&mut self, server: &Server) {
        static LAST: AtomicU32 = AtomicU32::new(0);
        let number = LAST.fetch_add(1, Ordering::Relaxed);
        let home = std::env::temp_dir().join(format!("colloquy-livekit-{}-{number}", std::process::id()));
        fs::create_dir_all(&home).unwrap();
        let [tcp, udp] = free_ports();
        let config = json!({
            "port": self.port,
            "bind_addresses": ["127.0.0.1"],
            "rtc": {"tcp_port": tcp, "udp_port": udp, "use_external_ip": false, "node_ip": "127.0.0.1", "enable_loopback_candidate": true},
            "keys": {KEY: SECRET},
            "webhook": {"api_key": KEY, "urls": [format!("http://{}/api/webhooks/livekit", server.public)]},
            "logging": {"level": "info"},
        });
        // JSON is YAML.
        let file = home.join("config.yaml");
        fs::write(&file, config.to_string()).unwrap();
        let arguments = ["--config".to_owned(), file.display().to_string()];
        self.running = Some(Program::run(home, &self.program, &arguments));
        let http = plain_http().build().unwrap();
        let deadline = Instant::now() + START;
        while http.get(format!("http://127.0.0.1:{}/", self.port)).send().await.is_err() {
            assert!(Instant::now() < deadline, "LiveKit doesn't start: {}", self.log());
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// The URL of a call of its RoomService.
    pub fn twirp(&self, method: &str) -> String {
        format!("http://127.0.0.1:{}/twirp/livekit.RoomService/{method}", self.port)
    }

    pub fn log(&self) -> String {
        self.running.as_ref().map(Program::log).unwrap_or_default()
    }

    /// The events that it has sent to our server, in order, as its log has them.
    pub fn webhooks(&self) -> Vec<String> {
        let log = self.log();
        let sent = log.lines().filter(|line| line.contains("sent webhook"));
        sent.filter_map(|line| {
            let json: Value = serde_json::from_str(&line[line.find('{')?..]).ok()?;
            json["event"].as_str().map(str::to_owned)
        })
        .collect()
    }
}
