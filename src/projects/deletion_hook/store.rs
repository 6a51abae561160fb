//! Queries of an account's memberships, for the deletion of the account.

use actors::ids::{self, Id, User};
use diesel::{ExpressionMethods, JoinOnDsl, QueryDsl};

use crate::access::role::ProjectRole;
use crate::db::schema::{members, project_invitations, projects};
use crate::db::{Conn, DbError, RunQueryDsl};

/// An account's membership in a project, with the numbers of other members.
#[derive(Debug, Clone)]
pub struct DeletedPart {
    pub project_id: Id<ids::Project>,
    pub name: String,
    is_owner: bool,
    others: i64,
    other_owners: i64,
}

impl DeletedPart {
    /// Whether the project has no other members.
    #[must_use]
    pub const fn is_alone(&self) -> bool {
        self.others == 0
    }

    /// Whether the other members would be left without an owner.
    #[must_use]
    pub const fn leaves_no_owner(&self) -> bool {
        self.is_owner && self.others > 0 && self.other_owners == 0
    }
}

/// The projects of which an account is a member, in the order of their ids.
pub async fn projects(conn: &mut Conn, user_id: Id<User>) -> Result<Vec<Id<ids::Project>>, DbError> {
    Ok(members::table
        .filter(members::user_id.eq(user_id))
        .order(members::project_id.asc())
        .select(members::project_id)
        .load(conn)
        .await?)
}

/// An account's role in each of its projects, and who the other members are.
pub async fn parts(conn: &mut Conn, user_id: Id<User>) -> Result<Vec<DeletedPart>, DbError> {
    let owner = ProjectRole::Owner;
    let rows: Vec<(Id<ids::Project>, String, ProjectRole)> = members::table
        .inner_join(projects::table.on(projects::id.eq(members::project_id)))
        .filter(members::user_id.eq(user_id))
        .order(members::project_id.asc())
        .select((projects::id, projects::name, members::role))
        .load(conn)
        .await?;
    let mut parts = Vec::with_capacity(rows.len());
    for (project_id, name, role) in rows {
        let others = members::table.filter(members::project_id.eq(project_id)).filter(members::user_id.ne(user_id));
        parts.push(DeletedPart {
            project_id,
            name,
            is_owner: role == owner,
            others: others.count().get_result(conn).await?,
            other_owners: others.filter(members::role.eq(owner)).count().get_result(conn).await?,
        });
    }
    Ok(parts)
}

/// Deletes the invitations of an e-mail address to all projects.
pub async fn forget_invitations(conn: &mut Conn, email: &str) -> Result<(), DbError> {
    diesel::delete(project_invitations::table.filter(project_invitations::email.eq(email))).execute(conn).await?;
    Ok(())
}
