//! Prints accounts, runs and jobs as a table or as JSON, page by page, so that memory does not grow with their
//! number.

use std::io::{self, Write};

use actors::ids::{Id, User};
use actors::run::Run;
use actors::time::Time;
use colloquy::accounts::operator as accounts;
use colloquy::analysis::operator as runs;
use colloquy::db::Db;
use colloquy::http::error::ApiError;
use colloquy::jobs::{Job, operator as jobs};
use serde::Serialize;

use super::AdminError;

const PAGE: i64 = 1000;

/// An item of a list, and its line in the table.
trait Row: Serialize {
    type Of;
    const HEAD: &str;
    fn id(&self) -> Id<Self::Of>;
    /// Returns the table line; columns of variable width come last.
    fn line(&self) -> String;
}

pub async fn users(db: &Db, json: bool, now: Time) -> Result<(), AdminError> {
    print(json, async |after| accounts::list_users(db, after, PAGE, now).await).await
}

pub async fn runs(db: &Db, json: bool, with_those_over: bool) -> Result<(), AdminError> {
    print(json, async |after| runs::list(db, after, PAGE, with_those_over).await).await
}

pub async fn jobs(db: &Db, json: bool, failed_only: bool) -> Result<(), AdminError> {
    print(json, async |after| jobs::list_for_admin(db, failed_only, after, PAGE).await.map_err(ApiError::from)).await
}

async fn print<R: Row>(
    json: bool,
    after: impl AsyncFn(Id<R::Of>) -> Result<Vec<R>, ApiError>,
) -> Result<(), AdminError> {
    let mut last = Id::from_uuid(uuid::Uuid::nil());
    let mut is_first = true;
    loop {
        let page = after(last).await?;
        let is_last = i64::try_from(page.len()).unwrap_or(PAGE) < PAGE;
        if let Some(row) = page.last() {
            last = row.id();
        }
        let printed = if json { as_json(&page, is_first, is_last) } else { as_table(&page, is_first) };
        match printed {
            Ok(()) => {}
            // The reader closed the pipe early, as `head` does.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(()),
            Err(error) => return Err(AdminError::Failed(format!("The list can't be printed: {error}."))),
        }
        if is_last {
            return Ok(());
        }
        is_first = false;
    }
}

fn as_json<R: Row>(page: &[R], is_first: bool, is_last: bool) -> io::Result<()> {
    let mut out = io::stdout().lock();
    if is_first {
        write!(out, "[")?;
    }
    for (number, listed) in page.iter().enumerate() {
        let comma = if is_first && number == 0 { "" } else { "," };
        write!(out, "{comma}\n  {}", serde_json::to_string(listed)?)?;
    }
    if is_last {
        writeln!(out, "\n]")?;
    }
    out.flush()
}

fn as_table<R: Row>(page: &[R], is_first: bool) -> io::Result<()> {
    let mut out = io::stdout().lock();
    if is_first {
        writeln!(out, "{}", R::HEAD)?;
    }
    for row in page {
        // Each row stays on one line, even if a user name contains control characters.
        writeln!(out, "{}", row.line().replace(|sign: char| sign.is_control(), " "))?;
    }
    out.flush()
}

fn day(time: Time) -> String {
    time.utc().format("%Y-%m-%d").to_string()
}

fn minute(time: Time) -> String {
    time.utc().format("%Y-%m-%d %H:%M").to_string()
}

impl Row for accounts::AccountListItem {
    type Of = User;
    const HEAD: &str = "ID                                    CREATED     LAST USED   SESSIONS  LANG  E-MAIL, NAME";

    fn id(&self) -> Id<User> {
        self.id
    }

    fn line(&self) -> String {
        let (id, created) = (self.id.to_string(), day(self.created_at));
        let last = self.last_used_at.map_or_else(|| "-".to_owned(), day);
        let (sessions, language, email, name) = (self.sessions, &self.language, &self.email, &self.full_name);
        format!("{id:36}  {created:10}  {last:10}  {sessions:>8}  {language:4}  {email}, {name}")
    }
}

impl Row for runs::RunListItem {
    type Of = Run;
    const HEAD: &str = "ID                                    PROJECT                               \
                        CREATED           STATUS      TRY    %  MESSAGE";

    fn id(&self) -> Id<Run> {
        self.id
    }

    fn line(&self) -> String {
        let (id, project, created) = (self.id.to_string(), self.project_id.to_string(), minute(self.created_at));
        let (status, attempt, progress, message) = (&self.status, self.attempt, self.progress, &self.message);
        format!("{id:36}  {project:36}  {created:16}  {status:10}  {attempt:>3}  {progress:>3}  {message}")
    }
}

impl Row for jobs::ListedJob {
    type Of = Job;
    const HEAD: &str = "ID                                    FAILED            TRIES  KIND                ERROR";

    fn id(&self) -> Id<Job> {
        self.id
    }

    fn line(&self) -> String {
        let (id, tries, kind) = (self.id.to_string(), self.attempts, &self.kind);
        let failed = self.failed_at.map_or_else(|| "-".to_owned(), minute);
        let error = self.error.as_deref().unwrap_or("-");
        format!("{id:36}  {failed:16}  {tries:>5}  {kind:18}  {error}")
    }
}
