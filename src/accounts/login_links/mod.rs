//! Links that sign in once, for whoever administers the server's machine: to open the console without a password.
//!
//! ```text
//! colloquy admin login-link ── code, hashed ──► login_codes          10 minutes, one use
//!        └── /login/callback#link=code ──► console ── exchangeLoginLink ──► session
//! ```
//! The code is in the fragment of the URL, which browsers send to no server, so that it is in no log. It is stored beside
//! the codes of log-ins at a provider, without a challenge, and hashed for another purpose: neither passes for the other.

pub mod bodies;
pub mod operations;
pub mod routes;
