//! A real browser that plays scenes on the pages; the scenes are in tests/parts/scenes.

use serde_json::{Value, json};

use crate::support::User;
use crate::support::builders::PASSWORD;
use crate::support::parts::Part;

/// Where the browser leaves pictures of every view that it looks at.
const PICTURES: &str = concat!(env!("CARGO_TARGET_TMPDIR"), "/pictures");

/// A browser that plays scenes.
pub struct Browser {
    part: Part,
}

impl Browser {
    /// Starts a browser. `None`: this machine has none, and the test should return. Panics without Chromium in CI.
    pub fn start() -> Option<Self> {
        let part = Part::start("browser", &[("PICTURES", PICTURES)])?;
        if part.announced["chromium"] != true {
            assert!(std::env::var_os("CI").is_none(), "no Chromium on this machine, and CI must have it");
            println!("SKIPPED: no Chromium on this machine");
            return None;
        }
        Some(Self { part })
    }

    /// Plays a scene to its end and returns what it found. Panics if the scene reports a fault.
    pub async fn plays(&self, scene: Value) -> Value {
        let url = format!("http://127.0.0.1:{}/", self.part.port("port"));
        let http = reqwest::Client::builder().no_proxy().build().unwrap();
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
