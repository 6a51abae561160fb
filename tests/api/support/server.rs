//! The real server program in a process of its own: started on free ports, killed when it is dropped.

use std::fs::{self, File};
use std::io::Write;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use colloquy::db::{Db, DbSettings};

use super::client::Client;
use super::memory::{self, Limited, Memory};
use super::postgres::{self, Cluster};

/// The database that a test runs on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Sqlite,
    Postgres,
}

/// The public URL of the application in links and tokens, independent of the server's port.
pub const APP_URL: &str = "http://app.colloquy.test";

pub(super) const CONFIG: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/config/test.toml");
/// The timeout of a start, which on PostgreSQL may have to wait until another server's lease expires, after 10 s.
const START: Duration = Duration::from_secs(40);

/// A data folder and a database, both empty at first, on which a test starts one server after another.
pub struct ServerSetup {
    pub kind: Kind,
    pub data: PathBuf,
    /// The value of `DATABASE_URL`; `None` is SQLite in the folder.
    pub url: Option<String>,
    /// Whether the folder is removed when the test process ends instead of when this value is dropped.
    shared: bool,
    /// Whether a server was killed since the last start.
    was_killed: Arc<AtomicBool>,
}

impl ServerSetup {
    /// Creates an empty folder and, on PostgreSQL, an empty schema. Returns `None` when this machine has no PostgreSQL.
    pub fn new(kind: Kind) -> Option<Self> {
        let url = match kind {
            Kind::Sqlite => None,
            Kind::Postgres => Some(postgres::schema().unwrap()?),
        };
        Some(Self { kind, data: folder(), url, shared: false, was_killed: Arc::default() })
    }

    /// Creates one on a PostgreSQL cluster of the test's own, which it may kill.
    pub fn on(cluster: &Cluster) -> Self {
        let url = Some(cluster.schema().unwrap());
        Self { kind: Kind::Postgres, data: folder(), url, shared: false, was_killed: Arc::default() }
    }

    /// As [`ServerSetup::new`], but the folder stays until the test process ends.
    pub fn shared(kind: Kind) -> Option<Self> {
        let mut setup = Self::new(kind)?;
        setup.shared = true;
        Some(setup)
    }

