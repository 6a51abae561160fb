//! Verifies approval trails, and exports one as JSON lines.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;

use actors::ids::{self, Id};
use colloquy::analysis::trail::model::TrailVerification;
use colloquy::analysis::trail::seal::{GENESIS, StoredEvent};
use colloquy::analysis::trail::{operator, verification};
use colloquy::db::Db;
use colloquy::http::error::ApiError;
use serde_json::json;

use super::AdminError;

/// Which trails are verified.
pub enum Trails {
    All,
    /// One, which may be exported.
    Of(Id<ids::Project>, Option<PathBuf>),
}

/// Verifies the trails and prints a line for each. Fails if one is not as it was written.
pub async fn verify(db: &Db, trails: Trails) -> Result<(), AdminError> {
    let (projects, file) = match trails {
        Trails::All => (operator::projects(db).await.map_err(ApiError::from)?, None),
        Trails::Of(project, file) => (vec![project], file),
    };
    let mut export = file.map(Export::create).transpose()?;
    let mut broken = 0;
    for project in projects {
        let visit = |event: StoredEvent| {
            if let Some(export) = &mut export {
                export.event(&event);
            }
        };
        let verified = verification::each(db, project, visit).await.map_err(ApiError::from)?;
        println!("{}", line(project, &verified));
        broken += usize::from(!verified.valid);
        if let Some(export) = export.take() {
            export.finish(&verified)?;
        }
    }
    match broken {
        0 => Ok(()),
        1 => Err(AdminError::Failed("1 trail is not as it was written.".to_owned())),
        several => Err(AdminError::Failed(format!("{several} trails are not as they were written."))),
    }
}

fn line(project: Id<ids::Project>, verified: &TrailVerification) -> String {
    let TrailVerification { count, head, broken_at, .. } = verified;
    match broken_at {
        None => format!("{project}  valid   {count} events  head {head}"),
        Some(at) => format!("{project}  BROKEN  at event {at} of {count}"),
    }
}

/// A file with a trail: a line for each event, with the sealed text as it was hashed, and one for the head.
struct Export {
    file: BufWriter<File>,
    previous: String,
    failure: Option<std::io::Error>,
}

impl Export {
    fn create(path: PathBuf) -> Result<Self, AdminError> {
        let file = File::create_new(&path)
            .map_err(|error| AdminError::Failed(format!("{} can't be created: {error}.", path.display())))?;
        Ok(Self { file: BufWriter::new(file), previous: GENESIS.to_owned(), failure: None })
    }

    fn event(&mut self, event: &StoredEvent) {
        let line = json!({
            "number": event.number, "sealed": event.sealed, "previousHash": self.previous, "hash": event.hash,
            "actorName": event.actor_name, "actorSalt": event.actor_salt,
        });
        if self.failure.is_none() {
            self.failure = writeln!(self.file, "{line}").err();
        }
        self.previous.clone_from(&event.hash);
    }

    fn finish(mut self, verified: &TrailVerification) -> Result<(), AdminError> {
        let written = match self.failure.take() {
            Some(failure) => Err(failure),
            None => serde_json::to_string(verified)
                .map_err(std::io::Error::from)
                .and_then(|head| writeln!(self.file, "{head}"))
                .and_then(|()| self.file.flush())
                .and_then(|()| self.file.get_ref().sync_all()),
        };
        written.map_err(|error| AdminError::Failed(format!("The trail can't be exported: {error}.")))
    }
}
