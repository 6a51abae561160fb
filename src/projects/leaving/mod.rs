//! What becomes of projects when an account is deleted: those that it has alone go; in the others it is no member any
//! longer, and what it did there stays theirs.

pub mod store;

use std::sync::Arc;

use actors::ids::{self, Id, User};
use actors::live::{RequestId, Told};
use async_trait::async_trait;
use uuid::Uuid;

use super::deletion;
use super::people::operations as members;
use super::people::store as people;
use crate::accounts::profile::leaving::{Afterwards, Holder, Leaving, Stop};
use crate::db::{Conn, Failed};
use crate::http::code::Code;
use crate::http::failure::{Failure, Fault};
use crate::projects::state::Projects;
use store::Part;

/// Projects, as what accounts have part in.
pub struct OfProjects {
    pub state: Projects,
}

#[async_trait]
impl Holder for OfProjects {
    async fn prepare(&self, leaving: &Leaving) -> Result<(), Failure> {
        let (state, user_id) = (&self.state, leaving.account.id);
        let found = state.db.read(move |conn| {
            Box::pin(async move {
                let parts = store::parts(conn, user_id).await?;
                let mut busy = Vec::new();
                for part in parts.iter().filter(|part| part.is_alone()) {
                    if super::store::is_busy(conn, part.project_id).await? {
                        busy.push(part.name.clone());
                    }
                }
                Ok::<_, Failed>((parts, busy))
            })
        });
        let (parts, busy) = found.await.map_err(Failure::from)?;
        refuse(&parts, busy)?;
        let until = deletion::in_a_moment();
        for part in parts.iter().filter(|part| part.is_alone()) {
            if delete_alone(state, part.project_id, user_id, &leaving.request).await? {
                deletion::begin(state, part.project_id, until, &leaving.request).await;
            }
        }
        Ok(())
    }

    /// In the order of the ids, as everybody does who needs more than one.
    async fn lock(&self, conn: &mut Conn, user_id: Id<User>) -> Result<Vec<Uuid>, Failed> {
        let projects = store::projects(conn, user_id).await?;
        for id in &projects {
            super::store::find_to_change(conn, *id).await?;
        }
        Ok(projects.into_iter().map(Id::uuid).collect())
    }

    async fn release(&self, conn: &mut Conn, leaving: &Leaving) -> Result<Option<Afterwards>, Stop> {
        let user_id = leaving.account.id;
        let parts = store::parts(conn, user_id).await?;
        if parts.iter().any(Part::is_alone) {
            return Err(Stop::Again);
        }
        refuse(&parts, Vec::new()).map_err(Stop::Refused)?;
        let mut told = Vec::new();
        for part in &parts {
            told.extend(take_out(conn, part.project_id, leaving).await?);
        }
        store::forget_invitations(conn, &leaving.account.email).await?;
        let left: Vec<Id<ids::Project>> = parts.iter().map(|part| part.project_id).collect();
        let state = self.state.clone();
        Ok(Some(Box::new(move || {
            left.into_iter().for_each(|id| state.roles.forget(id));
            state.hub.tell(told);
        })))
    }
}

/// Every project that has to be handed over, or in which something has to end first.
fn refuse(parts: &[Part], busy: Vec<String>) -> Result<(), Failure> {
    let fault = |code: Code, message: String| Fault::of(code, None, message);
    let heirless = parts.iter().filter(|part| part.leaves_no_owner()).map(|part| {
        fault(Code::LAST_OWNER, format!("“{}” ({}) needs another owner first.", part.name, part.project_id))
    });
    let mut faults: Vec<Fault> = heirless.collect();
    let code = if faults.is_empty() { Code::INVALID_STATE } else { Code::LAST_OWNER };
    faults.extend(busy.into_iter().map(|name| {
        fault(Code::INVALID_STATE, format!("End the live meetings and the unfinished analysis runs of “{name}” first."))
    }));
    match faults.as_slice() {
        [] => Ok(()),
        [first, ..] => Err(Failure { message: first.message().to_owned(), faults, ..Failure::of(code) }),
    }
}

/// Deletes a project that nobody else is in; one that somebody joined meanwhile stays, and so does one that is gone. Whether it
/// was deleted.
async fn delete_alone(
    state: &Projects,
    id: Id<ids::Project>,
    user_id: Id<User>,
    request: &RequestId,
) -> Result<bool, Failure> {
    let (now, jobs, asked) = (state.now(), state.jobs.clone(), Arc::clone(request));
    // Whatever comes of it: it may be written though nobody heard so.
    let changing = state.roles.change(id);
    let told = state
        .db
        .write(move |conn| {
            Box::pin(async move {
                let Some(project) = super::store::find_to_change(conn, id).await? else {
                    return Ok::<_, Failure>(None);
                };
                if !store::parts(conn, user_id).await?.iter().any(|part| part.project_id == id && part.is_alone()) {
                    return Ok(None);
                }
                deletion::bury(conn, &jobs, &project, now, &asked).await.map(Some)
            })
        })
        .await;
    drop(changing);
    let Some(told) = told? else { return Ok(false) };
    state.hub.tell(vec![told]);
    Ok(true)
}

/// Ends the membership in a project; one that named the account as its owner names the owner who joined first.
async fn take_out(conn: &mut Conn, id: Id<ids::Project>, leaving: &Leaving) -> Result<Vec<Told>, Failed> {
    let user_id = leaving.account.id;
    let (project, member) = (super::store::find(conn, id).await?, people::of(conn, id, user_id).await?);
    let (Some(project), Some(member)) = (project, member) else { return Ok(Vec::new()) };
    let heir = people::owners(conn, id).await?.into_iter().find(|owner| *owner != user_id);
    members::take_out(conn, project, &member, heir, leaving.now, &leaving.request).await
}