    /// Returns the command that starts a server on it, with `extra` environment variables, such as
    /// `("COLLOQUY__HTTP__ORIGINS", "…")`.
    pub fn command(&self, extra: &[(&str, &str)]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_colloquy"));
        // Settings in the developer's environment must not affect the tests.
        let own = std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("COLLOQUY__"));
        own.for_each(|(name, _)| {
            command.env_remove(name);
        });
        command.env_remove("DATABASE_URL").env_remove("RUST_LOG");
        command.args(["serve", "--config", CONFIG, "--data"]).arg(&self.data).current_dir(&self.data);
        command.env("COLLOQUY__APP__URL", APP_URL);
        if let Some(url) = &self.url {
            command.env("DATABASE_URL", url);
        }
        command.envs(extra.iter().copied());
        command
    }

    /// Starts a server and waits until it is ready. Panics when that takes longer than 40 s.
    pub fn start(&self, extra: &[(&str, &str)]) -> Server {
        let server = self.begin(extra);
        server.wait_until_ready();
        server
    }

    /// As [`ServerSetup::start`], with an address space of `mebibytes` MiB for the server's process, which aborts when
    /// it allocates more. Its child processes (parsers of documents) inherit the limit and may set another one.
    pub fn start_within(&self, mebibytes: u64, extra: &[(&str, &str)]) -> Server {
        self.start_limited(Limited::Addresses, mebibytes, extra)
    }

    /// As [`ServerSetup::start`], with [`memory::SMALL`] for what the server's process has of its own.
    pub fn start_small(&self, extra: &[(&str, &str)]) -> Server {
        self.start_limited(Limited::Own, memory::SMALL, extra)
    }

    fn start_limited(&self, what: Limited, mebibytes: u64, extra: &[(&str, &str)]) -> Server {
        let server = self.begin_with(memory::limited(&self.command(extra), what, mebibytes));
        server.wait_until_ready();
        server
    }

    /// Starts a server and returns as soon as it listens, before it is ready. Panics when it exits, or does not listen
    /// within 40 s.
    pub fn begin(&self, extra: &[(&str, &str)]) -> Server {
        self.begin_with(self.command(extra))
    }

    /// As [`ServerSetup::begin`], with a command of the test's own.
    pub fn begin_with(&self, mut command: Command) -> Server {
        static STARTS: AtomicU32 = AtomicU32::new(0);
        if let Some(url) = self.url.as_ref().filter(|_| self.was_killed.swap(false, Ordering::SeqCst)) {
            // Its process has ended, so the ten seconds until its lease expires protect nothing. The stories that are about
            // them wait: `a_server_suspended_past_its_lease_saves_no_write_and_exits`, and `a_killed_servers_lease_runs_out`.
            postgres::release_lease(url);
        }
        let start = STARTS.fetch_add(1, Ordering::Relaxed);
        let (out, log) = (self.data.join(format!("{start}.out")), self.data.join(format!("{start}.log")));
        // The tests' own settings have no such lines.
        let filter =
            command.get_envs().find(|(name, _)| *name == "COLLOQUY__LOG__FILTER").and_then(|(_, filter)| filter);
        let filter = filter.map_or_else(Default::default, |filter| filter.to_string_lossy());
        let logs_requests = ["info", "debug", "trace"].iter().any(|level| filter.contains(level));
        command.stdin(Stdio::null()).stdout(File::create(&out).unwrap()).stderr(File::create(&log).unwrap());
        let child = command.spawn().unwrap();
        let watchdog = Watchdog::over(child.id(), self.shared.then_some(self.data.as_path()));
        let mut server = Server {
            kind: self.kind,
            data: self.data.clone(),
            url: self.url.clone(),
            public: ([0, 0, 0, 0], 0).into(),
            internal: ([0, 0, 0, 0], 0).into(),
            log,
            logs_requests,
            child: Some(child),
            watchdog,
            db: OnceLock::new(),
            was_killed: Arc::clone(&self.was_killed),
        };
        let deadline = Instant::now() + START;
        loop {
            let printed = fs::read_to_string(&out).unwrap();
            let address = |name: &str| {
                let line = printed.lines().find_map(|line| line.strip_prefix(name))?;
                line.parse::<SocketAddr>().ok()
            };
            // Lines can be read half written; with a newline at the end both addresses are complete.
            if printed.ends_with('\n')
                && let (Some(public), Some(internal)) =
                    (address("Colloquy listens on http://"), address("Internal: http://"))
            {
                (server.public, server.internal) = (public, internal);
                return server;
            }
            let ended = server.child.as_mut().unwrap().try_wait().unwrap();
            if ended.is_some() || Instant::now() > deadline {
                server.print_log();
                panic!("the server doesn't start ({ended:?}); it printed {printed:?}");
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Opens its database, without a server.
    pub async fn db(&self) -> Db {
        let here = || format!("sqlite://{}", self.data.join("colloquy.sqlite").display());
        let url = self.url.clone().unwrap_or_else(here);
        Db::open(DbSettings { connections: 2, ..DbSettings::at(url) }).await.unwrap()
    }

    /// As [`refusal`], for this setup and `extra` environment variables.
    pub fn refused(&self, extra: &[(&str, &str)]) -> (ExitStatus, String) {
        refusal(self.command(extra))
    }
}

/// Returns a command that runs a shell script, with `argument` as its `$1` and the given command as the rest.
pub fn by_shell(command: &Command, script: &str, argument: &str) -> Command {
    let mut shell = Command::new("sh");
    shell.args(["-c", script, "sh", argument]).arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => shell.env(name, value),
            None => shell.env_remove(name),
        };
    }
    if let Some(folder) = command.get_current_dir() {
        shell.current_dir(folder);
    }
    shell
}

