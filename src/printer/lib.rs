//! x
mod fonts;
mod typeset;
