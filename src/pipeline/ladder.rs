//! A ladder of sizes for tests: n, 2n, 4n. Whatever takes more than three times as long on a rung as on the one below it does work
//! that grows faster than its input, and fails.
//!
//! Measured is processor time of the thread, so that whoever else is on the machine tells in nothing. What is refused
//! cheaply, however large, passes: refusing is one of the mends.

use std::time::Duration;

/// The first rung takes at least this: less can't be told from chance.
const MEASURABLE: Duration = Duration::from_millis(20);
/// How often the first size may be doubled until it does. What is cheaper even then is cheap enough.
const DOUBLINGS: u32 = 10;
/// Of one rung; the best counts.
const TRIES: u32 = 2;
/// Ladders, before it is believed that one fails: on a busy machine caches are cold for several in a row.
const LADDERS: u32 = 8;
/// Twice would be in proportion; the rest is for caches, growing vectors and chance.
const MOST: u32 = 3;

/// Climbs the ladder. `make` gives the input of size `n`, `work` is what is measured. `first` is a size that an attacker would at least
/// use, some kilobytes of input.
///
/// # Panics
/// With the rungs, where the time grows faster than the size.
#[track_caller]
pub fn climb<I, T>(name: &str, first: usize, make: impl Fn(usize) -> I, mut work: impl FnMut(&I) -> T) {
    let mut n = first;
    let mut input = make(n);
    for _ in 0..DOUBLINGS {
        if taken(&input, &mut work) >= MEASURABLE {
            break;
        }
        n *= 2;
        input = make(n);
    }
    let inputs = [input, make(2 * n), make(4 * n)];
    let mut bests = [Duration::MAX; 3];
    for _ in 0..LADDERS {
        // Whatever else the machine does makes a rung dearer, never cheaper.
        for (known, input) in bests.iter_mut().zip(&inputs) {
            *known = best(input, &mut work).max(MEASURABLE).min(*known);
        }
        let [low, middle, high] = bests;
        if middle <= low * MOST && high <= middle * MOST {
            return;
        }
    }
    panic!("{name}: the time grows faster than the size: n = {n}, 2n and 4n took {bests:?}");
}

fn best<I, T>(input: &I, work: &mut impl FnMut(&I) -> T) -> Duration {
    let first = taken(input, work);
    // A rung that takes long is told well enough by one try.
    let more = if first > MEASURABLE * 10 { 0 } else { TRIES - 1 };
    (0..more).map(|_| taken(input, work)).fold(first, Duration::min)
}

fn taken<I, T>(input: &I, work: &mut impl FnMut(&I) -> T) -> Duration {
    let before = processor_time();
    let made = work(input);
    let after = processor_time();
    drop(made);
    after.saturating_sub(before)
}

/// Of this thread, since it began.
pub fn processor_time() -> Duration {
    // The kernel counts when a thread lets go of its processor, or else at its ticks, milliseconds apart.
    std::thread::sleep(Duration::from_micros(1));
    counted_time()
}

/// As [`processor_time`], to some milliseconds: it can be asked for often.
#[cfg(target_os = "linux")]
pub fn counted_time() -> Duration {
    let counted = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    Duration::from_nanos(counted.split_whitespace().next().unwrap().parse().unwrap())
}

/// Elsewhere there is none without unsafe code: the clock has to do.
#[cfg(not(target_os = "linux"))]
pub fn counted_time() -> Duration {
    static BEGUN: std::sync::LazyLock<std::time::Instant> = std::sync::LazyLock::new(std::time::Instant::now);
    BEGUN.elapsed()
}

#[test]
fn work_in_proportion_climbs() {
    climb("a sum", 100_000, |n| n, |n| (0..*n as u64).fold(0, |sum: u64, at| std::hint::black_box(sum ^ at)));
}

#[test]
#[should_panic(expected = "grows faster than the size")]
fn work_by_the_square_falls() {
    let pairs = |n: &usize| (0..*n as u64 * *n as u64).fold(0, |sum: u64, at| std::hint::black_box(sum ^ at));
    climb("all pairs", 500, |n| n, pairs);
}
