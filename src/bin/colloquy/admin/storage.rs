//! Prints the projects and the accounts that have stored most.

use colloquy::db::Db;
use colloquy::http::error::ApiError;
use colloquy::quotas::operator::{self, StoredMost};
use serde_json::json;

use super::AdminError;

/// How many of each are listed.
const LISTED: i64 = 50;

pub async fn largest(db: &Db, as_json: bool) -> Result<(), AdminError> {
    let projects = operator::largest_projects(db, LISTED).await.map_err(ApiError::from)?;
    let accounts = operator::largest_accounts(db, LISTED).await.map_err(ApiError::from)?;
    if as_json {
        println!("{:#}", json!({"projects": projects, "accounts": accounts}));
        return Ok(());
    }
    println!("{:36}  {:>20}  {:>20}  PROJECT", "ID", "BYTES", "QUOTA");
    projects.iter().for_each(print);
    println!();
    println!("{:36}  {:>20}  {:>20}  ACCOUNT", "ID", "BYTES", "QUOTA");
    accounts.iter().for_each(print);
    Ok(())
}

fn print(StoredMost { id, name, used_bytes, quota_bytes }: &StoredMost) {
    let quota = quota_bytes.map_or_else(|| "-".to_owned(), |bytes| bytes.to_string());
    // Each stays on one line, even if a name contains control characters.
    let name = name.replace(|sign: char| sign.is_control(), " ");
    println!("{:36}  {used_bytes:>20}  {quota:>20}  {name}", id.to_string());
}
