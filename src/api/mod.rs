//! The operation: a guard and an input in, a handler, an answer out; sent again, answered once; and described.

pub mod idempotency;
pub mod openapi;
pub mod operation;
