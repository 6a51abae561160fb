//! IN: how a request is read, and how it is answered. Knows no feature.

pub mod agent;
pub mod budget;
pub mod code;
pub mod cors;
pub mod enumeration;
pub mod envelope;
mod example;
pub mod failure;
pub mod fields;
pub mod form;
pub mod front;
mod head;
pub mod idempotency;
pub mod input;
mod json;
pub mod limits;
pub mod line;
pub mod openapi;
pub mod operation;
pub mod pace;
pub mod page;
pub mod patch;
pub mod places;
pub mod request_id;
mod transit;
pub mod version;
