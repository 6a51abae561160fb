//! The pipeline as a service in a process of its own (`colloquy pipeline`), on a port and a folder that outlive it.

use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use super::client::Client;
use super::programs::free_ports;
use super::server::{CONFIG, Watchdog, answer_of, folder, refusal};

/// The service key of the tests.
pub const KEY: &str = "a-service-key-of-the-stories-0123456789";
const START: Duration = Duration::from_secs(40);

/// The folder and the port of a pipeline service, on which a test starts one process after another.
pub struct PipelineSetup {
    pub data: PathBuf,
    pub url: String,
    port: u16,
}

impl PipelineSetup {
    pub fn new() -> Self {
        let [port] = free_ports();
        Self { data: folder(), url: format!("http://127.0.0.1:{port}"), port }
    }

    /// Returns the settings with which a server sends its runs there.
    pub fn settings(&self) -> Vec<(&str, &str)> {
        vec![
            ("COLLOQUY__PIPELINE__MODE", "remote"),
            ("COLLOQUY__PIPELINE__URL", &self.url),
            ("COLLOQUY__PIPELINE__KEY", KEY),
        ]
    }

    fn command(&self, port: u16, extra: &[(&str, &str)]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_colloquy"));
        let own = std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("COLLOQUY__"));
        own.for_each(|(name, _)| {
            command.env_remove(name);
        });
        command.env_remove("DATABASE_URL").env_remove("RUST_LOG").current_dir(&self.data);
        command.args(["pipeline", "--config", CONFIG, "--listen", &format!("127.0.0.1:{port}"), "--data"]);
        command.arg(&self.data).env("COLLOQUY__PIPELINE__KEY", KEY).envs(extra.iter().copied());
        command
    }

    /// Starts the service and waits until it listens.
    pub fn start(&self, extra: &[(&str, &str)]) -> RunningPipeline {
        static STARTS: AtomicU32 = AtomicU32::new(0);
        let start = STARTS.fetch_add(1, Ordering::Relaxed);
        let (out, log) = (self.data.join(format!("{start}.out")), self.data.join(format!("{start}.log")));
        let mut command = self.command(self.port, extra);
        command.stdin(Stdio::null()).stdout(File::create(&out).unwrap()).stderr(File::create(&log).unwrap());
        let child = command.spawn().unwrap();
        let watchdog = Watchdog::over(child.id(), None);
        let mut running = RunningPipeline { child: Some(child), watchdog, log, url: self.url.clone() };
        let deadline = Instant::now() + START;
        while !fs::read_to_string(&out).unwrap().ends_with('\n') {
            let ended = running.child.as_mut().unwrap().try_wait().unwrap();
            assert!(ended.is_none() && Instant::now() < deadline, "it does not start: {}", running.written_log());
            std::thread::sleep(Duration::from_millis(5));
        }
        running
    }

    /// Runs a service, on any free port, that must refuse to start; returns what it says.
    pub fn refused(&self, extra: &[(&str, &str)]) -> String {
        let (status, said) = refusal(self.command(0, extra));
        assert!(status.code().is_some_and(|code| code != 0), "{status}: {said}");
        said
    }
}

impl Drop for PipelineSetup {
    fn drop(&mut self) {
        // A folder that can't be removed stays in the system's temporary folder.
        let _ = fs::remove_dir_all(&self.data);
    }
}

/// A running pipeline service. It is killed when this value is dropped.
pub struct RunningPipeline {
    child: Option<Child>,
    watchdog: Watchdog,
    log: PathBuf,
    url: String,
}

impl RunningPipeline {
    pub fn pid(&self) -> u32 {
        self.child.as_ref().unwrap().id()
    }

    /// Returns a client with the service key.
    pub fn client(&self) -> Client {
        self.nobody().bearing(KEY)
    }

    /// Returns a client without a key.
    pub fn nobody(&self) -> Client {
        Client::at(self.url.clone())
    }

    /// Returns the log with all lines of before, which are written a moment later. Its filter must let requests be logged.
    pub fn read_log(&self) -> String {
        static MARKS: AtomicU32 = AtomicU32::new(0);
        let mark = format!("mark-{}", MARKS.fetch_add(1, Ordering::Relaxed));
        let address = self.url.trim_start_matches("http://").parse().unwrap();
        answer_of(address, &format!("GET /health/live HTTP/1.1\r\nhost: x\r\nx-request-id: {mark}")).unwrap();
        let deadline = Instant::now() + START;
        while !self.written_log().contains(&mark) {
            assert!(Instant::now() < deadline, "the log lacks lines: {}", self.written_log());
            std::thread::sleep(Duration::from_millis(5));
        }
        self.written_log()
    }

    fn written_log(&self) -> String {
        fs::read_to_string(&self.log).unwrap_or_default()
    }

    /// Kills the service, as a crash does.
    pub fn kill(mut self) {
        self.end();
    }

    /// Stops the service and returns whether it ended well.
    pub fn stop(mut self) -> bool {
        let sent = Command::new("kill").arg("-TERM").arg(self.pid().to_string()).status().unwrap();
        assert!(sent.success());
        let ended = self.child.as_mut().unwrap().wait().unwrap();
        self.end();
        ended.success()
    }

    fn end(&mut self) {
        if let Some(mut child) = self.child.take() {
            // It may have exited by itself.
            let _ = child.kill();
            let _ = child.wait();
            self.watchdog.dismiss();
        }
    }
}

impl Drop for RunningPipeline {
    fn drop(&mut self) {
        if std::thread::panicking() {
            println!("--- the log of the pipeline service:\n{}---", self.written_log());
        }
        self.end();
    }
}
