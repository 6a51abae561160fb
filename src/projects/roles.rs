//! Who is what in which project, remembered: every poll asks for it, and it seldom changes.
//!
//! Only this process writes memberships, so an entry is right until it is forgotten here.

use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};

use actors::ids::{self, Id, User};

use super::store;
use crate::access::role::ProjectRole;
use crate::app::App;
use crate::http::failure::Failure;

const MOST: usize = 50_000;

/// The roles that were asked for lately.
#[derive(Default)]
pub struct Roles(RwLock<Remembered>);

#[derive(Default)]
struct Remembered {
    roles: HashMap<(Id<ids::Project>, Id<User>), Option<ProjectRole>>,
    /// Rises when something is forgotten: what was read before that must not be remembered after it.
    forgotten: u64,
}

impl Roles {
    /// To be called after each change of a membership, and when a project is gone.
    pub fn forget(&self, project_id: Id<ids::Project>) {
        let mut remembered = self.0.write().unwrap_or_else(PoisonError::into_inner);
        remembered.forgotten += 1;
        remembered.roles.retain(|(of, _), _| *of != project_id);
    }

    fn get(&self, key: (Id<ids::Project>, Id<User>)) -> Result<Option<ProjectRole>, u64> {
        let remembered = self.0.read().unwrap_or_else(PoisonError::into_inner);
        remembered.roles.get(&key).copied().ok_or(remembered.forgotten)
    }

    fn keep(&self, key: (Id<ids::Project>, Id<User>), role: Option<ProjectRole>, since: u64) {
        let mut remembered = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if remembered.forgotten != since {
            return;
        }
        if remembered.roles.len() >= MOST {
            remembered.roles.clear();
        }
        remembered.roles.insert(key, role);
    }
}

/// What somebody is in a project; `None`: no member, or no project.
///
/// # Errors
/// The database's own.
pub async fn role(app: &App, project_id: Id<ids::Project>, user_id: Id<User>) -> Result<Option<ProjectRole>, Failure> {
    let since = match app.roles.get((project_id, user_id)) {
        Ok(role) => return Ok(role),
        Err(since) => since,
    };
    let role =
        app.db.read(move |conn| Box::pin(store::role(conn, project_id, user_id))).await.map_err(Failure::from)?;
    // Strangers are not remembered: there is no end of them.
    if role.is_some() {
        app.roles.keep((project_id, user_id), role, since);
    }
    Ok(role)
}
