//! What an installation reports while it works.

use std::time::Duration;

/// What an installation is doing.
#[derive(Debug, Clone, Copy)]
pub enum InstallStep<'a> {
    /// Another installation in the same folder is waited for.
    Waiting,
    /// There is a model of this name whose files are not what they have to be.
    Replacing,
    Package {
        place: &'a str,
    },
    Receiving {
        bytes: u64,
        total: Option<u64>,
    },
    Retrying {
        why: &'a str,
        pause: Duration,
    },
    Verifying,
    Unpacking,
}
