//! What every area may use: the settings, the database, the clock, events, work for later, tasks, secrets and mail.

use std::ops::Deref;
use std::sync::Arc;

use actors::hub::Hub;
use actors::time::{Clock, Time};

use crate::config::Config;
use crate::db::Db;
use crate::jobs::Jobs;
use crate::jobs::mail::Post;
use crate::keys::Secret;
use crate::tasks::Tasks;

/// The ground of all other states. Clones are the same one.
#[derive(Clone)]
pub struct Core(Arc<CoreParts>);

pub struct CoreParts {
    pub config: Config,
    /// Where people meet the product; links begin with it. Without a slash at its end.
    pub url: String,
    pub db: Db,
    pub clock: Arc<dyn Clock>,
    pub hub: Hub,
    pub jobs: Jobs,
    /// Takes letters.
    pub post: Post,
    pub secret: Secret,
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
