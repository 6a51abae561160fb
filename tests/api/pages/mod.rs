//! The web pages: how they are served, and how they work in a real browser.

mod browser;
mod call;
mod console;
mod decisions;
mod exports;
mod files;
mod join;
mod meetings;
mod newcomer;
mod operator;
mod people;
mod recording;
mod results;
mod review;
mod sources;
