//! The real program in a process of its own: started on free ports, killed when it is dropped.

use std::fs::{self, File};
use std::io::Write;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use colloquy::db::{Db, DbSettings};

use super::client::Client;
use super::memory::{self, Memory};
use super::postgres::{self, Cluster};

/// Which database a story is told on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Sqlite,
    Postgres,
}

/// Links in answers and tokens begin with it, whatever port a server has.
pub const APP_URL: &str = "http://app.colloquy.test";

const CONFIG: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/config/test.toml");
/// A PostgreSQL lease of a killed server runs out after 10 s, and the next one waits for it.
const START: Duration = Duration::from_secs(40);

/// A folder and a database, both empty at first, for one server after another.
pub struct Place {
    pub kind: Kind,
    pub data: PathBuf,
    /// Of the database, as `DATABASE_URL`; `None`: SQLite in the folder.
    pub url: Option<String>,
    /// Removed with the process instead of the place.
    shared: bool,
}

impl Place {
    /// `None`: this machine has no such database.
    pub fn new(kind: Kind) -> Option<Self> {
        let url = match kind {
            Kind::Sqlite => None,
            Kind::Postgres => Some(postgres::schema().unwrap()?),
        };
        Some(Self { kind, data: folder(), url, shared: false })
    }

    /// On a cluster that the story may kill.
    pub fn on(cluster: &Cluster) -> Self {
        Self { kind: Kind::Postgres, data: folder(), url: Some(cluster.schema().unwrap()), shared: false }
    }

    /// As [`Place::new`], for as long as the process lives.
    pub fn shared(kind: Kind) -> Option<Self> {
        let mut place = Self::new(kind)?;
        place.shared = true;
        Some(place)
    }

