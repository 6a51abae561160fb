//! Short and full forms of stories that repeat something: the gate runs the full ones, README's test command the short ones.

/// Whether stories run in their full form: `COLLOQUY_TEST_FULL=1`.
pub fn is_full() -> bool {
    std::env::var("COLLOQUY_TEST_FULL").is_ok_and(|full| full == "1")
}

/// Returns how often a story repeats what it repeats.
pub fn rounds<T>(short: T, full: T) -> T {
    if is_full() { full } else { short }
}
