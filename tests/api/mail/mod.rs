//! E-mail over SMTP, to a real mail server that fails as the test asks for.

mod delays;
mod delivery;
mod security;
mod sink;
