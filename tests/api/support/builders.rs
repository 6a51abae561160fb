//! Builders for the data that tests start from: accounts, projects, members, meetings.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{LazyLock, Mutex};
use std::time::Duration;

use actors::ids::{self, Id};
use actors::live::{Topic, TopicKind};
use actors::time::{Clock, SystemClock, Time};
use colloquy::accounts;
use colloquy::accounts::model::Email;
use colloquy::db::events as log;
use colloquy::db::schema::{
    consents, dashboard_exports, events, jobs, members, participants, pending_tracker_connections, project_invitations,
    proposals, sessions, tracker_connections, users,
};
use colloquy::db::{DbError, RunQueryDsl};
use colloquy::http::fields::Field;
use colloquy::jobs::Job;
use diesel::{ExpressionMethods, QueryDsl};
use serde_json::{Value, json};

use super::client::Client;
use super::outbox;
use super::server::Server;
use super::world::World;

pub const PASSWORD: &str = "correct horse battery staple";

/// A user with a confirmed account who is logged in.
#[derive(Clone)]
pub struct User {
    pub id: String,
    pub email: String,
    /// A client with this account's access token.
    pub client: Client,
    pub refresh_token: String,
}

/// A member's role in a project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    Stakeholder,
    Analyst,
    Manager,
    Owner,
}

impl Role {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Stakeholder => "STAKEHOLDER",
            Self::Analyst => "ANALYST",
            Self::Manager => "MANAGER",
            Self::Owner => "OWNER",
        }
    }
}

/// Returns an e-mail address that no other test of the process uses.
pub fn fresh_email() -> String {
    static LAST: AtomicU64 = AtomicU64::new(0);
    format!("person{}@example.org", LAST.fetch_add(1, Ordering::Relaxed))
}

/// The client of the user who created each project, because only an owner can invite members.
static OWNERS: LazyLock<Mutex<HashMap<String, Client>>> = LazyLock::new(Mutex::default);

/// Registers an address; returns the registration id and the code from the e-mail.
pub async fn registered(server: &Server, email: &str) -> (String, String) {
    registered_as(server, email, "Ada Lovelace", "EN").await
}

async fn registered_as(server: &Server, email: &str, full_name: &str, language: &str) -> (String, String) {
    let before = outbox::mails(&server.data, email).len();
    let body = json!({"email": email, "password": PASSWORD, "fullName": full_name, "language": language});
    let answer = server.client().post("/api/auth/register").json(body).await.is(201);
    let code = outbox::code_in(&outbox::wait_for(&server.data, email, before + 1).await).expect("a code in the mail");
    (answer.text_of("registrationId"), code)
}

impl Server {
    /// Registers and confirms a new account, which also logs it in.
    pub async fn user(&self) -> User {
        self.user_as(&fresh_email(), "Ada Lovelace", "EN").await
    }

