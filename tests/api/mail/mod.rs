//! Mail over SMTP, to a real mail server that fails as it is told to.

mod delays;
mod letters;
mod security;
mod sink;
