//! The page on which people join a meeting: how it is served, and how it is in a real browser.

mod browser;
mod files;
