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
use crate::tasks::Tasks;

/// Declares a state around its parts, which its clones share. Those of an area say `and core`: what every area needs is at hand
/// as if it were a part of its own. What is another area's is named by that area.
macro_rules! shared_state {
    ($(#[$about:meta])* $name:ident($parts:ident)) => {
        $(#[$about])*
        #[derive(Clone)]
        pub struct $name(::std::sync::Arc<$parts>);

        impl $name {
            #[must_use]
            pub fn new(parts: $parts) -> Self {
                Self(::std::sync::Arc::new(parts))
            }
        }

        impl ::std::ops::Deref for $name {
            type Target = $parts;
            fn deref(&self) -> &$parts {
                &self.0
            }
        }

        impl $crate::http::mounted::Mounted for $name {}
    };
    ($(#[$about:meta])* $name:ident($parts:ident) and core) => {
        $crate::core::shared_state! { $(#[$about])* $name($parts) }

        impl ::std::ops::Deref for $parts {
            type Target = $crate::core::Core;
            fn deref(&self) -> &$crate::core::Core {
                &self.core
            }
        }
    };
}
pub(crate) use shared_state;

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
