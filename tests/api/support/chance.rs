//! A repeatable random number generator: its seed is printed, and read from COLLOQUY_TEST_SEED where that is set.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A SplitMix64 generator.
pub struct Chance(u64);

impl Chance {
    pub fn new() -> Self {
        let given = std::env::var("COLLOQUY_TEST_SEED").ok().and_then(|seed| seed.parse().ok());
        let from_clock = || u64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_micros()).unwrap();
        let seed = given.unwrap_or_else(from_clock);
        println!("COLLOQUY_TEST_SEED={seed}");
        Self(seed)
    }

    /// A generator with a seed that another one gave.
    pub const fn of(seed: u64) -> Self {
        Self(seed)
    }

    pub fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (bits ^ (bits >> 31)) % bound
    }

    pub fn millis(&mut self, from: u64, below: u64) -> Duration {
        Duration::from_millis(from + self.below(below - from))
    }
}
