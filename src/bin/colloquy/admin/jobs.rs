//! `colloquy admin requeue-jobs` and `discard-jobs`.

use actors::time::Time;
use colloquy::db::Db;
use colloquy::http::error::ApiError;
use colloquy::jobs::operator::{self, DiscardedJobs, Which};

use super::{AdminError, field};

/// Which jobs are meant.
#[derive(clap::Args)]
#[group(required = true, multiple = false)]
pub struct JobArguments {
    /// The job with this id
    #[arg(long, value_name = "ID")]
    job: Option<String>,
    /// All failed jobs of this kind, such as mail
    #[arg(long, value_name = "KIND")]
    kind: Option<String>,
    /// All failed jobs
    #[arg(long)]
    all: bool,
}

impl JobArguments {
    pub fn which(self) -> Result<Which, AdminError> {
        let id = self.job.map(|job| field("job", &job)).transpose()?;
        Ok(Which { id, kind: self.kind })
    }
}

/// Returns what was done.
pub async fn requeue(db: &Db, which: Which, now: Time) -> Result<String, AdminError> {
    let requeued = operator::requeue(db, which, now).await.map_err(ApiError::from)?;
    Ok(match requeued {
        0 => "There is no matching failed job.".to_owned(),
        1 => "1 job was requeued.".to_owned(),
        count => format!("{count} jobs were requeued."),
    })
}

/// Returns what was done.
pub async fn discard(db: &Db, which: Which, now: Time) -> Result<String, AdminError> {
    let DiscardedJobs { failed, unfinished } = operator::discard(db, which, now).await.map_err(ApiError::from)?;
    Ok(match (failed, unfinished) {
        (0, 0) => "There is no matching job.".to_owned(),
        (0, _) => "The server ends the job as failed, without another attempt, as soon as it runs.".to_owned(),
        (1, _) => "1 failed job was deleted.".to_owned(),
        (count, _) => format!("{count} failed jobs were deleted."),
    })
}
