//! The interface, proved from outside: the real program on both databases, spoken to over HTTP.
//!
//! One binary for all, since each links the whole service. A story is written once, in `on_both!`, and told twice.
//! `support` has the server, the client (which checks what holds for every answer, at each answer) and the builders.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests: what can't be is to end the story, loudly"
)]

#[macro_use]
mod support;

mod accounts;
mod admin;
mod analysis;
mod docs;
mod documents;
mod documents_in_turn;
mod hostile_documents;
mod house;
mod invitations;
mod join_page;
mod kill;
mod mail;
mod meetings;
mod openapi;
mod participants;
mod people;
mod permissions;
mod profile;
mod projects;
mod real_time;
mod rooms;
mod smoke;
mod sweeps;
