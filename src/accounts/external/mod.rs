//! Log-in at an OpenID provider, such as Google.
//!
//! ```text
//! application                         here                                       provider
//! googleLogin ?codeChallenge ───────► state, nonce, verifier: encrypted cookie ───302───► log-in
//!                                     googleLoginCallback ?code&state ◄──302────── code
//!                                     code ──────────────────────────────────────► ID token, verified
//! /login/callback#code=… ◄──302────── account found, linked or created; a one-time code
//! exchangeLoginCode code, verifier ─► session
//! ```
//! No token is ever part of a URL: the code in the fragment is valid once, for 60 s, and only with the verifier that
//! the application holds. An account is found by (issuer, subject); an existing account is linked by its address, but
//! only where the provider says that it verified the address.

pub mod bodies;
pub mod model;
pub mod operations;
mod pending_login;
pub mod routes;
pub mod store;

pub use store::{RETENTION, forget_codes};
