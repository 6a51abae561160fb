//! WHO: from a bearer token to a caller, from a caller to a permission.

pub mod admission;
pub mod caller;
pub mod credentials;
pub mod guard;
pub mod one_time;
pub mod revoked;
pub mod role;
pub mod state;
pub mod tickets;
pub mod token;
