//! WHO: from a bearer token to a caller, from a caller to a permission.

pub mod admission;
pub mod caller;
pub mod guard;
pub mod keys;
pub mod one_time;
pub mod revoked;
pub mod role;
pub mod token;
