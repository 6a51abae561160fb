//! Keeps to how fast a tracker lets an account create issues. What was created before a restart is not known: then the tracker
//! itself says when it is too fast.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use actors::time::Time;

use crate::clients::trackers::TrackerProvider;

/// The accounts that are remembered at most; beyond that all are forgotten.
const MAX_ACCOUNTS: usize = 10_000;

/// An account at a site of a tracker.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct PacedAccount {
    pub provider: TrackerProvider,
    pub site_id: String,
    pub account: String,
}

/// When accounts created issues lately.
#[derive(Default)]
pub struct CreationPaces(Mutex<HashMap<PacedAccount, VecDeque<Time>>>);

impl CreationPaces {
    /// Counts one creation. If a limit (at most so many within a time) does not allow it now, counts nothing and returns how long
    /// to wait.
    pub fn take(&self, account: &PacedAccount, limits: &[(u32, Duration)], now: Time) -> Option<Duration> {
        let longest = limits.iter().map(|(_, within)| *within).max()?;
        let mut paces = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if paces.len() >= MAX_ACCOUNTS {
            paces.clear();
        }
        let times = paces.entry(account.clone()).or_default();
        while times.front().is_some_and(|at| now.since(*at) >= longest) {
            times.pop_front();
        }
        let waits = limits.iter().filter_map(|(most, within)| {
            // The one whose end frees a place: the `most`-th from the end.
            let place = times.len().checked_sub(usize::try_from(*most).unwrap_or(usize::MAX).max(1))?;
            let gone = now.since(*times.get(place)?);
            within.checked_sub(gone).filter(|left| !left.is_zero())
        });
        let wait = waits.max();
        if wait.is_none() {
            times.push_back(now);
        }
        wait
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use actors::time::Time;

    use super::{CreationPaces, PacedAccount};
    use crate::clients::trackers::TrackerProvider;

    #[test]
    fn no_more_issues_are_created_than_a_tracker_allows() {
        let paces = CreationPaces::default();
        let account = |name: &str| PacedAccount {
            provider: TrackerProvider::Github,
            site_id: "github.com".to_owned(),
            account: name.to_owned(),
        };
        let limits = [(20, Duration::from_secs(60)), (150, Duration::from_secs(3600))];
        let mut now = Time::from_millis(1_795_000_000_000).unwrap();
        let mut taken = Vec::new();
        while taken.len() < 400 {
            match paces.take(&account("a"), &limits, now) {
                None => taken.push(now),
                Some(wait) => now = now + wait,
            }
        }
        for (most, within) in limits {
            for (first, at) in taken.iter().enumerate() {
                if let Some(later) = taken.get(first + usize::try_from(most).unwrap()) {
                    assert!(later.since(*at) >= within, "more than {most} within {within:?}");
                }
            }
        }
        assert_eq!(paces.take(&account("b"), &limits, now), None, "others have their own");
        assert_eq!(paces.take(&account("a"), &[], now), None);
    }
}
