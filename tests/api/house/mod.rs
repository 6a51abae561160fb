//! The house: what holds for every request, how the server starts and how it ends.

mod abandoned;
mod counting;
mod envelope;
mod headers;
mod memory;
mod operator;
mod origins;
mod private;
mod secrets;
mod start;
mod stop;
