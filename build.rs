//! Tells the OpenAPI derives, once, what an `Id` and a `Time` are in the interface, and the program what it was built from.

use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    utoipa_config::Config::new()
        .alias_for("Id", "uuid::Uuid")
        .alias_for("Time", "chrono::DateTime<chrono::Utc>")
        .alias_for("LocalTime", "chrono::DateTime<chrono::Utc>")
        .write_to_file();
    println!("cargo:rustc-env=COLLOQUY_COMMIT={}", commit().unwrap_or_else(|| "unknown".to_owned()));
    let rustc = std::env::var("RUSTC").ok().and_then(|rustc| said(&rustc, &["--version"]));
    println!("cargo:rustc-env=COLLOQUY_RUSTC={}", rustc.unwrap_or_else(|| "unknown".to_owned()));
}

/// The commit that COLLOQUY_COMMIT names, where the sources have no history (as in an image); else, in a release, the one that is
/// checked out. In a debug build it is unknown: each commit would compile everything anew.
fn commit() -> Option<String> {
    println!("cargo:rerun-if-env-changed=COLLOQUY_COMMIT");
    if let Some(named) = std::env::var("COLLOQUY_COMMIT").ok().filter(|named| !named.is_empty()) {
        return Some(named);
    }
    if std::env::var("PROFILE").ok()? != "release" {
        return None;
    }
    let log = said("git", &["rev-parse", "--git-path", "logs/HEAD"])?;
    println!("cargo:rerun-if-changed={log}");
    said("git", &["rev-parse", "--short=12", "HEAD"])
}

fn said(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8(output.stdout).ok()?.trim().to_owned())
}
