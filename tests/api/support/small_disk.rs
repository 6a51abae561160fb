//! A server with a disk that is soon full: a folder of its data is a file system of its own, in a mount namespace of the server's.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::server::by_shell;
use super::{Server, ServerSetup};

/// Starts a server whose `folder` has so many bytes, through a shell script that runs the rest of its arguments, in the folder of
/// the data. Prints SKIPPED and returns `None` where the machine allows no namespaces.
pub fn start(
    setup: &ServerSetup,
    (folder, bytes): (&str, usize),
    extra: &[(&str, &str)],
    script: &str,
) -> Option<Server> {
    let allowed = Command::new("unshare").args(["-rm", "true"]).stderr(Stdio::null()).status();
    if !allowed.is_ok_and(|status| status.success()) {
        println!("SKIPPED: no mount namespaces");
        return None;
    }
    std::fs::create_dir_all(setup.data.join(folder)).unwrap();
    let mounting = format!(r#"mount -t tmpfs -o size="$1" none {folder} || exit 1; shift; {script}"#);
    let inside = by_shell(&setup.command(extra), &mounting, &bytes.to_string());
    let mut command = Command::new("unshare");
    command.arg("-rm").arg(inside.get_program()).args(inside.get_args()).current_dir(&setup.data);
    for (name, value) in inside.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    let server = setup.begin_with(command);
    server.wait_until_ready();
    Some(server)
}

/// Where the server's `folder` is for the test, which is outside of its namespace.
pub fn inside(server: &Server, folder: &str) -> PathBuf {
    let data = server.data.strip_prefix("/").unwrap();
    Path::new("/proc").join(server.pid().to_string()).join("root").join(data).join(folder)
}