/// Runs a program that must refuse to start; returns its exit status and its standard error. Kills it after 30 s.
pub fn refusal(mut command: Command) -> (ExitStatus, String) {
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let deadline = Instant::now() + Duration::from_secs(30);
    while child.try_wait().unwrap().is_none() {
        if Instant::now() > deadline {
            child.kill().unwrap();
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    let output = child.wait_with_output().unwrap();
    (output.status, String::from_utf8(output.stderr).unwrap())
}

impl Drop for ServerSetup {
    fn drop(&mut self) {
        if !self.shared {
            // A folder that can't be removed stays in the system's temporary folder.
            let _ = fs::remove_dir_all(&self.data);
        }
    }
}

pub(super) fn folder() -> PathBuf {
    static LAST: AtomicU32 = AtomicU32::new(0);
    let name = format!("colloquy-api-{}-{}", std::process::id(), LAST.fetch_add(1, Ordering::Relaxed));
    let folder = std::env::temp_dir().join(name);
    // It may exist from an earlier process with the same id.
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir(&folder).unwrap();
    folder
}

/// A running server process. It is killed when this value is dropped; the end of its log is printed when the test
/// panics.
pub struct Server {
    pub kind: Kind,
    pub data: PathBuf,
    pub url: Option<String>,
    pub public: SocketAddr,
    pub internal: SocketAddr,
    /// The file that receives its standard error.
    pub log: PathBuf,
    /// Whether its log has a line for each request.
    logs_requests: bool,
    child: Option<Child>,
    watchdog: Watchdog,
    db: OnceLock<Db>,
    was_killed: Arc<AtomicBool>,
}

impl Server {
    /// Returns a client of the public address without a token.
    pub fn client(&self) -> Client {
        Client::at(format!("http://{}", self.public))
    }

    /// Returns a client of the internal address.
    pub fn operator(&self) -> Client {
        Client::at(format!("http://{}", self.internal))
    }

    /// Opens the server's database beside it, for what the API has no operation for. Opened once and then reused.
    pub async fn db(&self) -> Db {
        if let Some(db) = self.db.get() {
            return db.clone();
        }
        let here = || format!("sqlite://{}", self.data.join("colloquy.sqlite").display());
        let url = self.url.clone().unwrap_or_else(here);
        let opened = Db::open(DbSettings { connections: 2, ..DbSettings::at(url) }).await.unwrap();
        self.db.get_or_init(|| opened).clone()
    }

    pub fn pid(&self) -> u32 {
        self.child.as_ref().unwrap().id()
    }

    /// Returns the memory that its process uses now, and its maximum so far.
    pub fn memory(&self) -> Memory {
        Memory::of(self.pid())
    }

    /// Kills the server, as a crash does, and waits until its process has ended.
    pub fn kill(mut self) {
        self.end();
    }

    pub fn terminate(&self) {
        let sent = Command::new("kill").arg("-TERM").arg(self.pid().to_string()).status().unwrap();
        assert!(sent.success());
    }

    /// Waits until the process ends and returns its exit status, or `None` after `limit`.
    pub fn wait(&mut self, limit: Duration) -> Option<ExitStatus> {
        let deadline = Instant::now() + limit;
        loop {
            if let Some(ended) = self.child.as_mut().unwrap().try_wait().unwrap() {
                return Some(ended);
            }
            if Instant::now() > deadline {
                return None;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Returns the log with all lines of before. They are written a moment later, in their order.
    pub fn read_log(&self) -> String {
        static MARKS: AtomicU32 = AtomicU32::new(0);
        let mark = format!("mark-{}", MARKS.fetch_add(1, Ordering::Relaxed));
        let deadline = Instant::now() + START;
        loop {
            let is_written = if self.logs_requests {
                // The last line is this request's.
                let head = format!("GET /health/live HTTP/1.1\r\nhost: x\r\nx-request-id: {mark}");
                let is_gone = answer_of(self.public, &head).is_none();
                is_gone || self.written_log().contains(&mark)
            } else {
                let figures = answer_of(self.internal, "GET /metrics HTTP/1.1\r\nhost: x");
                figures.is_none_or(|figures| figures.contains("\ncolloquy_log_waiting 0\n"))
            };
            if is_written {
                return self.written_log();
            }
            assert!(Instant::now() < deadline, "the log lacks lines: {}", self.written_log());
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    fn written_log(&self) -> String {
        fs::read_to_string(&self.log).unwrap_or_default()
    }

    /// Prints the last 40 lines of its log, to explain a failed test.
    pub fn print_log(&self) {
        let said = self.written_log();
        let lines: Vec<&str> = said.lines().collect();
        println!("--- the server's log ({:?}), its end:", self.kind);
        lines.iter().skip(lines.len().saturating_sub(40)).for_each(|line| println!("{line}"));
        println!("---");
    }

    pub fn wait_until_ready(&self) {
        let deadline = Instant::now() + START;
        while !self.answers_ready() {
            assert!(Instant::now() < deadline, "the server is not ready:\n{}", self.written_log());
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    fn answers_ready(&self) -> bool {
        let answer = answer_of(self.public, "GET /health/ready HTTP/1.1\r\nhost: x");
        answer.is_some_and(|answer| answer.starts_with("HTTP/1.1 200"))
    }

    fn end(&mut self) {
        if let Some(mut child) = self.child.take() {
            if child.try_wait().is_ok_and(|ended| ended.is_none()) {
                self.was_killed.store(true, Ordering::SeqCst);
            }
            // It may have exited by itself.
            let _ = child.kill();
            let _ = child.wait();
            self.watchdog.dismiss();
        }
    }
}

/// Sends a request with this head over a plain socket, because the HTTP client needs a test's runtime. `None`: there is no
/// answer.
pub(super) fn answer_of(address: SocketAddr, head: &str) -> Option<String> {
    use std::io::Read;
    let mut stream = std::net::TcpStream::connect(address).ok()?;
    stream.write_all(format!("{head}\r\nconnection: close\r\n\r\n").as_bytes()).ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    answer.starts_with("HTTP/1.1").then_some(answer)
}

impl Drop for Server {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.print_log();
        }
        self.end();
    }
}

/// A shell that kills the server when the test process ends in any way: statics, such as the shared servers, are never
/// dropped.
pub(super) struct Watchdog {
    shell: Child,
    pipe: Option<ChildStdin>,
}

const WATCH: &str = r#"read -r word; [ "$word" = over ] || kill -9 "$1"; [ -z "$2" ] || rm -rf "$2""#;

impl Watchdog {
    pub(super) fn over(pid: u32, folder: Option<&Path>) -> Self {
        let mut command = Command::new("sh");
        command.args(["-c", WATCH, "sh", &pid.to_string()]).arg(folder.unwrap_or_else(|| Path::new("")));
        let mut shell = command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let pipe = shell.stdin.take();
        Self { shell, pipe }
    }

    pub(super) fn dismiss(&mut self) {
        if let Some(mut pipe) = self.pipe.take() {
            // The write fails when the shell has already exited, which is fine.
            let _ = pipe.write_all(b"over\n");
        }
        let _ = self.shell.wait();
    }
}
