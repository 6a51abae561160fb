//! Operations: a policy, an input, a handler and a response, with idempotency and the OpenAPI description.

pub mod idempotency;
pub mod openapi;
pub mod operation;
