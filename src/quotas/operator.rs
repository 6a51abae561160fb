//! What operators see and set of quotas: on the machine, and what the overview of the installation shows.

use std::time::Duration;

use actors::ids::{Id, Project, User};
use serde::Serialize;
use tokio::time::Instant;
use uuid::Uuid;

use super::model::QuotaKey;
use super::{Quotas, store};
use crate::db::{Db, DbError};

/// How long the sum of the installation is given out before it is taken again.
const MAX_AGE: Duration = Duration::from_secs(60);

/// A project or an account and what it has stored.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StoredMost {
    pub id: Uuid,
    /// The name of the project, or the e-mail address of the account.
    pub name: String,
    pub used_bytes: i64,
    /// What was set for it alone; `None`: the limit of the settings.
    pub quota_bytes: Option<i64>,
}

impl From<store::LargestRow> for StoredMost {
    fn from(row: store::LargestRow) -> Self {
        Self { id: row.id.uuid(), name: row.name, used_bytes: row.used, quota_bytes: row.quota }
    }
}

/// Returns the projects that have stored most.
///
/// # Errors
/// Returns the database error.
pub async fn largest_projects(db: &Db, most: i64) -> Result<Vec<StoredMost>, DbError> {
    let found = db.read(move |conn| Box::pin(store::largest_projects(conn, most))).await?;
    Ok(found.into_iter().map(StoredMost::from).collect())
}

/// Returns the accounts whose projects have stored most.
///
/// # Errors
/// Returns the database error.
pub async fn largest_accounts(db: &Db, most: i64) -> Result<Vec<StoredMost>, DbError> {
    let found = db.read(move |conn| Box::pin(store::largest_accounts(conn, most))).await?;
    Ok(found.into_iter().map(StoredMost::from).collect())
}

/// Sets what a project may store; 0 is no limit, and `None` the limit of the settings. Running servers know within ten
/// seconds. Returns whether there is such a project.
///
/// # Errors
/// Returns the database error.
pub async fn set_project_quota(db: &Db, id: Id<Project>, bytes: Option<i64>) -> Result<bool, DbError> {
    db.write(move |conn| Box::pin(store::set_project(conn, id, bytes))).await
}

/// As [`set_project_quota`], for what all projects of an account may store together.
///
/// # Errors
/// Returns the database error.
pub async fn set_account_quota(db: &Db, id: Id<User>, bytes: Option<i64>) -> Result<bool, DbError> {
    db.write(move |conn| Box::pin(store::set_account(conn, id, bytes))).await
}

impl Quotas {
    /// Returns how much all projects have stored. Goes through all rows of stored files.
    ///
    /// # Errors
    /// Returns the database error.
    pub async fn stored_bytes(&self) -> Result<u64, DbError> {
        let found = self.db.read(|conn| Box::pin(store::used(conn, QuotaKey::InstallationBytes))).await;
        Ok(found?.0)
    }

    /// As [`Quotas::stored_bytes`], at most a minute old.
    ///
    /// # Errors
    /// Returns the database error.
    pub async fn stored_lately(&self) -> Result<u64, DbError> {
        let mut lately = self.stored_lately.lock().await;
        if let Some((at, bytes)) = *lately
            && at.elapsed() < MAX_AGE
        {
            return Ok(bytes);
        }
        let bytes = self.stored_bytes().await?;
        *lately = Some((Instant::now(), bytes));
        drop(lately);
        Ok(bytes)
    }
}
