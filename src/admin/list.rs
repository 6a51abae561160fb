//! The accounts as a table, or as JSON; page by page, so that a million of them need no more memory than one page.

use std::io::{self, Write};

use actors::ids::Id;
use actors::time::Time;
use colloquy::accounts::operator::{self, Listed};
use colloquy::db::Db;

use super::End;

const PAGE: i64 = 1000;

pub async fn print(db: &Db, json: bool, now: Time) -> Result<(), End> {
    let mut after = Id::from_uuid(uuid::Uuid::nil());
    let mut is_first = true;
    loop {
        let page = operator::list_users(db, after, PAGE, now).await?;
        let is_last = i64::try_from(page.len()).unwrap_or(PAGE) < PAGE;
        if let Some(last) = page.last() {
            after = last.id;
        }
        let printed = if json { as_json(&page, is_first, is_last) } else { as_table(&page, is_first) };
        match printed {
            Ok(()) => {}
            // Whoever read has seen enough, as `head` does.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(()),
            Err(error) => return Err(End::Failed(format!("The list can't be printed: {error}."))),
        }
        if is_last {
            return Ok(());
        }
        is_first = false;
    }
}

fn as_json(page: &[Listed], is_first: bool, is_last: bool) -> io::Result<()> {
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

/// The e-mail and the name come last, since they are as long as they are.
fn as_table(page: &[Listed], is_first: bool) -> io::Result<()> {
    let mut out = io::stdout().lock();
    if is_first {
        writeln!(
            out,
            "{:36}  {:10}  {:10}  {:>8}  {:4}  E-MAIL, NAME",
            "ID", "CREATED", "LAST USED", "SESSIONS", "LANG"
        )?;
    }
    for one in page {
        let day = |time: Time| time.utc().format("%Y-%m-%d").to_string();
        let last = one.last_used_at.map_or_else(|| "-".to_owned(), day);
        let (id, created) = (one.id.to_string(), day(one.created_at));
        let name = one.full_name.replace('\t', " ");
        writeln!(
            out,
            "{id:36}  {created:10}  {last:10}  {:>8}  {:4}  {}, {name}",
            one.sessions, one.language, one.email
        )?;
    }
    out.flush()
}
