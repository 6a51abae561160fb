//! State of the service endpoints: health, metrics and documentation.

use actors::mailbox_metrics::MailboxMetrics;
use bytes::Bytes;
use metrics_exporter_prometheus::PrometheusHandle;

use super::readiness::Readiness;
use crate::core::{Core, shared_state};
use crate::http::state::Http;

shared_state! {
    /// The state of this area, with the state of the areas it depends on.
    Probes(ProbesParts) and core
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
