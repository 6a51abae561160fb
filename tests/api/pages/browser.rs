//! A real browser that plays scenes on the pages; the scenes are in tests/fakes/scenes.

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::support::User;
use crate::support::builders::PASSWORD;
use crate::support::client::plain_http;
use crate::support::full::is_full;
use crate::support::node_program::NodeProgram;

/// Where the browser leaves pictures of every view that it looks at, if they are asked for: `COLLOQUY_TEST_PICTURES=1`.
const PICTURES: &str = concat!(env!("CARGO_TARGET_TMPDIR"), "/pictures");

/// A browser that plays scenes.
pub struct Browser {
    program: NodeProgram,
}

impl Browser {
    /// Starts a browser. `None`: this machine has none, and the test should return. Panics without Chromium in CI.
    pub fn start() -> Option<Self> {
        let pictures = if std::env::var_os("COLLOQUY_TEST_PICTURES").is_some() { PICTURES } else { "" };
        let program =
            NodeProgram::start("browser", &[("PICTURES", pictures), ("FULL", if is_full() { "1" } else { "" })])?;
        if program.announced["chromium"] != true {
            assert!(std::env::var_os("CI").is_none(), "no Chromium on this machine, and CI must have it");
            println!("SKIPPED: no Chromium on this machine");
            return None;
        }
        Some(Self { program })
    }

    /// Plays a scene to its end and returns what it found. Panics if the scene reports a fault.
    pub async fn plays(&self, scene: Value) -> Value {
        let url = format!("http://127.0.0.1:{}/", self.program.port("port"));
        let http = plain_http().build().unwrap();
        let answer = http.post(url).body(scene.to_string()).send().await.unwrap().text().await.unwrap();
        let mut answer: Value = serde_json::from_str(&answer).unwrap();
        assert_eq!(answer["faults"], json!([]), "{}", scene["scene"]);
        answer["found"].take()
    }
}

/// Returns what a user types to log in.
pub fn account(user: &User) -> Value {
    json!({"email": user.email, "password": PASSWORD})
}

/// Where a scene calls its story, to have something done that the scene can't do.
pub struct Story(TcpListener);

/// A call, which waits for its answer.
pub struct StoryCall(TcpStream);

impl Story {
    pub async fn listen() -> Self {
        Self(TcpListener::bind("127.0.0.1:0").await.unwrap())
    }

    pub fn url(&self) -> String {
        format!("http://{}/", self.0.local_addr().unwrap())
    }

    /// Waits for the next call.
    pub async fn called(&self) -> StoryCall {
        StoryCall(self.0.accept().await.unwrap().0)
    }
}

impl StoryCall {
    /// Lets the scene go on.
    pub async fn answer(mut self) {
        // The request is small, and nothing in it matters.
        let _ = self.0.read(&mut [0; 4096]).await.unwrap();
        self.0.write_all(b"HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n").await.unwrap();
    }
}
