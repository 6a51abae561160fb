//! Rules that hold for every kind of file.

mod docx;
mod import;
mod reqif;
pub(crate) mod samples;
mod workbooks;
mod written;

pub(crate) use crate::specification;
