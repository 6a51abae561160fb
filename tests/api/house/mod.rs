//! The house: what holds for every request, how the server starts and how it ends.

mod attacks;
mod bounds;
mod envelope;
mod headers;
mod memory;
mod operator;
mod origins;
mod private;
mod secrets;
mod start;
mod stop;