    /// The program with this place's settings and `extra` ones, such as `("COLLOQUY__HTTP__ORIGINS", "…")`.
    pub fn command(&self, extra: &[(&str, &str)]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_colloquy"));
        // What the developer has set is not to change the story.
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

    /// Starts a server and waits until it is ready.
    pub fn start(&self, extra: &[(&str, &str)]) -> Server {
        let server = self.begin(extra);
        server.wait_until_ready();
        server
    }

    /// As [`Place::start`], with so much memory and no more for the server's process: one that asks for more is dead. What
    /// it starts itself (readers) begins with the same limit, and may set itself another.
    pub fn start_within(&self, mebibytes: u64, extra: &[(&str, &str)]) -> Server {
        let server = self.begin_with(memory::limited(&self.command(extra), mebibytes));
        server.wait_until_ready();
        server
    }

    /// Starts a server without waiting for it to be ready; it listens already.
    pub fn begin(&self, extra: &[(&str, &str)]) -> Server {
        self.begin_with(self.command(extra))
    }

    /// As [`Place::begin`], with a command line of the story's own.
    pub fn begin_with(&self, mut command: Command) -> Server {
        static STARTS: AtomicU32 = AtomicU32::new(0);
        let start = STARTS.fetch_add(1, Ordering::Relaxed);
        let (out, log) = (self.data.join(format!("{start}.out")), self.data.join(format!("{start}.log")));
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
            child: Some(child),
            watchdog,
            db: OnceLock::new(),
        };
        let deadline = Instant::now() + START;
        loop {
            let printed = fs::read_to_string(&out).unwrap();
            let address = |name: &str| {
                let line = printed.lines().find_map(|line| line.strip_prefix(name))?;
                line.parse::<SocketAddr>().ok()
            };
            // The line after both is whole once they are.
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

    /// What the program says and how it ends where it is not to start. Ends it after 30 s.
    pub fn refused(&self, extra: &[(&str, &str)]) -> (ExitStatus, String) {
        refusal(self.command(extra))
    }
}

/// What a program that is not to start says on standard error, and how it ends.
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

impl Drop for Place {
    fn drop(&mut self) {
        if !self.shared {
            // What can't be removed stays in the system's temporary folder.
            let _ = fs::remove_dir_all(&self.data);
        }
    }
}

fn folder() -> PathBuf {
    static LAST: AtomicU32 = AtomicU32::new(0);
    let name = format!("colloquy-api-{}-{}", std::process::id(), LAST.fetch_add(1, Ordering::Relaxed));
    let folder = std::env::temp_dir().join(name);
    // Left by a former process with this id.
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir(&folder).unwrap();
    folder
}

/// A running server.
pub struct Server {
    pub kind: Kind,
    pub data: PathBuf,
    pub url: Option<String>,
    pub public: SocketAddr,
    pub internal: SocketAddr,
    /// What it writes to standard error.
    pub log: PathBuf,
    child: Option<Child>,
    watchdog: Watchdog,
    db: OnceLock<Db>,
}

impl Server {
    /// Somebody who is not signed in.
    pub fn client(&self) -> Client {
        Client::at(format!("http://{}", self.public))
    }

    /// Of the internal address.
    pub fn operator(&self) -> Client {
        Client::at(format!("http://{}", self.internal))
    }

    /// The server's own database, for what has no operation yet.
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

    /// What its process holds, and held at most.
    pub fn memory(&self) -> Memory {
        Memory::of(self.pid())
    }

    /// As a crash: nothing of it runs any longer when this is back.
    pub fn kill(mut self) {
        self.end();
    }

    pub fn terminate(&self) {
        let sent = Command::new("kill").arg("-TERM").arg(self.pid().to_string()).status().unwrap();
        assert!(sent.success());
    }

    /// How it ended, if it does within `limit`.
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

    pub fn said(&self) -> String {
        fs::read_to_string(&self.log).unwrap_or_default()
    }

    /// The end of its log, for whoever reads why a story failed.
    pub fn print_log(&self) {
        let said = self.said();
        let lines: Vec<&str> = said.lines().collect();
        println!("--- the server's log ({:?}), its end:", self.kind);
        lines.iter().skip(lines.len().saturating_sub(40)).for_each(|line| println!("{line}"));
        println!("---");
    }

    pub fn wait_until_ready(&self) {
        let deadline = Instant::now() + START;
        while !self.answers_ready() {
            assert!(Instant::now() < deadline, "the server is not ready:\n{}", self.said());
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Asks without the client, which belongs to a story's runtime.
    fn answers_ready(&self) -> bool {
        use std::io::Read;
        let Ok(mut stream) = std::net::TcpStream::connect(self.public) else { return false };
        let asked = stream.write_all(b"GET /health/ready HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
        let mut answer = String::new();
        asked.is_ok() && stream.read_to_string(&mut answer).is_ok() && answer.starts_with("HTTP/1.1 200")
    }

    fn end(&mut self) {
        if let Some(mut child) = self.child.take() {
            // One that has ended by itself is fine.
            let _ = child.kill();
            let _ = child.wait();
            self.watchdog.dismiss();
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.print_log();
        }
        self.end();
    }
}

/// Kills the server when the tests end, however they end: statics are never dropped.
struct Watchdog {
    shell: Child,
    pipe: Option<ChildStdin>,
}

const WATCH: &str = r#"read -r word; [ "$word" = over ] || kill -9 "$1"; [ -z "$2" ] || rm -rf "$2""#;

impl Watchdog {
    fn over(pid: u32, folder: Option<&Path>) -> Self {
        let mut command = Command::new("sh");
        command.args(["-c", WATCH, "sh", &pid.to_string()]).arg(folder.unwrap_or_else(|| Path::new("")));
        let mut shell = command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let pipe = shell.stdin.take();
        Self { shell, pipe }
    }

    fn dismiss(&mut self) {
        if let Some(mut pipe) = self.pipe.take() {
            // A watchdog that is gone needs no word.
            let _ = pipe.write_all(b"over\n");
        }
        let _ = self.shell.wait();
    }
}
