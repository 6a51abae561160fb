//! The page on which participants join a meeting: how it is served, and how it works in a real browser.

mod browser;
mod files;
