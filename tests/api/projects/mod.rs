//! Projects, and the keys under which a request has its effect once.

mod delete;
mod edit;
mod keys;
mod list;
