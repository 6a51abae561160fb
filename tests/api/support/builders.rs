//! Builders of what stories begin with: accounts, projects, members, meetings.

use std::sync::atomic::{AtomicU64, Ordering};

use actors::ids::{self, Id};
use actors::live::{Topic, TopicKind};
use actors::time::Time;
use colloquy::db::events as log;
use colloquy::db::schema::{consents, events, members};
use colloquy::db::{At, Failed, Key, RunQueryDsl};
use diesel::{ExpressionMethods, QueryDsl};
use serde_json::{Value, json};

use super::client::Client;
use super::outbox;
use super::server::Server;
use super::world::World;

pub const PASSWORD: &str = "correct horse battery staple";

/// Somebody with a confirmed account who is logged in.
#[derive(Clone)]
pub struct User {
    pub id: String,
    pub email: String,
    /// Calls as this account.
    pub client: Client,
    pub refresh_token: String,
}

/// What somebody is in a project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    Stakeholder,
    Analyst,
    Manager,
}

impl Role {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Stakeholder => "STAKEHOLDER",
            Self::Analyst => "ANALYST",
            Self::Manager => "MANAGER",
        }
    }
}

/// An address that nobody else has.
pub fn fresh_email() -> String {
    static LAST: AtomicU64 = AtomicU64::new(0);
    format!("person{}@example.org", LAST.fetch_add(1, Ordering::Relaxed))
}

/// A registration as a client gets it: its id and the code that was mailed.
pub async fn registered(server: &Server, email: &str) -> (String, String) {
    let before = outbox::mails(&server.data, email).len();
    let body = json!({"email": email, "password": PASSWORD, "fullName": "Ada Lovelace"});
    let answer = server.client().post("/api/auth/register").json(body).await.is(201);
    let code = outbox::code_in(&outbox::wait_for(&server.data, email, before + 1).await).expect("a code in the mail");
    (answer.text_of("registrationId"), code)
}

impl Server {
    /// Registers, confirms and logs in somebody new.
    pub async fn user(&self) -> User {
        let email = fresh_email();
        let (registration_id, code) = registered(self, &email).await;
        let client = self.client();
        let body = json!({"registrationId": registration_id, "email": email, "code": code});
        let answer = client.post("/api/auth/confirm-account").json(body).await.is(200);
        let user = &answer.data()["user"];
        User {
            id: user["id"].as_str().unwrap().to_owned(),
            email,
            client: client.bearing(&answer.text_of("accessToken")),
            refresh_token: answer.text_of("refreshToken"),
        }
    }

    /// Makes somebody a member: written into the database, as there is no operation for it yet.
    pub async fn join(&self, project_id: &str, user: &User, role: Role) {
        let project: Id<ids::Project> = project_id.parse().unwrap();
        let user: Id<ids::User> = user.id.parse().unwrap();
        let joined_at = Time::from_millis(1_767_225_600_000).unwrap();
        let db = self.db().await;
        db.write(move |conn| {
            Box::pin(async move {
                let row = (
                    members::id.eq(Key(Id::<ids::Member>::draw())),
                    members::project_id.eq(Key(project)),
                    members::user_id.eq(Key(user)),
                    members::role.eq(role.name()),
                    members::joined_at.eq(At(joined_at)),
                );
                diesel::insert_into(members::table).values(row).execute(conn).await?;
                Ok::<_, Failed>(())
            })
        })
        .await
        .unwrap();
    }

    /// Spoils the roles of a project's members, as no operation can.
    pub async fn break_roles(&self, project_id: &str) {
        let project: Id<ids::Project> = project_id.parse().unwrap();
        let db = self.db().await;
        db.write(move |conn| {
            Box::pin(async move {
                let of_project = members::table.filter(members::project_id.eq(Key(project)));
                diesel::update(of_project).set(members::role.eq("NOBODY")).execute(conn).await?;
                Ok::<_, Failed>(())
            })
        })
        .await
        .unwrap();
    }

    /// Makes of a meeting's consents what nobody said, as no operation can.
    pub async fn edit_consents(&self, meeting_id: &str) {
        let meeting: Id<actors::meeting::Meeting> = meeting_id.parse().unwrap();
        let db = self.db().await;
        db.write(move |conn| {
            Box::pin(async move {
                let of_meeting = consents::table.filter(consents::meeting_id.eq(Key(meeting)));
                diesel::update(of_meeting).set(consents::scopes.eq("RECORDING")).execute(conn).await?;
                Ok::<_, Failed>(())
            })
        })
        .await
        .unwrap();
    }

    /// The kinds of the events that a request caused, in their order.
    pub async fn events_of_request(&self, request_id: &str) -> Vec<String> {
        let request_id = request_id.to_owned();
        let db = self.db().await;
        let found = db.read(move |conn| {
            Box::pin(async move {
                let caused = events::table.filter(events::request_id.eq(request_id)).order(events::position.asc());
                Ok::<_, Failed>(caused.select(events::kind).load(conn).await?)
            })
        });
        found.await.unwrap()
    }

    /// The versions that the events of a meeting were told at: one after another, if nothing was lost.
    pub async fn positions_of_meeting(&self, meeting_id: &str) -> Vec<i64> {
        let topic = format!("meeting:{meeting_id}");
        let db = self.db().await;
        let found = db.read(move |conn| {
            Box::pin(async move {
                let told = events::table.filter(events::topic.eq(topic)).order(events::position.asc());
                Ok::<_, Failed>(told.select(events::position).load(conn).await?)
            })
        });
        found.await.unwrap()
    }

    /// What was told of a run: offset, milliseconds, and the run as it was then.
    pub async fn told_of_run(&self, run_id: &str) -> Vec<(u64, i64, Value)> {
        let topic = Topic { kind: TopicKind::Run, id: run_id.parse().unwrap() };
        let db = self.db().await;
        let told = db.read(move |conn| Box::pin(log::read_after(conn, topic, 0, 10_000))).await.unwrap();
        told.iter().map(|told| (told.offset, told.at.millis(), serde_json::from_str(&told.data).unwrap())).collect()
    }

    /// Somebody new with a role in a project.
    pub async fn member(&self, project_id: &str, role: Role) -> User {
        let user = self.user().await;
        self.join(project_id, &user, role).await;
        user
    }
}

impl World {
    pub async fn user(&self) -> User {
        self.server.user().await
    }

    pub async fn member(&self, project_id: &str, role: Role) -> User {
        self.server.member(project_id, role).await
    }
}

impl User {
    /// A new project of theirs; gives its id.
    pub async fn project(&self) -> String {
        let body = json!({"name": "Clinic booking", "description": "Patients book their visits."});
        self.client.post("/api/projects").json(body).await.is(201).text_of("id")
    }

    /// A new meeting of theirs, as createMeeting answers it.
    pub async fn meeting(&self, project_id: &str) -> Value {
        let body = json!({
            "title": "Discovery", "description": "What the clinic needs.", "scheduledAt": "2026-03-02T09:00:00.000Z",
        });
        let made = self.client.post(format!("/api/projects/{project_id}/meetings")).json(body).await.is(201);
        made.data().clone()
    }

    /// As [`User::meeting`]; its path.
    pub async fn meeting_path(&self, project_id: &str) -> String {
        format!("/api/meetings/{}", self.meeting(project_id).await["id"].as_str().unwrap())
    }

    /// The same person at a server that was started anew.
    #[must_use]
    pub fn at(&self, server: &Server) -> Self {
        Self { client: self.client.moved_to(server), ..self.clone() }
    }
}
