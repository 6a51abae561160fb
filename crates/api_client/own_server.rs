//! A private server: the program `colloquy` in another process, on free ports, with all its data in a temporary folder. Dropping
//! it kills the process and deletes the folder.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};

/// How long a start may take. Creating a new database takes up to a second, longer on a slow disk.
const START: Duration = Duration::from_secs(30);
/// How long to wait for a killed process to exit.
const END: Duration = Duration::from_secs(2);

/// Where the log of a server goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServerLog {
    /// A file in the folder of its data.
    InFile,
    /// A device on which there is never room.
    OnFullDisk,
}

pub struct OwnServer {
    /// For example `http://127.0.0.1:40123`.
    pub url: String,
    pub internal_url: String,
    program: PathBuf,
    child: Child,
    folder: TempDir,
    log: ServerLog,
    /// Kept open, because a server with a closed standard output would fail when it prints.
    printed: Lines<BufReader<ChildStdout>>,
}

impl OwnServer {
    /// Starts a server of that program on the default settings and waits until it is ready. Settings in the environment (`COLLOQUY__…`,
    /// `DATABASE_URL` and `RUST_LOG`) are ignored; `settings` apply, for example `("COLLOQUY__LOG__FILTER", "warn")`.
    ///
    /// # Errors
    /// Returns the reason and the end of the log if the server doesn't start.
    pub async fn start(program: &Path, settings: &[(&str, &str)]) -> Result<Self, String> {
        Self::start_with_log(program, settings, ServerLog::InFile).await
    }

    /// [`OwnServer::start`] with another place for the log.
    ///
    /// # Errors
    /// Same as [`OwnServer::start`].
    pub async fn start_with_log(program: &Path, settings: &[(&str, &str)], log: ServerLog) -> Result<Self, String> {
        let folder = tempfile::Builder::new().prefix("colloquy-").tempdir();
        let folder = folder.map_err(|error| format!("A temporary folder can't be created: {error}"))?;
        let (child, printed) = spawn(program, folder.path(), settings, log)?;
        let (url, internal_url, program) = (String::new(), String::new(), program.to_owned());
        let mut server = Self { url, internal_url, program, child, folder, log, printed };
        server.wait_until_ready().await?;
        Ok(server)
    }

    /// Kills the server, as a crash would, and restarts it on the same data with the given settings. Returns the time
    /// from the restart until the server is ready; it then has other ports.
    ///
    /// # Errors
    /// Same as [`OwnServer::start`].
    pub async fn crash_and_start(&mut self, settings: &[(&str, &str)]) -> Result<Duration, String> {
        self.child.kill().await.map_err(|error| format!("The server can't be killed: {error}"))?;
        let started = Instant::now();
        (self.child, self.printed) = spawn(&self.program, self.folder.path(), settings, self.log)?;
        self.url.clear();
        self.internal_url.clear();
        self.wait_until_ready().await?;
        Ok(started.elapsed())
    }

    async fn wait_until_ready(&mut self) -> Result<(), String> {
        match tokio::time::timeout(START, self.listen_to_it()).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(why)) => Err(format!("The server did not start: {why}\n{}", self.log_tail())),
            Err(_) => Err(format!("The server did not start within {} s.\n{}", START.as_secs(), self.log_tail())),
        }
    }

    async fn listen_to_it(&mut self) -> Result<(), String> {
        while self.url.is_empty() || self.internal_url.is_empty() {
            let line = self.printed.next_line().await.map_err(|error| error.to_string())?;
            let line = line.ok_or("it exited")?;
            if let Some(url) = line.strip_prefix("Colloquy listens on ") {
                url.clone_into(&mut self.url);
            } else if let Some(url) = line.strip_prefix("Internal: ") {
                url.clone_into(&mut self.internal_url);
            }
        }
        let http = super::caller::http()?;
        let ready = format!("{}/health/ready", self.url);
        while !http.get(&ready).send().await.is_ok_and(|answer| answer.status().is_success()) {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        Ok(())
    }

    /// Returns the folder of the server's data.
    pub fn data(&self) -> &Path {
        self.folder.path()
    }

    /// Runs `colloquy admin` on the server's data, and returns what it prints.
    ///
    /// # Errors
    /// Returns what it says when it fails.
    pub async fn admin(&self, arguments: &[&str]) -> Result<String, String> {
        let mut command = command_of(&self.program);
        command.arg("admin").args(arguments).arg("--data").arg(self.data()).env("COLLOQUY__APP__URL", &self.url);
        let ended = command.stdin(Stdio::null()).output().await;
        let ended = ended.map_err(|error| format!("`colloquy admin` can't be started: {error}"))?;
        let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
        if ended.status.success() { Ok(said(&ended.stdout)) } else { Err(said(&ended.stderr)) }
    }

    pub fn process_id(&self) -> Option<u32> {
        self.child.id()
    }

    /// Waits until the server exits by itself and returns the end of its log.
    pub async fn ended(&mut self) -> String {
        // Whether it failed or was killed, the log says more than the exit status.
        let _ = self.child.wait().await;
        self.log_tail()
    }

    /// Returns the last lines of the log.
    fn log_tail(&self) -> String {
        let log = std::fs::read_to_string(log_of(self.folder.path())).unwrap_or_default();
        let lines: Vec<&str> = log.lines().collect();
        let last = lines.len().saturating_sub(10);
        lines.get(last..).unwrap_or_default().join("\n")
    }
}

fn spawn(
    program: &Path,
    folder: &Path,
    settings: &[(&str, &str)],
    log: ServerLog,
) -> Result<(Child, Lines<BufReader<ChildStdout>>), String> {
    let log_file = match log {
        ServerLog::InFile => log_of(folder),
        ServerLog::OnFullDisk => PathBuf::from("/dev/full"),
    };
    let log = std::fs::File::create(&log_file);
    let log = log.map_err(|error| format!("{} can't be written: {error}", log_file.display()))?;
    let mut command = command_of(program);
    command.args(["serve", "--listen", "127.0.0.1:0", "--data"]).arg(folder);
    command.env("COLLOQUY__INTERNAL__LISTEN", "127.0.0.1:0").envs(settings.iter().copied());
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(log).kill_on_drop(true);
    // Ctrl-C is for the calling program, which ends this one.
    command.process_group(0);
    let mut child = command.spawn().map_err(|error| format!("The server can't be started: {error}"))?;
    let printed = child.stdout.take().ok_or("The server's output can't be read.")?;
    Ok((child, BufReader::new(printed).lines()))
}

/// A program without the settings in the environment.
fn command_of(program: &Path) -> Command {
    let mut command = Command::new(program);
    for (name, _) in std::env::vars_os().filter(|(name, _)| is_setting(&name.to_string_lossy())) {
        command.env_remove(name);
    }
    command
}

fn log_of(folder: &Path) -> PathBuf {
    folder.join("server.log")
}

fn is_setting(name: &str) -> bool {
    name.starts_with("COLLOQUY__") || name.starts_with("DATABASE_URL") || name == "RUST_LOG"
}

impl Drop for OwnServer {
    /// Kills the server without a graceful stop, because none of its data is needed, and waits for its exit, because it
    /// would otherwise continue to write to the folder while that is deleted.
    fn drop(&mut self) {
        // It may have exited already.
        let _ = self.child.start_kill();
        let killed = Instant::now();
        while matches!(self.child.try_wait(), Ok(None)) && killed.elapsed() < END {
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}
