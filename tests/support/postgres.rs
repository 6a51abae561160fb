//! A real PostgreSQL for tests: a cluster of its own in a temporary folder, which ends with the test process.
//!
//! [`schema`] creates a schema for one test in a cluster that all tests of the process share; [`Cluster::start`] starts
//! a cluster that the test may kill. The programs are those under /usr/lib/postgresql, or on the PATH. Without them a
//! test prints SKIPPED and ends; with the variable CI set that is an error.
//!
//! fsync is off: a killed server loses nothing by it (a machine that loses power would), but nothing that is measured
//! here is a valid performance figure.

#![allow(dead_code, reason = "each test binary uses a part of this file")]

use std::fs;
use std::io::Write;
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// Creates an empty schema and returns its URL, or `None` without PostgreSQL on this machine: the test should return
/// then.
///
/// # Errors
/// Returns an error when the cluster doesn't start, or when there is no PostgreSQL and CI is set.
pub fn schema() -> Result<Option<String>, String> {
    static SHARED: OnceLock<Result<Option<Cluster>, String>> = OnceLock::new();
    match SHARED.get_or_init(Cluster::start) {
        Ok(Some(cluster)) => cluster.schema().map(Some),
        Ok(None) => Ok(None),
        Err(error) => Err(error.clone()),
    }
}

/// A running cluster. It ends when this value is dropped, or when the test process ends in any way.
pub struct Cluster {
    programs: PathBuf,
    home: PathBuf,
    port: u16,
    user: Option<(u32, u32)>,
    running: Option<Running>,
}

/// The shell that stops the server when the pipe to it closes.
struct Running {
    shell: Child,
    pipe: ChildStdin,
}

/// Starts the server and stops it when the shell's input ends; deletes the data unless a line with `keep` came before.
const WRAPPER: &str = r#"
"$1/postgres" -D "$2/data" -k "$2" -h 127.0.0.1 -p "$3" -c fsync=off -c full_page_writes=off -c max_connections=200 \
  -c shared_buffers=32MB -c logging_collector=off >"$2/log" 2>&1 &
server=$!
read -r word
kill -INT $server 2>/dev/null
wait $server
[ "$word" = keep ] || rm -rf "$2"
"#;

