//! Accounts: who may log in, how an address is proved, and how long a session lasts.

mod codes;
mod enumeration;
mod external;
mod journey;
mod limits;
mod passwords;
mod reset;
mod session_list;
mod sessions;
pub mod tokens;
