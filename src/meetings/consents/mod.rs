//! Consents: what people agreed to, the words they were shown, and the record that proves it.

pub mod model;
pub mod operations;
pub mod routes;
pub mod store;
pub mod wording;