    /// As [`Server::user`], with a given address, name and language.
    pub async fn user_as(&self, email: &str, full_name: &str, language: &str) -> User {
        let email = email.to_owned();
        let (registration_id, code) = registered_as(self, &email, full_name, language).await;
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

    /// Makes a user a member through the API: the project's owner invites them and they accept with the token from the
    /// e-mail. Panics for a project that was not made by [`User::project`].
    pub async fn join(&self, project_id: &str, user: &User, role: Role) {
        let owner = OWNERS.lock().unwrap()[project_id].moved_to(self);
        let token = self.invite(&owner, project_id, &user.email, role).await;
        user.client.post(format!("/api/project-invitations/{token}/accept")).served().await.is(200);
    }

    /// Invites an address to a project; returns the token from the e-mail.
    pub async fn invite(&self, by: &Client, project_id: &str, email: &str, role: Role) -> String {
        let before = outbox::mails(&self.data, email).len();
        let body = json!({"email": email, "role": role.name()});
        // Other stories may keep the database busy at this moment, which is not what any story with a member is about.
        by.post(format!("/api/projects/{project_id}/members")).json(body).served().await.is(201);
        outbox::token_in(&outbox::wait_for(&self.data, email, before + 1).await).expect("a token in the mail")
    }

    /// Lets the invitations of a project expire `seconds` earlier.
    pub async fn age_invitations(&self, project_id: &str, seconds: u64) {
        let project: Id<ids::Project> = project_id.parse().unwrap();
        let db = self.db().await;
        db.write(move |conn| {
            Box::pin(async move {
                let all = project_invitations::table.filter(project_invitations::project_id.eq(project));
                let kept: Vec<(Id<()>, Time)> =
                    all.select((project_invitations::id, project_invitations::expires_at)).load(conn).await?;
                for (id, expires_at) in kept {
                    let earlier = expires_at - Duration::from_secs(seconds);
                    let one = project_invitations::table.find(id);
                    diesel::update(one).set(project_invitations::expires_at.eq(earlier)).execute(conn).await?;
                }
                Ok::<_, DbError>(())
            })
        })
        .await
        .unwrap();
    }

    /// Lets the sign-ins at a tracker that were begun for a project expire earlier.
    pub async fn age_tracker_sign_ins(&self, project_id: &str, by: Duration) {
        let project: Id<ids::Project> = project_id.parse().unwrap();
        let db = self.db().await;
        db.write(move |conn| {
            Box::pin(async move {
                let all =
                    pending_tracker_connections::table.filter(pending_tracker_connections::project_id.eq(project));
                let past = SystemClock.now() + Duration::from_secs(600) - by;
                diesel::update(all).set(pending_tracker_connections::expires_at.eq(past)).execute(conn).await?;
                Ok::<_, DbError>(())
            })
        })
        .await
        .unwrap();
    }

    /// Lets another process hold the right to refresh a project's tokens for a while.
    pub async fn hold_token_refresh(&self, project_id: &str, hold: Duration) {
        let project: Id<ids::Project> = project_id.parse().unwrap();
        let db = self.db().await;
        db.write(move |conn| {
            Box::pin(async move {
                let until = SystemClock.now() + hold;
                let own = tracker_connections::table.find(project);
                diesel::update(own).set(tracker_connections::refreshing_until.eq(until)).execute(conn).await?;
                Ok::<_, DbError>(())
            })
        })
        .await
        .unwrap();
    }

    /// Lets the exports of a project expire a day earlier.
    pub async fn expire_exports(&self, project_id: &str) {
        let project: Id<ids::Project> = project_id.parse().unwrap();
        let db = self.db().await;
        db.write(move |conn| {
            Box::pin(async move {
                let all = dashboard_exports::table.filter(dashboard_exports::project_id.eq(project));
                let past = SystemClock.now() - Duration::from_secs(60);
                diesel::update(all).set(dashboard_exports::expires_at.eq(past)).execute(conn).await?;
                Ok::<_, DbError>(())
            })
        })
        .await
        .unwrap();
    }

    /// Inserts a guest into a meeting, directly in the database and with given times; the status follows from them.
    /// Returns the participant's id.
    pub async fn guest(
        &self,
        meeting_id: &str,
        name: &str,
        email: Option<&str>,
        joined_at: Option<&str>,
        left_at: Option<&str>,
    ) -> String {
        let (id, meeting) = (Id::<ids::Participant>::generate(), meeting_id.parse::<Id<()>>().unwrap());
        let time = |text: Option<&str>| text.map(|text| Time::at(text.parse().unwrap()));
        let (joined_at, left_at) = (time(joined_at), time(left_at));
        let (name, email) = (name.to_owned(), email.map(str::to_owned));
        let status = if left_at.is_some() {
            "LEFT"
        } else if joined_at.is_some() {
            "JOINED"
        } else {
            "INVITED"
        };
        let db = self.db().await;
        db.write(move |conn| {
            Box::pin(async move {
                let row = (
                    participants::id.eq(id),
                    participants::meeting_id.eq(meeting),
                    participants::user_id.eq(None::<Id<ids::User>>),
                    participants::display_name.eq(name),
                    participants::email.eq(email),
                    participants::role.eq("PARTICIPANT"),
                    participants::status.eq(status),
                    participants::joined_at.eq(joined_at),
                    participants::left_at.eq(left_at),
                );
                diesel::insert_into(participants::table).values(row).execute(conn).await?;
                Ok::<_, DbError>(())
            })
        })
        .await
        .unwrap();
        id.to_string()
    }

    /// Makes an account an operator, or revokes that, as `colloquy admin set-operator` does.
    pub async fn set_operator(&self, user: &User, is_operator: bool) {
        let email = Email::parse(&json!(user.email)).unwrap();
        accounts::operator::set_operator(&self.db().await, email, is_operator, SystemClock.now()).await.unwrap();
    }

    /// Removes an account's password, as if the account came from an external log-in.
    pub async fn without_password(&self, user: &User) {
        let id: Id<ids::User> = user.id.parse().unwrap();
        let db = self.db().await;
        db.write(move |conn| {
            Box::pin(async move {
                diesel::update(users::table.find(id))
                    .set(users::password_hash.eq(None::<String>))
                    .execute(conn)
                    .await?;
                Ok::<_, DbError>(())
            })
        })
        .await
        .unwrap();
    }

    /// Sets the creation of an account's sessions to the time `ago`.
    pub async fn log_in_long_ago(&self, user: &User, ago: Duration) {
        let id: Id<ids::User> = user.id.parse().unwrap();
        let begun = SystemClock.now() - ago;
        let db = self.db().await;
        db.write(move |conn| {
            Box::pin(async move {
                diesel::update(sessions::table.filter(sessions::user_id.eq(id)))
                    .set(sessions::created_at.eq(begun))
                    .execute(conn)
                    .await?;
                Ok::<_, DbError>(())
            })
        })
        .await
        .unwrap();
    }

    /// Returns the payloads of the jobs of a kind that are still in the table.
    pub async fn waiting_jobs(&self, kind: &'static str) -> Vec<String> {
        let db = self.db().await;
        let found = db.read(move |conn| {
            Box::pin(async move {
                Ok::<_, DbError>(jobs::table.filter(jobs::kind.eq(kind)).select(jobs::payload).load(conn).await?)
            })
        });
        found.await.unwrap()
    }

    /// Returns how many proposals there are, drafts among them.
    pub async fn proposals(&self) -> i64 {
        let db = self.db().await;
        let counted = db.read(move |conn| {
            Box::pin(async move { Ok::<_, DbError>(proposals::table.count().get_result(conn).await?) })
        });
        counted.await.unwrap()
    }

    /// Inserts a job that is due now, with any payload.
    pub async fn enqueue(&self, kind: &'static str, payload: Value) {
        let now = SystemClock.now();
        let db = self.db().await;
        db.write(move |conn| {
            let row = (
                jobs::id.eq(Id::<Job>::generate()),
                jobs::kind.eq(kind),
                jobs::payload.eq(payload.to_string()),
                jobs::request_id.eq("story"),
                jobs::run_at.eq(now),
                jobs::attempts.eq(0),
                jobs::created_at.eq(now),
            );
            Box::pin(async move {
                diesel::insert_into(jobs::table).values(row).execute(conn).await?;
                Ok::<_, DbError>(())
            })
        })
        .await
        .unwrap();
    }

    /// Makes the jobs of a kind due now.
    pub async fn make_due(&self, kind: &'static str) {
        let now = SystemClock.now();
        let db = self.db().await;
        db.write(move |conn| {
            Box::pin(async move {
                let of_kind = jobs::table.filter(jobs::kind.eq(kind));
                diesel::update(of_kind).set(jobs::run_at.eq(now)).execute(conn).await?;
                Ok::<_, DbError>(())
            })
        })
        .await
        .unwrap();
    }

    /// Makes a member an owner, directly in the database.
    pub async fn become_owner(&self, project_id: &str, user: &User) {
        let project: Id<ids::Project> = project_id.parse().unwrap();
        let user: Id<ids::User> = user.id.parse().unwrap();
        let db = self.db().await;
        db.write(move |conn| {
            Box::pin(async move {
                let own = members::table.filter(members::project_id.eq(project));
                let own = own.filter(members::user_id.eq(user));
                diesel::update(own).set(members::role.eq("OWNER")).execute(conn).await?;
                Ok::<_, DbError>(())
            })
        })
        .await
        .unwrap();
    }

    /// Sets the roles of a project's members to an unknown value, which no operation can do.
    pub async fn break_roles(&self, project_id: &str) {
        let project: Id<ids::Project> = project_id.parse().unwrap();
        let db = self.db().await;
        db.write(move |conn| {
            Box::pin(async move {
                let of_project = members::table.filter(members::project_id.eq(project));
                diesel::update(of_project).set(members::role.eq("NOBODY")).execute(conn).await?;
                Ok::<_, DbError>(())
            })
        })
        .await
        .unwrap();
    }

    /// Replaces the scopes of a meeting's consents by RECORDING, which no operation can do.
    pub async fn tamper_with_consents(&self, meeting_id: &str) {
        let meeting: Id<actors::meeting::Meeting> = meeting_id.parse().unwrap();
        let db = self.db().await;
        db.write(move |conn| {
            Box::pin(async move {
                let of_meeting = consents::table.filter(consents::meeting_id.eq(meeting));
                diesel::update(of_meeting).set(consents::scopes.eq("RECORDING")).execute(conn).await?;
                Ok::<_, DbError>(())
            })
        })
        .await
        .unwrap();
    }

    /// Returns the kinds of the events that a request caused, in the order of their positions.
    pub async fn events_of_request(&self, request_id: &str) -> Vec<String> {
        let request_id = request_id.to_owned();
        let db = self.db().await;
        let found = db.read(move |conn| {
            Box::pin(async move {
                let caused = events::table.filter(events::request_id.eq(request_id)).order(events::position.asc());
                Ok::<_, DbError>(caused.select(events::kind).load(conn).await?)
            })
        });
        found.await.unwrap()
    }

    /// Returns the positions of a meeting's events, in order: consecutive, if no event was lost.
    pub async fn positions_of_meeting(&self, meeting_id: &str) -> Vec<i64> {
        let topic = format!("meeting:{meeting_id}");
        let db = self.db().await;
        let found = db.read(move |conn| {
            Box::pin(async move {
                let records = events::table.filter(events::topic.eq(topic)).order(events::position.asc());
                Ok::<_, DbError>(records.select(events::position).load(conn).await?)
            })
        });
        found.await.unwrap()
    }

    /// Returns the events recorded of a run: offset, time in milliseconds, and the run at that time.
    pub async fn events_of_run(&self, run_id: &str) -> Vec<(u64, i64, Value)> {
        let topic = Topic { kind: TopicKind::Run, id: run_id.parse().unwrap() };
        let db = self.db().await;
        let records = db.read(move |conn| Box::pin(log::read_after(conn, topic, 0, 10_000))).await.unwrap();
        records
            .iter()
            .map(|record| (record.offset, record.at.millis(), serde_json::from_str(&record.data).unwrap()))
            .collect()
    }

    /// Creates a user who is a member of a project with a role.
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
    /// Creates a project of this user; returns its id.
    pub async fn project(&self) -> String {
        let body = json!({"name": "Clinic booking", "description": "Patients book their visits."});
        let id = self.client.post("/api/projects").json(body).await.is(201).text_of("id");
        OWNERS.lock().unwrap().insert(id.clone(), self.client.clone());
        id
    }

    /// Creates a meeting of this user; returns the data of createMeeting's response.
    pub async fn meeting(&self, project_id: &str) -> Value {
        let body = json!({
            "title": "Discovery", "description": "What the clinic needs.", "scheduledAt": "2026-03-02T09:00:00.000Z",
        });
        let made = self.client.post(format!("/api/projects/{project_id}/meetings")).json(body).await.is(201);
        made.data().clone()
    }

    /// As [`User::meeting`]; returns the meeting's path.
    pub async fn meeting_path(&self, project_id: &str) -> String {
        format!("/api/meetings/{}", self.meeting(project_id).await["id"].as_str().unwrap())
    }

    /// Returns the same user for a server that was started again.
    #[must_use]
    pub fn at(&self, server: &Server) -> Self {
        Self { client: self.client.moved_to(server), ..self.clone() }
    }
}
