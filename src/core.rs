//! The state that every module may use: settings, database, clock, event hub, jobs, e-mail, secrets, quotas and
//! background tasks.

use std::sync::Arc;

use actors::hub::Hub;
use actors::time::{Clock, Time};

use crate::config::Config;
use crate::db::Db;
use crate::jobs::Jobs;
use crate::jobs::mail::Outbox;
use crate::keys::Secret;
use crate::quotas::Quotas;
use crate::shared_state::shared_state;
use crate::tasks::Tasks;

shared_state! {
    /// The base of all other states.
    Core(CoreParts)
}

pub struct CoreParts {
    pub config: Config,
    /// The public base URL, used in links. Has no trailing slash.
    pub url: String,
    pub db: Db,
    pub clock: Arc<dyn Clock>,
    pub hub: Hub,
    pub jobs: Jobs,
    /// Enqueues e-mails.
    pub outbox: Outbox,
    pub secret: Secret,
    pub quotas: Quotas,
    pub tasks: Tasks,
}

impl Core {
    #[must_use]
    pub fn now(&self) -> Time {
        self.clock.now()
    }
}
