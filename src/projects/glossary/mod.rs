//! The glossary of a project: its terms, what they mean, and how speech recognition tends to misspell them.
//!
//! It is read and replaced as a whole, with a version of its own. A project without one has version 0 and no entries.
//! [`model::Glossary::prompt`] hints the terms to a recognizer; the pipeline corrects what it wrote, and looks at what is
//! analysed with the project's words.

pub mod bodies;
pub mod model;
pub mod operations;
pub mod routes;
pub mod store;