impl Cluster {
    /// Creates and starts a cluster. Returns `None` without PostgreSQL on this machine.
    ///
    /// # Errors
    /// Returns an error when it doesn't start, or when there is no PostgreSQL and CI is set.
    pub fn start() -> Result<Option<Self>, String> {
        let Some(programs) = programs() else {
            if std::env::var_os("CI").is_some() {
                return Err("no PostgreSQL on this machine, and CI must have one".to_owned());
            }
            println!("SKIPPED: no PostgreSQL on this machine");
            return Ok(None);
        };
        let home = temporary_folder()?;
        let user = is_root(&home)?.then(postgres_user).transpose()?;
        if let Some((uid, gid)) = user {
            chown(&home, Some(uid), Some(gid)).map_err(|error| format!("chown {}: {error}", home.display()))?;
        }
        let mut cluster = Self { programs, home, port: free_port()?, user, running: None };
        cluster.run(
            "initdb",
            &["-D", &cluster.path("data"), "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "-N"],
        )?;
        cluster.resume_service()?;
        Ok(Some(cluster))
    }

    /// As [`Cluster::start`], but the COMMIT of a transaction that sets `synchronous_commit` to `on` hangs until
    /// [`Cluster::let_commits_go`]: it waits for a synchronous standby, which does not exist.
    ///
    /// # Errors
    /// As [`Cluster::start`].
    pub fn start_with_slow_commits() -> Result<Option<Self>, String> {
        let Some(mut cluster) = Self::start()? else { return Ok(None) };
        cluster.sql("ALTER SYSTEM SET synchronous_commit = 'local'")?;
        cluster.sql("ALTER SYSTEM SET synchronous_standby_names = 'nobody'")?;
        cluster.kill()?;
        cluster.resume_service()?;
        Ok(Some(cluster))
    }

    /// Lets every hanging COMMIT complete.
    ///
    /// # Errors
    /// Returns an error when the server refuses it.
    pub fn let_commits_go(&self) -> Result<(), String> {
        self.sql("ALTER SYSTEM RESET synchronous_standby_names")?;
        self.sql("SELECT pg_reload_conf()").map(drop)
    }

    /// Creates an empty schema and returns its URL.
    ///
    /// # Errors
    /// Returns an error when the server refuses it.
    pub fn schema(&self) -> Result<String, String> {
        static LAST: AtomicU32 = AtomicU32::new(0);
        let name = format!("test_{}", LAST.fetch_add(1, Ordering::Relaxed) + 1);
        self.sql(&format!("CREATE SCHEMA {name}"))?;
        Ok(format!("postgres://postgres@127.0.0.1:{}/postgres?options=-c%20search_path%3D{name}", self.port))
    }

    /// Makes the server refuse TCP connections without TLS.
    ///
    /// # Errors
    /// Returns an error when the server refuses it.
    pub fn require_tls(&self, certificate: &Path, key: &Path) -> Result<(), String> {
        for (from, name) in [(certificate, "data/server.crt"), (key, "data/server.key")] {
            let to = self.path(name);
            fs::copy(from, &to).map_err(|error| format!("{to}: {error}"))?;
            fs::set_permissions(&to, fs::Permissions::from_mode(0o600)).map_err(|error| error.to_string())?;
            if let Some((uid, gid)) = self.user {
                chown(&to, Some(uid), Some(gid)).map_err(|error| format!("chown {to}: {error}"))?;
            }
        }
        let rules = self.path("data/pg_hba.conf");
        fs::write(&rules, "local all all trust\nhostssl all all 127.0.0.1/32 trust\n")
            .map_err(|error| error.to_string())?;
        self.sql("ALTER SYSTEM SET ssl = on")?;
        self.sql("SELECT pg_reload_conf()")?;
        let deadline = Instant::now() + Duration::from_secs(60);
        let uses_tls = "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()";
        while Instant::now() < deadline {
            if self.sql(uses_tls).is_ok_and(|ssl| ssl == "t") {
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        Err("PostgreSQL doesn't use TLS".to_owned())
    }

    /// Runs SQL as the superuser and returns what `psql` prints, unaligned and without headings.
    ///
    /// # Errors
    /// Returns an error when the server refuses it.
    pub fn sql(&self, sql: &str) -> Result<String, String> {
        let port = self.port.to_string();
        self.run("psql", &["-h", "127.0.0.1", "-p", &port, "-U", "postgres", "-d", "postgres", "-XAtqc", sql])
    }

    /// Kills the server and all its connections, as a crash does; the data stays.
    ///
    /// # Errors
    /// Returns an error when the processes can't be found.
    pub fn kill(&mut self) -> Result<(), String> {
        // Suspended first, so that it starts no child that would outlive it, and with it its shared memory.
        self.signal("-STOP")?;
        self.signal("-KILL")?;
        self.end(true);
        Ok(())
    }

    /// Starts the server again on its data and its port.
    ///
    /// # Errors
    /// Returns an error when it doesn't start within 30 s.
    pub fn resume_service(&mut self) -> Result<(), String> {
        let mut command = Command::new("sh");
        command.args(["-c", WRAPPER, "sh"]).arg(&self.programs).arg(&self.home).arg(self.port.to_string());
        let mut shell = as_user(&mut command, self.user)
            .current_dir(&self.home)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| format!("sh: {error}"))?;
        let pipe = shell.stdin.take().ok_or("no pipe to the shell")?;
        self.running = Some(Running { shell, pipe });
        self.wait_until_it_answers()
    }

    /// Suspends all its processes: connections stay open and get no response.
    ///
    /// # Errors
    /// Returns an error when the processes can't be found.
    pub fn freeze(&self) -> Result<(), String> {
        self.signal("-STOP")
    }

    /// Resumes the processes after [`Cluster::freeze`].
    ///
    /// # Errors
    /// Returns an error when the processes can't be found.
    pub fn thaw(&self) -> Result<(), String> {
        self.signal("-CONT")
    }

    fn wait_until_it_answers(&self) -> Result<(), String> {
        let deadline = Instant::now() + Duration::from_secs(30);
        while Instant::now() < deadline {
            if TcpStream::connect(("127.0.0.1", self.port)).is_ok() && self.sql("SELECT 1").is_ok() {
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        let log = fs::read_to_string(self.path("log")).unwrap_or_default();
        Err(format!("PostgreSQL doesn't start:\n{log}"))
    }

    /// Sends a signal to the server, then to its children, each by its id.
    fn signal(&self, signal: &str) -> Result<(), String> {
        let file = self.path("data/postmaster.pid");
        let pid = fs::read_to_string(&file).map_err(|error| format!("{file}: {error}"))?;
        let server = pid.lines().next().unwrap_or_default().trim().to_owned();
        // The server comes first, so that it starts no more children.
        let children = children(&server);
        for pid in std::iter::once(server).chain(children) {
            // It may have just ended by itself.
            let _ = Command::new("kill").arg(signal).arg(&pid).stderr(Stdio::null()).status();
        }
        Ok(())
    }

    fn end(&mut self, keep: bool) {
        if let Some(Running { mut shell, mut pipe }) = self.running.take() {
            if keep {
                // The write fails when the shell has exited; the data stays then too.
                let _ = pipe.write_all(b"keep\n");
            }
            drop(pipe);
            let _ = shell.wait();
        }
    }

    fn run(&self, program: &str, args: &[&str]) -> Result<String, String> {
        let mut command = Command::new(self.programs.join(program));
        // psql looks for certificates in the home, and that of another user can't be read.
        command.args(args).current_dir(&self.home).env("HOME", &self.home);
        let output = as_user(&mut command, self.user).output().map_err(|error| format!("{program}: {error}"))?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned());
        }
        Err(format!(
            "{program}: {}{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        ))
    }

    fn path(&self, name: &str) -> String {
        self.home.join(name).to_string_lossy().into_owned()
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        // A suspended server could not stop.
        let _ = self.signal("-CONT");
        self.end(false);
    }
}

/// Gives back the lease of a server that was killed, which else would be waited for. A database that does not answer, or
/// locks the row for longer than two seconds, keeps it.
pub fn release_lease(url: &str) {
    let Some(programs) = programs() else { return };
    let sql = "SET lock_timeout = '2s'; UPDATE server_lease SET lease_until = to_timestamp(0)";
    let mut psql = Command::new(programs.join("psql"));
    psql.args([url, "-XAtqc", sql]).env("PGCONNECT_TIMEOUT", "2").stdout(Stdio::null()).stderr(Stdio::null());
    // The next server waits for the lease if this fails.
    let _ = psql.status();
}

/// Returns the folder with the programs of the newest version.
fn programs() -> Option<PathBuf> {
    let mut folders: Vec<PathBuf> = fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten()
        .flatten()
        .map(|version| version.path().join("bin"))
        .chain(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()))
        .filter(|folder| ["initdb", "postgres", "psql"].iter().all(|program| folder.join(program).is_file()))
        .collect();
    folders.sort_by_key(|folder| {
        let version = folder.parent().and_then(Path::file_name).and_then(|name| name.to_str()?.parse::<u32>().ok());
        std::cmp::Reverse(version)
    });
    folders.into_iter().next()
}

fn temporary_folder() -> Result<PathBuf, String> {
    static LAST: AtomicU32 = AtomicU32::new(0);
    let name = format!("colloquy-pg-{}-{}", std::process::id(), LAST.fetch_add(1, Ordering::Relaxed));
    let folder = std::env::temp_dir().join(name);
    // It may exist from an earlier process with the same id.
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o700)).map_err(|error| error.to_string())?;
    Ok(folder)
}

fn is_root(mine: &Path) -> Result<bool, String> {
    fs::metadata(mine).map(|metadata| metadata.uid() == 0).map_err(|error| error.to_string())
}

/// Returns the ids of the user `postgres`, which PostgreSQL's package creates: PostgreSQL refuses to run as root.
fn postgres_user() -> Result<(u32, u32), String> {
    let users = fs::read_to_string("/etc/passwd").map_err(|error| error.to_string())?;
    let line = users.lines().find(|line| line.starts_with("postgres:")).ok_or("no user postgres to run it as")?;
    let mut ids = line.split(':').skip(2).map_while(|id| id.parse().ok());
    ids.next().zip(ids.next()).ok_or_else(|| "the user postgres has no ids".to_owned())
}

fn free_port() -> Result<u16, String> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).map_err(|error| error.to_string())?;
    Ok(listener.local_addr().map_err(|error| error.to_string())?.port())
}

fn as_user(command: &mut Command, user: Option<(u32, u32)>) -> &mut Command {
    match user {
        Some((uid, gid)) => command.uid(uid).gid(gid),
        None => command,
    }
}

/// Returns the ids of the processes whose parent is `pid`.
fn children(pid: &str) -> Vec<String> {
    let is_child = |process: &Path| {
        let stat = fs::read_to_string(process.join("stat")).unwrap_or_default();
        // The name in parentheses may contain spaces; the state and the parent's id follow it.
        stat.rsplit_once(')').and_then(|(_, rest)| rest.split_whitespace().nth(1)) == Some(pid)
    };
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten().map(|entry| entry.path());
    processes
        .filter(|process| is_child(process))
        .filter_map(|process| Some(process.file_name()?.to_str()?.to_owned()))
        .collect()
}
