//! Sessions of browsers: what renews the access token is a cookie that no script can read, so that a person stays signed in
//! over tabs and restarts.
//!
//! ```text
//! login, loginLink, … ── refreshToken ──► beginBrowserSession ── Set-Cookie ──► browser
//!      each tab, and each time its access token expires: cookie ──► refreshBrowserSession ──► access token
//! ```
//! The session is an ordinary one, see `sessions`: its refresh token is used up, and the cookie takes its place. Unlike refresh
//! tokens the cookie stays the same while the session lasts: any number of tabs may present it at once, and one that never
//! receives its answer loses nothing.

pub mod bodies;
mod cookie;
pub mod model;
pub mod operations;
pub mod routes;
