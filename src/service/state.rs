//! State of the service endpoints: health, metrics and documentation.

use std::ops::Deref;
use std::sync::Arc;

use actors::mailbox_metrics::MailboxMetrics;
use bytes::Bytes;
use metrics_exporter_prometheus::PrometheusHandle;

use super::readiness::Readiness;
use crate::core::Core;
use crate::http::mounted::Mounted;
use crate::http::state::Http;

/// The state of this area, and the states it depends on. Clones share the same state.
#[derive(Clone)]
pub struct Probes(Arc<ProbesParts>);

pub struct ProbesParts {
    pub core: Core,
    pub http: Http,
    pub readiness: Readiness,
    pub mailboxes: MailboxMetrics,
    pub metrics: PrometheusHandle,
    pub openapi: Bytes,
    pub asyncapi: Bytes,
}

impl Probes {
    #[must_use]
    pub fn new(parts: ProbesParts) -> Self {
        Self(Arc::new(parts))
    }
}

impl Deref for Probes {
    type Target = ProbesParts;
    fn deref(&self) -> &ProbesParts {
        &self.0
    }
}

impl Deref for ProbesParts {
    type Target = Core;
    fn deref(&self) -> &Core {
        &self.core
    }
}

impl Mounted for Probes {}
