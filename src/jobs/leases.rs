//! Detects abandoned leases by what this process observes, not by the times in their rows: the machine's clock may be
//! set, and another machine's may be wrong.
//!
//! A lease that is renewed changes, and this process knows its own. Any other that stays unchanged for as long as a
//! lease lasts is abandoned: by a claim with an unknown outcome, or by an end that could not be stored.

use std::collections::HashMap;
use std::time::Instant;

use actors::ids::Id;

use super::store::Leased;
use super::{Job, LEASE};

#[derive(Default)]
pub struct Leases(HashMap<Id<Job>, (Leased, Instant)>);

impl Leases {
    /// Records the current leases except our own; returns those that are abandoned.
    pub fn abandoned(&mut self, leased: Vec<Leased>, is_own: impl Fn(Id<Job>) -> bool, now: Instant) -> Vec<Leased> {
        let foreign = leased.into_iter().filter(|leased| !is_own(leased.held.id));
        let seen = foreign.map(|leased| {
            let former = self.0.get(&leased.held.id).filter(|(former, _)| *former == leased);
            (leased.held.id, (leased, former.map_or(now, |(_, since)| *since)))
        });
        self.0 = seen.collect();
        let lapsed = self.0.values().filter(|(_, since)| now.saturating_duration_since(*since) >= LEASE);
        lapsed.map(|(leased, _)| *leased).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use actors::time::Time;

    use super::super::store::HeldJob;
    use super::*;

    fn leased(id: Id<Job>, claim: i64, until: i64) -> Leased {
        Leased { held: HeldJob { id, claim }, until: Time::from_millis(until).unwrap() }
    }

    #[test]
    fn a_lease_lapses_when_it_stood_still_for_as_long_as_it_lasts_whatever_time_it_names() {
        let (began, id) = (Instant::now(), Id::generate());
        let after = |seconds| began + Duration::from_secs(seconds);
        for until in [0, 1_764_000_000_000, 4_000_000_000_000] {
            let mut leases = Leases::default();
            let left = leased(id, 1, until);
            assert_eq!(leases.abandoned(vec![left], |_| false, after(0)), []);
            assert_eq!(leases.abandoned(vec![left], |_| false, after(29)), []);
            assert_eq!(leases.abandoned(vec![left], |_| false, after(30)), [left]);
        }
    }

    #[test]
    fn a_lease_that_is_ours_or_renewed_or_taken_anew_does_not_lapse() {
        let (began, id) = (Instant::now(), Id::generate());
        let after = |seconds| began + Duration::from_secs(seconds);
        let mut leases = Leases::default();
        for beat in 0..10 {
            // Set back an hour in between: any change counts.
            let until = if beat == 5 { -3_600_000 } else { i64::try_from(beat).unwrap() };
            assert_eq!(leases.abandoned(vec![leased(id, 1, until)], |_| false, after(beat * 10)), []);
        }
        assert_eq!(leases.abandoned(vec![leased(id, 2, 9)], |_| false, after(119)), []);
        assert_eq!(leases.abandoned(vec![leased(id, 2, 9)], |own| own == id, after(1_000)), []);
        // Observed as another's only from now on.
        assert_eq!(leases.abandoned(vec![leased(id, 2, 9)], |_| false, after(1_001)), []);
    }
}
