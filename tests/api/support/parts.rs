//! Real parts that are not ours, as programs of Node under tests/parts: started by the story that needs one, on a free
//! port, and gone with it.
//!
//! Their packages are installed once into the user's cache, as the lock file beside them says. Where there is no Node the
//! story says SKIPPED; with the variable CI set that is a failure.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{OnceLock, mpsc};
use std::time::Duration;

use serde_json::Value;
use sha2::{Digest, Sha256};

const PARTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/parts");
const START: Duration = Duration::from_secs(60);

/// A part that runs. It ends when this is dropped, or the process ends, however that ends.
pub struct Part {
    /// What it told of itself when it was ready, such as its ports.
    pub records: Value,
    child: Child,
}

impl Part {
    /// Starts `tests/parts/<program>.mjs` and waits until it is ready. `None`: no Node on this machine, and the story is to
    /// end here.
    pub fn start(program: &str, settings: &[(&str, &str)]) -> Option<Self> {
        let folder = programs()?;
        let mut command = Command::new("node");
        command.arg(folder.join(format!("{program}.mjs"))).envs(settings.iter().copied());
        // What is written to standard error is shown with the tests' own output.
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let (tell, records) = mpsc::channel();
        // Reads on after the first line: a part that can't print would stop.
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                let _ = tell.send(line);
            }
        });
        let line = records.recv_timeout(START).unwrap_or_else(|error| panic!("{program} doesn't start: {error}"));
        let records = serde_json::from_str(&line).unwrap_or_else(|_| panic!("{program} is not ready: {line}"));
        Some(Self { records, child })
    }

    /// A port that it told of.
    #[track_caller]
    pub fn port(&self, name: &str) -> u16 {
        let port = self.records[name].as_u64().unwrap_or_else(|| panic!("no port {name} in {}", self.records));
        u16::try_from(port).unwrap()
    }

    /// Ends it now, as a crash would.
    pub fn kill(&mut self) {
        // One that has ended by itself is fine.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        self.kill();
    }
}

/// The folder of the programs, with their packages above it. `None`: no Node.
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
    let lock = fs::read(Path::new(PARTS).join("package-lock.json")).unwrap();
    let packages = cache().join("colloquy-parts").join(digest(&lock));
    fs::create_dir_all(&packages).unwrap();
    // Two test processes install one after the other, and the second finds everything done.
    let turn = File::create(packages.join("turn")).unwrap();
    turn.lock().unwrap();
    if !packages.join("complete").exists() {
        for name in ["package.json", "package-lock.json"] {
            fs::copy(Path::new(PARTS).join(name), packages.join(name)).unwrap();
        }
        let quiet = ["--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier", "--loglevel=error"];
        let installed = Command::new("npm").arg("ci").args(quiet).current_dir(&packages).output().unwrap();
        assert!(installed.status.success(), "npm ci: {}", String::from_utf8_lossy(&installed.stderr));
        fs::write(packages.join("complete"), "").unwrap();
    }
    // Node looks for packages in the folders above a program's own, so copies of the programs live below them, each
    // version in a folder of its own.
    let mut programs: Vec<_> = fs::read_dir(PARTS).unwrap().map(|entry| entry.unwrap().path()).collect();
    programs.retain(|file| file.extension().is_some_and(|extension| extension == "mjs"));
    programs.sort();
    let texts: Vec<Vec<u8>> = programs.iter().map(|file| fs::read(file).unwrap()).collect();
    let folder = packages.join(digest(&texts.concat()));
    fs::create_dir_all(&folder).unwrap();
    for (file, text) in programs.iter().zip(&texts) {
        let copy = folder.join(file.file_name().unwrap());
        // One that stands may be running.
        if fs::read(&copy).ok().as_ref() != Some(text) {
            fs::write(copy, text).unwrap();
        }
    }
    Some(folder)
}

fn cache() -> PathBuf {
    let of_home = || std::env::var_os("HOME").map(|home| Path::new(&home).join(".cache"));
    std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from).or_else(of_home).unwrap_or_else(std::env::temp_dir)
}

fn digest(bytes: &[u8]) -> String {
    hex::encode(Sha256::digest(bytes)).chars().take(16).collect()
}
