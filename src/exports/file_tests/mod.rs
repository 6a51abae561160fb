//! Rules that hold for every kind of file.

mod docx;
mod reqif;
pub(crate) mod samples;
mod workbooks;
mod written;

pub(crate) use crate::specification;
