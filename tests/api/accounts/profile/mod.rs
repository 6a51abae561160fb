//! Profile: the details of an account, its avatar, its password, and its deletion.

mod avatar;
pub mod deletion;
mod details;
mod erase;
mod password;
mod personal_data;
mod races;
