//! Accounts: who may log in, how an address is proved, and how long a session lasts.

mod browser_sessions;
mod codes;
mod enumeration;
mod external;
mod journey;
mod limits;
mod login_links;
mod passwords;
pub mod profile;
mod registration;
mod resets;
mod session_list;
mod sessions;
pub mod tokens;
