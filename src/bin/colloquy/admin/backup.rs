//! `colloquy admin backup` and `colloquy admin restore`.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use actors::time::{Clock, SystemClock};
use colloquy::backup;
use colloquy::config::Config;
use colloquy::wiring;

#[derive(clap::Subcommand)]
pub enum ArchiveTask {
    /// Back up the database, the stored files and the keys into one archive, with the server running or stopped
    Backup {
        /// New file for the archive (tar, gzip). It contains all data and keys: keep it secret
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
    /// Restore an archive into an empty data folder and database
    Restore {
        /// Archive that `backup` wrote
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// Replace the database, the files and the keys that are there
        #[arg(long)]
        overwrite: bool,
    },
}

impl ArchiveTask {
    /// # Errors
    /// Returns a message when there is no complete archive, or it was not restored.
    pub async fn carry_out(self, config: &Config) -> Result<(), String> {
        match self {
            Self::Backup { file } => take(config, &file).await,
            Self::Restore { file, overwrite } => restore(config, &file, overwrite).await,
        }
    }
}

/// Refuses another account than the one whose data it is: locks and temporary files in there must stay usable for the server.
fn must_be_the_servers(data: &Path) -> Result<(), String> {
    let owner = std::fs::metadata(data).map_err(|error| format!("{}: {error}", data.display()))?.uid();
    if owner == rustix::process::geteuid().as_raw() {
        return Ok(());
    }
    Err(format!("{} belongs to another account: run this command as that one", data.display()))
}

async fn take(config: &Config, file: &Path) -> Result<(), String> {
    must_be_the_servers(&config.server.data)?;
    backup::marker::refuse(&config.server.data)?;
    let places = wiring::backup_places(config)?;
    let taken = backup::take(&places, file, SystemClock.now()).await?;
    for fault in &taken.faults {
        eprintln!("Warning: {fault}.");
    }
    println!("Backup: {} ({} bytes, {} stored files).", file.display(), taken.bytes, taken.files);
    Ok(())
}

async fn restore(config: &Config, file: &Path, overwrite: bool) -> Result<(), String> {
    let places = wiring::backup_places(config)?;
    let restored = backup::restore(&places, file, overwrite).await?;
    for missing in &restored.missing {
        eprintln!("Warning: {missing} was missing when the backup was taken.");
    }
    let about = restored.about;
    println!(
        "Restored the backup of {} (version {}, {}, {} stored files).",
        about.taken_at, about.program_version, about.database.kind, restored.files
    );
    Ok(())
}
