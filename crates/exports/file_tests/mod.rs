//! Rules that hold for every kind of file.

mod docx;
mod import;
mod import_complexity;
mod reqif;
pub(crate) mod samples;
mod workbooks;
mod written;

pub(crate) use crate::specification;
