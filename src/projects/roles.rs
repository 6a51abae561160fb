//! A cache of project roles: every polling request needs one, and they seldom change.
//!
//! Only this process writes memberships, so an entry is valid until this process invalidates it.

use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};

use actors::ids::{self, Id, User};

use super::store;
use crate::access::role::ProjectRole;
use crate::db::Db;
use crate::http::error::ApiError;

const MOST: usize = 50_000;

/// The cache of recently used roles.
#[derive(Default)]
pub struct Roles(RwLock<Remembered>);

#[derive(Default)]
struct Remembered {
    roles: HashMap<(Id<ids::Project>, Id<User>), Option<ProjectRole>>,
    /// Increases with each invalidation: a role that was read before one must not be cached after it.
    forgotten: u64,
    /// Projects whose members are being changed, with the number of such requests: their roles are read from the
    /// database.
    changing: HashMap<Id<ids::Project>, usize>,
}

/// While this guard exists no role of its project is cached, so that a client that learns of a change before the
/// request that made it has returned sees the new roles, not the old ones.
#[must_use]
pub struct Changing<'a> {
    roles: &'a Roles,
    project_id: Id<ids::Project>,
}

impl Roles {
    /// Must be held while a membership is written, until the outcome is known.
    pub fn change(&self, project_id: Id<ids::Project>) -> Changing<'_> {
        self.invalidate(project_id);
        let mut remembered = self.0.write().unwrap_or_else(PoisonError::into_inner);
        *remembered.changing.entry(project_id).or_default() += 1;
        Changing { roles: self, project_id }
    }

    /// Must be called when a project was deleted.
    pub fn invalidate(&self, project_id: Id<ids::Project>) {
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
        if remembered.forgotten != since || remembered.changing.contains_key(&key.0) {
            return;
        }
        if remembered.roles.len() >= MOST {
            remembered.roles.clear();
        }
        remembered.roles.insert(key, role);
    }
}

impl Drop for Changing<'_> {
    fn drop(&mut self) {
        let mut remembered = self.roles.0.write().unwrap_or_else(PoisonError::into_inner);
        remembered.forgotten += 1;
        if let Some(others) = remembered.changing.get_mut(&self.project_id) {
            *others -= 1;
            if *others == 0 {
                remembered.changing.remove(&self.project_id);
            }
        }
    }
}

impl Roles {
    /// The role of a user in a project; `None` if the user is not a member or the project does not exist.
    ///
    /// # Errors
    /// Only database errors.
    pub async fn of(
        &self,
        db: &Db,
        project_id: Id<ids::Project>,
        user_id: Id<User>,
    ) -> Result<Option<ProjectRole>, ApiError> {
        let since = match self.get((project_id, user_id)) {
            Ok(role) => return Ok(role),
            Err(since) => since,
        };
        let role =
            db.read(move |conn| Box::pin(store::role(conn, project_id, user_id))).await.map_err(ApiError::from)?;
        // Absent roles are not cached: their number is unbounded.
        if role.is_some() {
            self.keep((project_id, user_id), role, since);
        }
        Ok(role)
    }
}

#[cfg(test)]
mod tests {
    use actors::ids::Id;

    use super::{ProjectRole, Roles};

    #[test]
    fn nothing_that_was_read_before_or_during_a_change_is_remembered_after_it() {
        let roles = Roles::default();
        let key = (Id::generate(), Id::generate());
        let since = roles.get(key).unwrap_err();
        roles.keep(key, Some(ProjectRole::Analyst), since);
        assert_eq!(roles.get(key), Ok(Some(ProjectRole::Analyst)));
        let changing = roles.change(key.0);
        let during = roles.get(key).unwrap_err();
        roles.keep(key, Some(ProjectRole::Analyst), since);
        roles.keep(key, Some(ProjectRole::Analyst), during);
        assert!(roles.get(key).is_err(), "kept during the change");
        let another = roles.change(key.0);
        drop(changing);
        roles.keep(key, Some(ProjectRole::Analyst), roles.get(key).unwrap_err());
        assert!(roles.get(key).is_err(), "another change is under way");
        drop(another);
        roles.keep(key, Some(ProjectRole::Analyst), during);
        assert!(roles.get(key).is_err(), "kept after the change, read during it");
        roles.keep(key, None, roles.get(key).unwrap_err());
        assert_eq!(roles.get(key), Ok(None));
    }

    #[test]
    fn a_change_in_one_project_leaves_the_others_alone() {
        let roles = Roles::default();
        let (mine, other) = ((Id::generate(), Id::generate()), Id::generate());
        let _changing = roles.change(other);
        roles.keep(mine, Some(ProjectRole::Owner), roles.get(mine).unwrap_err());
        assert_eq!(roles.get(mine), Ok(Some(ProjectRole::Owner)));
    }
}
