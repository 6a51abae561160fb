//! Log-in at an OpenID provider, such as Google.
//!
//! ```text
//! application                         here                                       provider
//! googleLogin ?codeChallenge ───────► state, nonce, verifier: sealed in a cookie ──302──► log-in
//!                                     googleLoginCallback ?code&state ◄──302────── code
//!                                     code ──────────────────────────────────────► ID token, verified
//! /login/callback#code=… ◄──302────── account found, linked or made; a one-time code
//! exchangeLoginCode code, verifier ─► session
//! ```
//! No token is ever in a URL: the code in the fragment is good once, for 60 s, and only with the verifier that the
//! application kept. An account is found by (issuer, subject); one that exists already is linked by its address, and only
//! where the provider says that it verified the address.

pub mod model;
pub mod operations;
pub mod routes;
mod store;
mod under_way;

pub use store::{OVER, forget_codes};
