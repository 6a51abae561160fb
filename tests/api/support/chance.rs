//! Chance that can be had again: its seed is printed, and taken from COLLOQUY_TEST_SEED.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// SplitMix64.
pub struct Chance(u64);

impl Chance {
    pub fn new() -> Self {
        let given = std::env::var("COLLOQUY_TEST_SEED").ok().and_then(|seed| seed.parse().ok());
        let drawn = || u64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_micros()).unwrap();
        let seed = given.unwrap_or_else(drawn);
        println!("COLLOQUY_TEST_SEED={seed}");
        Self(seed)
    }

    pub fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut drawn = self.0;
        drawn = (drawn ^ (drawn >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        drawn = (drawn ^ (drawn >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (drawn ^ (drawn >> 31)) % bound
    }

    pub fn millis(&mut self, from: u64, below: u64) -> Duration {
        Duration::from_millis(from + self.below(below - from))
    }
}
