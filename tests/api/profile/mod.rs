//! Profile: what an account says of itself, its face, its password, and its end.

mod avatar;
mod deletion;
mod details;
mod erasing;
mod password;
mod races;
mod traces;
