//! What every operation may reach: one value, built by `wiring`, handed to each handler.

use std::ops::Deref;
use std::sync::Arc;

use actix_web::HttpRequest;
use actors::hub::Hub;
use actors::keeper::Keeper;
use actors::meeting::Meeting;
use actors::run::Run;
use actors::time::{Clock, Time};
use actors::watch::Watch;
use bytes::Bytes;
use metrics_exporter_prometheus::PrometheusHandle;
use uuid::Uuid;

use crate::access::keys::Secret;
use crate::access::revoked::Revoked;
use crate::access::token::Tokens;
use crate::accounts::profile::leaving::Holders;
use crate::accounts::sessions::turns::Turns;
use crate::analysis::runner::Runner;
use crate::config::Config;
use crate::db::Db;
use crate::http::budget::Budget;
use crate::http::failure::Failure;
use crate::http::limits::Limits;
use crate::http::line::Lines;
use crate::http::places::Places;
use crate::jobs::Jobs;
use crate::jobs::mail::Post;
use crate::live::audience::Audiences;
use crate::live::tickets::Tickets;
use crate::meetings::consents::wording::Wordings;
use crate::meetings::participants::attendance::Attendance;
use crate::meetings::rooms::Rooms;
use crate::outside::files::Files;
use crate::outside::openid::OpenId;
use crate::passwords::Passwords;
use crate::projects::people::membership_end::MembershipHooks;
use crate::projects::roles::Roles;
use crate::service::Readiness;
use crate::tasks::Tasks;

/// The service's parts. Clones are the same one.
#[derive(Clone)]
pub struct App(Arc<Parts>);

pub struct Parts {
    pub config: Config,
    /// Where people meet the product; links begin with it. Without a slash at its end.
    pub url: String,
    pub db: Db,
    pub clock: Arc<dyn Clock>,
    pub tokens: Tokens,
    pub revoked: Revoked,
    /// One refresh of a session after the other.
    pub turns: Turns,
    /// The log-in provider, where one is configured.
    pub google: Option<OpenId>,
    pub secret: Secret,
    pub passwords: Passwords,
    pub limits: Limits,
    pub hub: Hub,
    pub meetings: Keeper<Meeting>,
    pub attendance: Attendance,
    pub wordings: Wordings,
    /// Where meetings are held.
    pub rooms: Rooms,
    pub runs: Keeper<Run>,
    pub runner: Runner,
    pub roles: Roles,
    pub jobs: Jobs,
    /// Takes letters.
    pub post: Post,
    pub files: Files,
    /// Faces of accounts, apart from what projects keep.
    pub avatars: Files,
    /// What else ends with a membership.
    pub membership_hooks: MembershipHooks,
    /// What else accounts have to do with, asked when one is deleted.
    pub holders: Holders,
    pub tickets: Tickets,
    /// Who may listen to what.
    pub audiences: Audiences,
    /// Open sockets, by account.
    pub sockets: Places<Uuid>,
    /// Open event streams, by account.
    pub streams: Places<Uuid>,
    /// Open connections.
    pub lines: Arc<Lines>,
    /// What bodies and answers on their way hold.
    pub budget: Budget,
    pub tasks: Tasks,
    pub readiness: Readiness,
    pub watch: Watch,
    pub metrics: PrometheusHandle,
    pub openapi: Bytes,
}

impl App {
    #[must_use]
    pub fn new(parts: Parts) -> Self {
        Self(Arc::new(parts))
    }

    /// The app that serves a request.
    ///
    /// # Errors
    /// 500: the server was built without it.
    pub fn of(request: &HttpRequest) -> Result<Self, Failure> {
        request.app_data::<Self>().cloned().ok_or_else(|| Failure::internal("the app is not mounted"))
    }

    #[must_use]
    pub fn now(&self) -> Time {
        self.clock.now()
    }
}

impl Deref for App {
    type Target = Parts;
    fn deref(&self) -> &Parts {
        &self.0
    }
}
