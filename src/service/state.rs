//! State of the service endpoints: health, metrics and documentation.

use actors::mailbox_metrics::MailboxMetrics;
use bytes::Bytes;
use metrics_exporter_prometheus::PrometheusHandle;

use super::readiness::Readiness;
use crate::core::Core;
use crate::http::mounted::Mounted;
use crate::http::state::Http;
use crate::shared_state::shared_state;

shared_state! {
    /// The state of this area, with the state of the areas it depends on.
    Probes(ProbesParts) and core: Core
}

pub struct ProbesParts {
    pub core: Core,
    pub http: Http,
    pub readiness: Readiness,
    pub mailboxes: MailboxMetrics,
    pub metrics: PrometheusHandle,
    pub openapi: Bytes,
    pub asyncapi: Bytes,
}

impl Mounted for Probes {}
