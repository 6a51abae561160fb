//! A test helper for time complexity: it measures work at the sizes n, 2n and 4n and fails if one doubling of the size
//! takes more than three times as long.
//!
//! It measures the thread's CPU time, so that other load on the machine does not count. But for its caches: whoever shares them
//! leaves less of them, and a step from what they hold to what they don't looks like growth. Such a step comes once. So where
//! only the last doubling took too long, 8n decides: what grows faster than its size does so there too. Input that is rejected cheaply
//! passes at any size: rejecting it is one of the fixes.

#![expect(clippy::unwrap_used, clippy::panic, reason = "tests: what can't be is to end the test, loudly")]

use std::time::Duration;

/// The smallest time that the first size must take; shorter times can't be told from noise.
const MEASURABLE: Duration = Duration::from_millis(5);
/// How often the first size may be doubled to reach `MEASURABLE`. What is cheaper even then is cheap enough.
const MAX_DOUBLINGS: u32 = 10;
/// Measurements of each size; the fastest counts.
const TRIES: u32 = 2;
/// Rounds of measurements before a failure is reported: on a busy machine caches can be cold for several rounds in a
/// row.
const ROUNDS: u32 = 8;
/// The largest accepted ratio of times for a doubled size. Linear work has a ratio of two; the rest allows for caches,
/// growing vectors and noise.
const MAX_RATIO: u32 = 3;

/// Measures `work` on the inputs that `make` returns for the sizes n, 2n and 4n. `first` is the size to start with; it
/// should be one that an attacker would use at least, some kilobytes of input.
///
/// # Panics
/// Panics with the measured times if the time grows faster than the size.
#[track_caller]
pub fn assert_linear<I, T>(name: &str, first: usize, make: impl Fn(usize) -> I, mut work: impl FnMut(&I) -> T) {
    let mut n = first;
    let mut input = make(n);
    for _ in 0..MAX_DOUBLINGS {
        if cpu_time(&input, &mut work) >= MEASURABLE {
            break;
        }
        n *= 2;
        input = make(n);
    }
    let inputs = [input, make(2 * n), make(4 * n)];
    let mut bests = [Duration::MAX; 3];
    let is_within = |low: Duration, high: Duration| high <= low * MAX_RATIO;
    for _ in 0..ROUNDS {
        // Other load on the machine can only make a measurement slower, never faster.
        for (fastest, input) in bests.iter_mut().zip(&inputs) {
            *fastest = best(input, &mut work).max(MEASURABLE).min(*fastest);
        }
        let [low, middle, high] = bests;
        if is_within(low, middle) && is_within(middle, high) {
            return;
        }
    }
    let [low, middle, high] = bests;
    if is_within(low, middle) {
        let input = make(8 * n);
        let last = (0..ROUNDS).map(|_| best(&input, &mut work)).min().unwrap_or_default();
        if is_within(high, last) {
            return;
        }
    }
    panic!("{name}: the time grows faster than the size: n = {n}, 2n and 4n took {bests:?}");
}

fn best<I, T>(input: &I, work: &mut impl FnMut(&I) -> T) -> Duration {
    let first = cpu_time(input, work);
    // One measurement is enough for a size that takes long.
    let more = if first > MEASURABLE * 10 { 0 } else { TRIES - 1 };
    (0..more).map(|_| cpu_time(input, work)).fold(first, Duration::min)
}

fn cpu_time<I, T>(input: &I, work: &mut impl FnMut(&I) -> T) -> Duration {
    let before = processor_time();
    let output = work(input);
    let after = processor_time();
    drop(output);
    after.saturating_sub(before)
}

/// Returns the CPU time of this thread since it started.
pub fn processor_time() -> Duration {
    // The kernel updates the count when a thread leaves the CPU, or else at its ticks, which are milliseconds apart.
    std::thread::sleep(Duration::from_micros(1));
    counted_time()
}

/// Same as [`processor_time`], but exact only to some milliseconds and cheap enough to be called often.
#[cfg(target_os = "linux")]
pub fn counted_time() -> Duration {
    let counted = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    Duration::from_nanos(counted.split_whitespace().next().unwrap().parse().unwrap())
}

/// Other systems offer no CPU time without unsafe code, so this returns wall-clock time.
#[cfg(not(target_os = "linux"))]
pub fn counted_time() -> Duration {
    static STARTED: std::sync::LazyLock<std::time::Instant> = std::sync::LazyLock::new(std::time::Instant::now);
    STARTED.elapsed()
}

#[test]
fn linear_work_passes() {
    assert_linear("a sum", 100_000, |n| n, |n| (0..*n as u64).fold(0, |sum: u64, at| std::hint::black_box(sum ^ at)));
}

#[test]
#[should_panic(expected = "grows faster than the size")]
fn quadratic_work_fails() {
    let pairs = |n: &usize| (0..*n as u64 * *n as u64).fold(0, |sum: u64, at| std::hint::black_box(sum ^ at));
    assert_linear("all pairs", 500, |n| n, pairs);
}

/// Whether work that takes so many units of time at each size passes. At the first size it takes long enough to be measured.
#[cfg(test)]
fn passes(units: fn(usize) -> usize) -> bool {
    let work = move |n: &usize| (0..units(*n) * 1_500).fold(0_usize, |sum, at| std::hint::black_box(sum ^ at));
    std::panic::catch_unwind(|| assert_linear("units", 1_000, |n| n, work)).is_ok()
}

#[test]
fn one_step_is_no_growth_and_growth_that_begins_late_is() {
    assert!(passes(|n| if n > 2_000 { n * 17 / 10 } else { n }));
    assert!(!passes(|n| n + n * n / 1_250));
}
