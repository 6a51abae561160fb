//! Projects, and the idempotency keys under which a request has its effect once.

mod delete;
mod edit;
mod glossary;
mod idempotency;
mod list;
