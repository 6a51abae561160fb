//! A cache of projects and of the roles in them: nearly every request needs both, and they seldom change.
//!
//! Only this process writes memberships and projects, so an entry is valid until this process invalidates it.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use actors::ids::{self, Id, User};

use super::model::{Project, ProjectStatus};
use super::store;
use crate::access::role::ProjectRole;
use crate::db::Db;
use crate::http::error::ApiError;

const MAX_ROLES: usize = 50_000;
/// A project takes up to some kilobytes.
const MAX_PROJECTS: usize = 4096;

/// The cache of recently used projects and roles.
#[derive(Default)]
pub struct Roles(RwLock<Remembered>);

#[derive(Default)]
struct Remembered {
    roles: HashMap<(Id<ids::Project>, Id<User>), Option<ProjectRole>>,
    projects: HashMap<Id<ids::Project>, Arc<Project>>,
    /// Increases with each invalidation: what was read before one must not be cached after it.
    forgotten: u64,
    /// Projects that are being changed, or their members, with the number of such requests: both are read from the
    /// database.
    changing: HashMap<Id<ids::Project>, usize>,
}

/// While this guard exists nothing of its project is cached, so that a client that learns of a change before the
/// request that made it has returned sees the new project and roles, not the old ones.
#[must_use]
pub struct Changing<'a> {
    roles: &'a Roles,
    project_id: Id<ids::Project>,
}

impl Roles {
    /// Must be held while a membership or the project is written, until the outcome is known.
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
        remembered.projects.remove(&project_id);
    }

    /// Must be called when a write ended whose outcome was unknown: it may have changed any project.
    pub fn invalidate_all(&self) {
        let mut remembered = self.0.write().unwrap_or_else(PoisonError::into_inner);
        remembered.forgotten += 1;
        remembered.roles.clear();
        remembered.projects.clear();
    }

    fn get(&self, key: (Id<ids::Project>, Id<User>)) -> Result<Option<ProjectRole>, u64> {
        let remembered = self.0.read().unwrap_or_else(PoisonError::into_inner);
        remembered.roles.get(&key).copied().ok_or(remembered.forgotten)
    }

    fn insert_role(&self, key: (Id<ids::Project>, Id<User>), role: Option<ProjectRole>, since: u64) {
        self.remember(key.0, since, |remembered| {
            if remembered.roles.len() >= MAX_ROLES {
                remembered.roles.clear();
            }
            remembered.roles.insert(key, role);
        });
    }

    fn known_project(&self, project_id: Id<ids::Project>) -> Result<Arc<Project>, u64> {
        let remembered = self.0.read().unwrap_or_else(PoisonError::into_inner);
        remembered.projects.get(&project_id).map(Arc::clone).ok_or(remembered.forgotten)
    }

    fn insert_project(&self, project: &Arc<Project>, since: u64) {
        self.remember(project.id, since, |remembered| {
            if remembered.projects.len() >= MAX_PROJECTS {
                remembered.projects.clear();
            }
            remembered.projects.insert(project.id, Arc::clone(project));
        });
    }

    /// Keeps what was read of a project, unless something was invalidated since, or the project is being changed.
    fn remember(&self, project_id: Id<ids::Project>, since: u64, insert: impl FnOnce(&mut Remembered)) {
        let mut remembered = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if remembered.forgotten == since && !remembered.changing.contains_key(&project_id) {
            insert(&mut remembered);
        }
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
            self.insert_role((project_id, user_id), role, since);
        }
        Ok(role)
    }

    /// A project; `None` if it does not exist.
    ///
    /// # Errors
    /// Only database errors.
    pub async fn project(&self, db: &Db, project_id: Id<ids::Project>) -> Result<Option<Arc<Project>>, ApiError> {
        let since = match self.known_project(project_id) {
            Ok(project) => return Ok(Some(project)),
            Err(since) => since,
        };
        let found = db.read(move |conn| Box::pin(store::find(conn, project_id))).await.map_err(ApiError::from)?;
        let project = found.map(Arc::new);
        project.iter().for_each(|project| self.insert_project(project, since));
        Ok(project)
    }

    /// The status of a project; `None` if the project does not exist.
    ///
    /// # Errors
    /// Only database errors.
    pub async fn status(&self, db: &Db, project_id: Id<ids::Project>) -> Result<Option<ProjectStatus>, ApiError> {
        Ok(self.project(db, project_id).await?.map(|project| project.status))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use actors::ids::Id;
    use actors::time::Time;

    use super::{Project, ProjectRole, Roles};

    #[test]
    fn nothing_that_was_read_before_or_during_a_change_is_remembered_after_it() {
        let roles = Roles::default();
        let key = (Id::generate(), Id::generate());
        let since = roles.get(key).unwrap_err();
        roles.insert_role(key, Some(ProjectRole::Analyst), since);
        assert_eq!(roles.get(key), Ok(Some(ProjectRole::Analyst)));
        let changing = roles.change(key.0);
        let during = roles.get(key).unwrap_err();
        roles.insert_role(key, Some(ProjectRole::Analyst), since);
        roles.insert_role(key, Some(ProjectRole::Analyst), during);
        assert!(roles.get(key).is_err(), "kept during the change");
        let another = roles.change(key.0);
        drop(changing);
        roles.insert_role(key, Some(ProjectRole::Analyst), roles.get(key).unwrap_err());
        assert!(roles.get(key).is_err(), "another change is under way");
        drop(another);
        roles.insert_role(key, Some(ProjectRole::Analyst), during);
        assert!(roles.get(key).is_err(), "kept after the change, read during it");
        roles.insert_role(key, None, roles.get(key).unwrap_err());
        assert_eq!(roles.get(key), Ok(None));
    }

    #[test]
    fn a_project_that_was_read_before_or_during_a_change_is_not_remembered_after_it() {
        let (roles, now) = (Roles::default(), Time::from_millis(1_800_000_000_000).unwrap());
        let project = Arc::new(Project::new(Id::generate(), Id::generate(), "P".to_owned(), now));
        let since = roles.known_project(project.id).unwrap_err();
        roles.insert_project(&project, since);
        assert_eq!(roles.known_project(project.id).as_deref(), Ok(&*project));
        let changing = roles.change(project.id);
        let during = roles.known_project(project.id).unwrap_err();
        roles.insert_project(&project, during);
        assert!(roles.known_project(project.id).is_err(), "kept during the change");
        drop(changing);
        roles.insert_project(&project, since);
        roles.insert_project(&project, during);
        assert!(roles.known_project(project.id).is_err(), "kept after the change, read before or during it");
    }

    #[test]
    fn a_change_in_one_project_leaves_the_others_alone() {
        let roles = Roles::default();
        let (mine, other) = ((Id::generate(), Id::generate()), Id::generate());
        let _changing = roles.change(other);
        roles.insert_role(mine, Some(ProjectRole::Owner), roles.get(mine).unwrap_err());
        assert_eq!(roles.get(mine), Ok(Some(ProjectRole::Owner)));
    }
}
