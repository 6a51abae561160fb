//! Avatars: what becomes of an uploaded picture, in a process of its own.

pub mod decoder;
pub mod picture;
