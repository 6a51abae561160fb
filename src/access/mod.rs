//! Authentication and authorization: from a bearer token to a principal, from a principal to a permission.

pub mod admission;
pub mod credentials;
pub mod one_time;
mod path_ids;
pub mod playback;
pub mod policy;
pub mod principal;
pub mod revoked;
pub mod role;
pub mod service_key;
pub mod state;
pub mod tickets;
pub mod token;
