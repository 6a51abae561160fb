//! Rules that hold for every kind of file.

pub(crate) mod samples;

pub(crate) use crate::specification;
