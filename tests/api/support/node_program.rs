//! External programs for tests: Node scripts under tests/fakes, such as an OpenID provider or LiveKit's SDK. A test
//! starts the one it needs on a free port; the program ends with the test.
//!
//! The npm packages are installed once into the user's cache, in the versions of tests/fakes/package-lock.json. Without
//! Node on the machine a test prints SKIPPED and ends; with the variable CI set it panics instead.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{OnceLock, mpsc};
use std::time::Duration;

use serde_json::Value;
use sha2::{Digest, Sha256};

const FAKES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fakes");
const SCENES: &str = "scenes";
const START: Duration = Duration::from_secs(60);

/// A running Node program. It ends when this value is dropped, or when the test process ends in any way, because its
/// standard input closes then.
pub struct NodeProgram {
    /// The JSON of the first line it printed, when it was ready: for example its ports.
    pub announced: Value,
    child: Child,
}

impl NodeProgram {
    /// Starts `tests/fakes/<program>.mjs` with `settings` as environment variables and waits until it is ready. Returns
    /// `None` without Node on this machine: the test should return then.
    ///
    /// # Panics
    /// Panics when the program prints no JSON line within 60 s, and without Node when CI is set.
    pub fn start(program: &str, settings: &[(&str, &str)]) -> Option<Self> {
        let folder = programs()?;
        let mut command = Command::new("node");
        command.arg(folder.join(format!("{program}.mjs"))).envs(settings.iter().copied());
        // Standard error is inherited: it is shown with the output of the tests.
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap()).lines();
        let (sender, lines) = mpsc::channel();
        // Keeps reading after the first line: the program would block once the pipe is full.
        std::thread::spawn(move || {
            for line in output.map_while(Result::ok) {
                let _ = sender.send(line);
            }
        });
        let line = lines.recv_timeout(START).unwrap_or_else(|error| panic!("{program} doesn't start: {error}"));
        let announced = serde_json::from_str(&line).unwrap_or_else(|_| panic!("{program} is not ready: {line}"));
        Some(Self { announced, child })
    }

    /// Returns a port from [`NodeProgram::announced`]. Panics when there is none of this name.
    #[track_caller]
    pub fn port(&self, name: &str) -> u16 {
        let port = self.announced[name].as_u64().unwrap_or_else(|| panic!("no port {name} in {}", self.announced));
        u16::try_from(port).unwrap()
    }

    /// Kills the program now, as a crash would.
    pub fn kill(&mut self) {
        // It may have exited by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for NodeProgram {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Returns the folder of the programs, whose packages are in the folder above it, or `None` without Node.
fn programs() -> Option<&'static Path> {
    static INSTALLED: OnceLock<Option<PathBuf>> = OnceLock::new();
    INSTALLED.get_or_init(install).as_deref()
}

fn install() -> Option<PathBuf> {
    let runs = |program: &str| {
        let version = Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
        version.is_ok_and(|status| status.success())
    };
    if !runs("node") || !runs("npm") {
        assert!(std::env::var_os("CI").is_none(), "no Node on this machine, and CI must have it");
        println!("SKIPPED: no Node on this machine");
        return None;
    }
    let lock = fs::read(Path::new(FAKES).join("package-lock.json")).unwrap();
    let packages = cache().join("colloquy-fakes").join(digest(&lock));
    fs::create_dir_all(&packages).unwrap();
    // A file lock: of two test processes one installs, the other waits and finds the packages complete.
    let turn = File::create(packages.join("turn")).unwrap();
    turn.lock().unwrap();
    if !packages.join("complete").exists() {
        for name in ["package.json", "package-lock.json"] {
            fs::copy(Path::new(FAKES).join(name), packages.join(name)).unwrap();
        }
        let quiet = ["--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier", "--loglevel=error"];
        let installed = Command::new("npm").arg("ci").args(quiet).current_dir(&packages).output().unwrap();
        assert!(installed.status.success(), "npm ci: {}", String::from_utf8_lossy(&installed.stderr));
        fs::write(packages.join("complete"), "").unwrap();
    }
    // Node resolves packages in the folders above a script, so copies of the scripts are placed below the packages,
    // each version of them in a folder of its own.
    let mut programs: Vec<PathBuf> = [FAKES.into(), Path::new(FAKES).join(SCENES)].iter().flat_map(scripts).collect();
    programs.sort();
    let texts: Vec<Vec<u8>> = programs.iter().map(|file| fs::read(file).unwrap()).collect();
    let folder = packages.join(digest(&texts.concat()));
    fs::create_dir_all(folder.join(SCENES)).unwrap();
    for (file, text) in programs.iter().zip(&texts) {
        let copy = folder.join(file.strip_prefix(FAKES).unwrap());
        // An existing copy may be running, so it is not rewritten.
        if fs::read(&copy).ok().as_ref() != Some(text) {
            fs::write(copy, text).unwrap();
        }
    }
    Some(folder)
}

fn scripts(folder: &PathBuf) -> Vec<PathBuf> {
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    files.filter(|file| file.extension().is_some_and(|extension| extension == "mjs")).collect()
}

fn cache() -> PathBuf {
    let of_home = || std::env::var_os("HOME").map(|home| Path::new(&home).join(".cache"));
    std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from).or_else(of_home).unwrap_or_else(std::env::temp_dir)
}

fn digest(bytes: &[u8]) -> String {
    hex::encode(Sha256::digest(bytes)).chars().take(16).collect()
}
