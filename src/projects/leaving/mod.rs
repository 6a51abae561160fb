//! What becomes of projects when an account is deleted: those that it has alone go; in the others it is no member any
//! longer, and what it did there stays theirs.

pub mod store;

use std::sync::Arc;

use actors::ids::{self, Id, Member, User};
use actors::live::{RequestId, Told};
use actors::time::Time;
use async_trait::async_trait;
use serde::Serialize;
use uuid::Uuid;

use super::documents::contents;
use super::operations::{self, tell, topic};
use crate::access::role::ProjectRole;
use crate::accounts::profile::leaving::{Afterwards, Holder, Leaving, Stop};
use crate::app::App;
use crate::db::{Conn, Failed, events};
use crate::http::code::Code;
use crate::http::failure::{Failure, Fault};
use store::Part;

/// Projects, as what accounts have part in.
pub struct OfProjects;

/// As in the answers of people: null, as it is no member any longer.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Gone {
    id: Id<Member>,
    user_id: Id<User>,
    role: Option<ProjectRole>,
}

#[async_trait]
impl Holder for OfProjects {
    async fn prepare(&self, app: &App, leaving: &Leaving) -> Result<(), Failure> {
        let user_id = leaving.account.id;
        let found = app.db.read(move |conn| {
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
        for part in parts.iter().filter(|part| part.is_alone()) {
            delete_alone(app, part.project_id, user_id, &leaving.request).await?;
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
            told.extend(take_out(conn, part, user_id, leaving.now, &leaving.request).await?);
        }
        store::forget_invitations(conn, &leaving.account.email).await?;
        let left: Vec<Id<ids::Project>> = parts.iter().map(|part| part.project_id).collect();
        Ok(Some(Box::new(move |app| {
            left.into_iter().for_each(|id| app.roles.forget(id));
            app.hub.tell(told);
        })))
    }
}

/// Every project that has to be handed over, or in which something has to end first.
fn refuse(parts: &[Part], busy: Vec<String>) -> Result<(), Failure> {
    let fault = |code: Code, message: String| Fault { code: code.name, message, field: None };
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
        [first, ..] => Err(Failure { message: first.message.clone(), faults, ..Failure::of(code) }),
    }
}

/// Deletes a project that nobody else is in; one that somebody joined meanwhile stays, and so does one that is gone.
async fn delete_alone(app: &App, id: Id<ids::Project>, user_id: Id<User>, request: &RequestId) -> Result<(), Failure> {
    let (now, asked) = (app.now(), Arc::clone(request));
    let told = app
        .db
        .write(move |conn| {
            Box::pin(async move {
                let Some(project) = super::store::find_to_change(conn, id).await? else {
                    return Ok::<_, Failure>(None);
                };
                if !store::parts(conn, user_id).await?.iter().any(|part| part.project_id == id && part.is_alone()) {
                    return Ok(None);
                }
                let (told, contents) = operations::delete_whole(conn, project, now, &asked).await?;
                // By a job, so that no end of this server leaves a content that nobody looks for.
                contents::forget(conn, contents, now, &asked).await?;
                Ok(Some(told))
            })
        })
        .await?;
    if let Some(told) = told {
        app.roles.forget(id);
        app.hub.tell(vec![told]);
        app.jobs.wake();
    }
    Ok(())
}

/// Ends a membership; a project that named the account as its owner names another one.
async fn take_out(
    conn: &mut Conn,
    part: &Part,
    user_id: Id<User>,
    now: Time,
    request: &RequestId,
) -> Result<Vec<Told>, Failed> {
    let mut told = Vec::new();
    store::delete_member(conn, part.member_id).await?;
    let gone = Gone { id: part.member_id, user_id, role: None };
    let data = serde_json::to_string(&gone).map_err(|error| Failed::Broken(error.to_string()))?;
    told.push(events::append(conn, topic(part.project_id), "member.changed", &data, now, request).await?);
    let project = super::store::find(conn, part.project_id).await?.filter(|project| project.owner_id == user_id);
    if let (Some(mut project), Some(heir)) = (project, store::first_owner(conn, part.project_id).await?) {
        (project.owner_id, project.updated_at) = (heir, now);
        super::store::set_owner(conn, &project).await?;
        told.push(tell(conn, &project, "project.updated", now, request).await?);
    }
    Ok(told)
}
