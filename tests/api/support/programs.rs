//! Servers of others that tests run beside ours. One ends when its value is dropped, or when the test process ends in any
//! way.

use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

/// Starts the program and kills it when the shell's input ends.
const WRAPPER: &str = r#"
exec 2>/dev/null
"$@" >"$HOME/log" 2>&1 &
program=$!
read -r _
kill -KILL $program
wait $program
rm -rf "$HOME"
"#;

/// A running program with a folder of its own, which is deleted when it ends.
pub struct Program {
    home: PathBuf,
    shell: Child,
}

impl Program {
    pub fn run(home: PathBuf, program: &Path, arguments: &[String]) -> Self {
        let mut command = Command::new("sh");
        command.args(["-c", WRAPPER, "sh"]).arg(program).args(arguments).env("HOME", &home);
        let shell = command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        Self { home, shell }
    }

    /// Returns what the program has printed.
    pub fn log(&self) -> String {
        fs::read_to_string(self.home.join("log")).unwrap_or_default()
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        drop(self.shell.stdin.take());
        // It may have exited by itself.
        let _ = self.shell.wait();
    }
}

/// Returns ports that are free. They are below those that the system gives to outgoing connections, of which the other
/// tests make many.
pub fn free_ports<const N: usize>() -> [u16; N] {
    static LAST: AtomicU32 = AtomicU32::new(0);
    let first = std::process::id().wrapping_mul(101);
    std::array::from_fn(|_| {
        let next =
            || 12_000 + u16::try_from((first.wrapping_add(LAST.fetch_add(1, Ordering::Relaxed))) % 20_000).unwrap();
        std::iter::repeat_with(next).find(|port| TcpListener::bind(("127.0.0.1", *port)).is_ok()).unwrap()
    })
}
