//! Auth: accounts, how an address is proved, and sessions.
//!
//! ```text
//! register --code by mail--> confirmAccount --> account + session
//! login --> session --refreshToken--> session (rotated) --logOut, revokeSession--> ended
//! sendResetPasswordEmail --code by mail--> verifyOtp --> reset token --resetPassword--> all sessions ended
//! googleLogin --> the provider --> googleLoginCallback --one-time code--> exchangeLoginCode --> session
//! ```
//! Here: accounts and their registration. `codes` are the one-time codes by mail, `sessions` what a log-in gives, `resets`
//! new passwords for old, `external` the log-in at an OpenID provider.
//!
//! An answer never tells whether an address has an account: known and unknown ones get the same status, body and
//! headers, after the same work. Whatever makes a session holds the account's row meanwhile (`store::hold`,
//! `store::still_has`), so that what ends all sessions ends that one too.

pub mod codes;
pub mod endings;
pub mod external;
mod letters;
mod limits;
pub mod model;
pub mod operations;
pub mod operator;
pub mod profile;
pub mod resets;
pub mod routes;
pub mod sessions;
pub mod state;
pub mod store;
