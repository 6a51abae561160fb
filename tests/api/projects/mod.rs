//! Projects, and the idempotency keys under which a request has its effect once.

mod delete;
mod documents;
mod edit;
mod glossary;
mod idempotency;
mod list;
pub mod people;
