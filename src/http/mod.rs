//! IN: how a request is read, and how it is answered. Knows no feature.

pub mod agent;
pub mod answer;
pub mod code;
pub mod cors;
pub mod enumeration;
pub mod envelope;
mod example;
pub mod failure;
pub mod fields;
pub mod form;
pub mod front;
pub mod idempotency;
pub mod input;
mod json;
pub mod limits;
pub mod openapi;
pub mod operation;
pub mod page;
pub mod patch;
pub mod reason;
pub mod request_id;
pub mod version;
