//! The server that is measured: the program `colloquy` of the same build, which lies beside this one.

use std::path::PathBuf;

use api_client::own_server::{OwnServer, ServerLog};
use tokio::process::Command;

/// Starts a server of its own: see [`OwnServer::start`].
///
/// # Errors
/// Returns a message if the program can't be built or found, or if the server doesn't start.
pub async fn start(settings: &[(&str, &str)]) -> Result<OwnServer, String> {
    start_with_log(settings, ServerLog::InFile).await
}

/// [`start`] with another place for the log.
///
/// # Errors
/// Same as [`start`].
pub async fn start_with_log(settings: &[(&str, &str)], log: ServerLog) -> Result<OwnServer, String> {
    OwnServer::start_with_log(&program().await?, settings, log).await
}

/// Returns the path of the server's program. Under `cargo run`, which builds this program alone, it is built here, so that no
/// earlier one is measured; what is built already takes a moment.
async fn program() -> Result<PathBuf, String> {
    if let Some(cargo) = std::env::var_os("CARGO") {
        let mut command = Command::new(cargo);
        // Both, because cargo chooses the features of dependencies by what it builds.
        command.args(["build", "--quiet", "--package", "colloquy", "--package", "bench", "--bins"]);
        if !cfg!(debug_assertions) {
            command.arg("--release");
        }
        let built = command.status().await.map_err(|error| format!("cargo can't be started: {error}"))?;
        if !built.success() {
            return Err("The server can't be built.".to_owned());
        }
    }
    let own = std::env::current_exe();
    let own = own.map_err(|error| format!("The path of this program can't be determined: {error}"))?;
    let program = own.with_file_name("colloquy");
    match program.is_file() {
        true => Ok(program),
        false => Err(format!("{} is missing: build it with cargo build --release.", program.display())),
    }
}
