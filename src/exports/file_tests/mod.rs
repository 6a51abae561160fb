//! Rules that hold for every kind of file.

mod reqif;
pub(crate) mod samples;
mod workbooks;
mod written;

pub(crate) use crate::specification;
