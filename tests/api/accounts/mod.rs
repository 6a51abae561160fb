//! Accounts: who may log in, how they prove an address, and how long a session is theirs.

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
