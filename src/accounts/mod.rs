//! Accounts and authentication: registration, proof of e-mail addresses, sessions, password resets and external log-in.
//!
//! ```text
//! register --code by e-mail--> confirmAccount --> account + session
//! login --> session --refreshToken--> session (rotated) --logOut, revokeSession--> ended
//! sendResetPasswordEmail --code by e-mail--> verifyOtp --> reset token --resetPassword--> all sessions ended
//! colloquy admin login-link --one-time code--> exchangeLoginLink --> session
//! googleLogin --> provider --> googleLoginCallback --one-time code--> exchangeLoginCode --> session
//! ```
//! This module holds accounts and their registration. `codes` holds the one-time codes sent by e-mail, `sessions` what
//! a log-in creates, `browser_sessions` the cookie by which a browser stays signed in, `resets` the reset of forgotten
//! passwords, `external` the log-in at an OpenID provider, `login_links` the links that sign in once, `profile` what the
//! owner of an account can change.
//!
//! A response never reveals whether an address has an account: known and unknown addresses get the same status, body
//! and headers, after the same work. Every transaction that creates a session locks the row of the account
//! (`store::lock_account`, `store::still_has`), so that a transaction that ends all sessions ends that one too.

pub mod bodies;
pub mod browser_sessions;
pub mod codes;
mod emails;
pub mod endings;
pub mod external;
mod limits;
pub mod login_links;
pub mod model;
pub mod operations;
pub mod operator;
pub mod pictures;
pub mod profile;
pub mod refresh_locks;
pub mod registration;
pub mod resets;
pub mod routes;
pub mod sessions;
pub mod state;
pub mod store;
