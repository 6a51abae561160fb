//! Processor time of a process, from `/proc`.

use std::time::Duration;

/// Returns the processor time that the process has used so far, in user mode and in the kernel, in steps of 10 ms.
///
/// # Errors
/// Returns a message if the process has ended, or the system doesn't provide the figure.
pub fn time_used(process_id: Option<u32>) -> Result<Duration, String> {
    let process_id = process_id.ok_or("The server has ended.")?;
    let path = format!("/proc/{process_id}/stat");
    let stat = std::fs::read_to_string(&path).map_err(|error| format!("{path} can't be read: {error}"))?;
    let used = ticks(&stat).ok_or_else(|| format!("{path} does not contain the processor time."))?;
    Ok(Duration::from_secs_f64(used as f64 / rustix::param::clock_ticks_per_second().max(1) as f64))
}

/// The fields 14 and 15. The name of the program, in parentheses, may have any characters.
fn ticks(stat: &str) -> Option<u64> {
    let (_, rest) = stat.rsplit_once(')')?;
    let mut fields = rest.split_whitespace().skip(11);
    let mut next = || fields.next()?.parse::<u64>().ok();
    Some(next()? + next()?)
}

#[cfg(test)]
mod tests {
    use super::ticks;

    #[test]
    fn the_time_in_both_modes_is_read_whatever_the_program_is_called() {
        let stat = "42 (a) b 7) S 1 42 42 0 -1 4194304 100 0 0 0 250 50 3 4 20 0 9 0 100 1 2";
        assert_eq!(ticks(stat), Some(300));
        assert_eq!(ticks("42 (short"), None);
    }
}
