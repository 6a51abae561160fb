//! The state that every module may use: settings, database, clock, event hub, jobs, e-mail, secrets, quotas and
//! background tasks.

use std::ops::Deref;
use std::sync::Arc;

use actors::hub::Hub;
use actors::time::{Clock, Time};

use crate::config::Config;
use crate::db::Db;
use crate::jobs::Jobs;
use crate::jobs::mail::Outbox;
use crate::keys::Secret;
use crate::quotas::Quotas;
use crate::tasks::Tasks;

/// The base of all other states. Clones share one state.
#[derive(Clone)]
pub struct Core(Arc<CoreParts>);

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
    pub fn new(parts: CoreParts) -> Self {
        Self(Arc::new(parts))
    }

    #[must_use]
    pub fn now(&self) -> Time {
        self.clock.now()
    }
}

impl Deref for Core {
    type Target = CoreParts;
    fn deref(&self) -> &CoreParts {
        &self.0
    }
}
